"""What the brokers answered, before anything is computed from it: plain numbers in growing arrays."""

from array import array
from dataclasses import dataclass, field

from lag.model import GroupType, Member, Problem
from lag.offsets import PartitionProblem, problem_code


@dataclass(slots=True)
class RawGroup:
    """A group as listed and described; filled in as the answers arrive."""

    group_id: str
    type: GroupType
    state: str
    coordinator: int
    protocol_type: str = ""
    assignor: str | None = None
    epoch: int | None = None
    assignment_epoch: int | None = None
    members: tuple[Member, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    offsets_problem: PartitionProblem | None = None


@dataclass(slots=True)
class Commits:
    """Committed offsets, one row per (group, partition), group by group as the answers come.

    Group number i of `groups` has the rows from `first[i]` on. `lag` is -1 unless the broker says it (share groups).
    `topics` numbers the names of all topics of the cluster and of every commit.
    """

    topics: dict[str, int]
    groups: list[RawGroup] = field(default_factory=list)
    first: "array[int]" = field(default_factory=lambda: array("q"))
    group: "array[int]" = field(default_factory=lambda: array("i"))
    topic: "array[int]" = field(default_factory=lambda: array("i"))
    partition: "array[int]" = field(default_factory=lambda: array("i"))
    offset: "array[int]" = field(default_factory=lambda: array("q"))
    lag: "array[int]" = field(default_factory=lambda: array("q"))
    problem: "array[int]" = field(default_factory=lambda: array("B"))

    def add_group(self, group: RawGroup) -> int:
        """Number of a new group; its rows are added next, without a pause."""
        self.groups.append(group)
        self.first.append(len(self.group))
        return len(self.groups) - 1

    def topic_number(self, topic: str) -> int:
        """Number of a topic name, new or known."""
        return self.topics.setdefault(topic, len(self.topics))

    def add(
        self,
        group: int,
        topic: int,
        partition: int,
        offset: int,
        lag: int = -1,
        problem: PartitionProblem | None = None,
    ) -> None:
        """One committed offset (-1: none)."""
        self.group.append(group)
        self.topic.append(topic)
        self.partition.append(partition)
        self.offset.append(offset)
        self.lag.append(lag)
        self.problem.append(problem_code(problem) if problem else 0)


@dataclass(slots=True)
class Ends:
    """End offsets, one row per answer; `kind` indexes KINDS."""

    topic: "array[int]" = field(default_factory=lambda: array("i"))
    partition: "array[int]" = field(default_factory=lambda: array("i"))
    kind: "array[int]" = field(default_factory=lambda: array("b"))
    offset: "array[int]" = field(default_factory=lambda: array("q"))
    problem: "array[int]" = field(default_factory=lambda: array("B"))
    leader_epoch: "array[int]" = field(default_factory=lambda: array("i"))

    def add(self, topic: int, partition: int, kind: int, offset: int, problem: int = 0, leader_epoch: int = -1) -> None:
        """One answer: an offset and, where the broker tells it, its leader epoch; or -1 and a problem's code."""
        self.topic.append(topic)
        self.partition.append(partition)
        self.kind.append(kind)
        self.offset.append(offset)
        self.problem.append(problem)
        self.leader_epoch.append(leader_epoch)
