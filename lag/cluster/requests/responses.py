"""The answers of the brokers as growing arrays."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from lag.model import GroupType, Member, Problem
from lag.offsets import PartitionProblem, committed_offsets


@dataclass(slots=True)
class GroupDescription:
    """A group as listed and described; completed as the answers arrive."""

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
class CommittedOffsets:
    """Committed offsets, one row per (group, partition), group by group as the answers come.

    Group number i of `groups` has the rows from `first[i]` on. `offset` is -1 if there is none, `lag` is -1 except for
    share groups (KIP-1226). `topics` numbers the names of all topics of the cluster and of every commit.
    """

    topics: dict[str, int]
    groups: list[GroupDescription] = field(default_factory=list)
    first: "array[int]" = field(default_factory=lambda: array("q"))
    group: "array[int]" = field(default_factory=lambda: array("i"))
    topic: "array[int]" = field(default_factory=lambda: array("i"))
    partition: "array[int]" = field(default_factory=lambda: array("i"))
    offset: "array[int]" = field(default_factory=lambda: array("q"))
    lag: "array[int]" = field(default_factory=lambda: array("q"))
    problem: "array[int]" = field(default_factory=lambda: array("B"))

    def add_group(self, group: GroupDescription) -> int:
        """The number of a new group; its rows must follow before the next group."""
        self.groups.append(group)
        self.first.append(len(self.group))
        return len(self.groups) - 1

    def of_groups(self, kept: Sequence[GroupDescription]) -> "CommittedOffsets":
        """The offsets of these groups alone, with the same topic numbers."""
        wanted = {id(group) for group in kept}
        found = CommittedOffsets(self.topics)
        bounds = [*self.first, len(self.group)]
        for number, group in enumerate(self.groups):
            if id(group) in wanted:
                rows = slice(*bounds[number : number + 2])
                found.group.extend([found.add_group(group)] * (rows.stop - rows.start))
                for name in ("topic", "partition", "offset", "lag", "problem"):
                    getattr(found, name).extend(getattr(self, name)[rows])
        return found

    def topic_number(self, topic: str) -> int:
        """The number of a topic name."""
        return self.topics.setdefault(topic, len(self.topics))

    def add(
        self,
        group: int,
        topic: int,
        partitions: Sequence[int],
        offsets: Sequence[int],
        lags: Sequence[int] | None = None,
        problems: Sequence[int] | None = None,
    ) -> None:
        """Add a group's offsets in one topic, as answered; negative = none. By default `lags` are -1, `problems` 0."""
        rows = len(partitions)
        self.group.extend([group] * rows)
        self.topic.extend([topic] * rows)
        self.partition.extend(partitions)
        self.offset.extend(committed_offsets(offsets).tolist())
        self.lag.extend([-1] * rows if lags is None else lags)
        self.problem.extend([0] * rows if problems is None else problems)


@dataclass(slots=True)
class LogOffsets:
    """Answers to ListOffsets, one row per answer; `kind` is one of `log_offsets.KINDS`."""

    topic: "array[int]" = field(default_factory=lambda: array("i"))
    partition: "array[int]" = field(default_factory=lambda: array("i"))
    kind: "array[int]" = field(default_factory=lambda: array("b"))
    offset: "array[int]" = field(default_factory=lambda: array("q"))
    problem: "array[int]" = field(default_factory=lambda: array("B"))
    leader_epoch: "array[int]" = field(default_factory=lambda: array("i"))

    def add(self, topic: int, partition: int, kind: int, offset: int, problem: int = 0, leader_epoch: int = -1) -> None:
        """Add one answer: an offset with its leader epoch (-1 = unknown), or offset -1 and the code of a problem."""
        self.topic.append(topic)
        self.partition.append(partition)
        self.kind.append(kind)
        self.offset.append(offset)
        self.problem.append(problem)
        self.leader_epoch.append(leader_epoch)

    def by_partition(self, kind: int) -> dict[int, int]:
        """Partition -> its offset of that kind where there is no problem; for answers about one topic."""
        rows = zip(self.partition, self.kind, self.offset, self.problem, strict=True)
        return {partition: offset for partition, asked, offset, problem in rows if asked == kind and not problem}
