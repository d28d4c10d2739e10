"""The last assignments of live groups, within a memory budget for a cluster, and the generations between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Generic, TypeVar

from assignors.assignment_arrays import packed
from assignors.layout import Layout, PartitionList
from assignors.model import Assignment, Group, Topic, TopicPartition
from assignors.whatif.events import Loads
from assignors.whatif.generations import Generation
from assignors.whatif.moves import moves
from assignors.whatif.quality import measure

MAX_GENERATIONS = 50
"""The most generations of one group."""

MAX_CELLS = 4_000_000
"""Partitions in all states of a cluster; a member counts as MEMBER_CELLS. About 30 MB (8 bytes each)."""

MEMBER_CELLS = 75


@dataclass(frozen=True, slots=True)
class AssignmentState:
    """A group at one moment; its members own what they had, as arrays.

    `number` is a generation or an epoch, `at_ms` epoch time, `event` what caused it.
    """

    number: int
    at_ms: int
    event: str
    group: Group

    @property
    def cells(self) -> int:
        """Its part of the budget."""
        return sum(len(member.owned) + MEMBER_CELLS for member in self.group.members)


S = TypeVar("S", bound=AssignmentState)


class StateBuffer(Generic[S]):
    """The last states of all groups of a cluster. Not thread-safe."""

    def __init__(self, most_generations: int = MAX_GENERATIONS, most_cells: int = MAX_CELLS) -> None:
        self._most_generations, self._most_cells = most_generations, most_cells
        self._states: dict[str, list[S]] = {}  # the group that changed last is last
        self._cells = 0

    def of(self, group_id: str) -> list[S]:
        """The states of a group, oldest first: none, or at least two."""
        return list(self._states.get(group_id, ()))

    def all(self) -> dict[str, list[S]]:
        """The states of every group that has any."""
        return {group_id: list(states) for group_id, states in self._states.items()}

    def groups(self) -> list[str]:
        """The groups that have states."""
        return list(self._states)

    def add(self, group_id: str, before: S, new: S) -> None:
        """Add a state; `before` is its predecessor, added first if the group has no states yet."""
        states = self._states.pop(group_id, None) or []
        self._states[group_id] = states
        for state in (new,) if states else (before, new):
            states.append(state)
            self._cells += state.cells
        if len(states) > self._most_generations:
            self._drop(group_id, 1)
        while self._cells > self._most_cells and self._states:
            self._drop(next(iter(self._states)), 1)

    def forget(self, group_ids: Iterable[str]) -> None:
        """Remove these groups."""
        for group_id in group_ids:
            self._drop(group_id, len(self._states.get(group_id, ())))

    def _drop(self, group_id: str, count: int) -> None:
        """Remove the oldest states of the group, and the last one too: a single state has no generation."""
        states = self._states.get(group_id, [])
        if len(states) - count < 2:
            count = len(states)
            self._states.pop(group_id, None)
        self._cells -= sum(state.cells for state in states[:count])
        del states[:count]


def pack_owned(owned: Sequence[Sequence[TopicPartition]]) -> tuple[list[PartitionList], Layout]:
    """The owned partitions of each member as slices of one int32 array, and its layout.

    Each topic has as many partitions as its highest number needs. Raises AssignorError for an invalid partition.
    """
    every = packed([tp for partitions in owned for tp in partitions])
    ends = [0, *accumulate(map(len, owned))]
    return [PartitionList(every.layout, every.codes[a:b]) for a, b in pairwise(ends)], every.layout


def generations(states: Sequence[AssignmentState]) -> list[Generation]:
    """One generation for each state. The first one has no moves."""
    first = [generation_between(states[0], states[0])] if states else []
    return first + [generation_between(*pair) for pair in pairwise(states)]


def generation_between(old: AssignmentState, new: AssignmentState) -> Generation:
    """The generation of `new`, with the moves since `old`."""
    group = new.group
    before, after = _assignment(old), _assignment(new)
    changed = moves(before, after)
    rebalances = int(new.number > old.number)
    pauses = None if rebalances else 0
    known = replace(group, topics=_topics(old.group, group))
    quality = measure(before, after, known, Loads(), changes=changed, rebalances=rebalances, pauses=pauses)
    made = (new.number, new.at_ms, new.event, group.members, before, after, changed, quality)
    return Generation(*made, group.assignor or "", group.topics)


def _topics(*groups: Group) -> dict[str, Topic]:
    """The topics of the groups, each at its largest: a state may lack topics and partitions that nobody owns."""
    sizes: dict[str, int] = {}
    for topic in chain.from_iterable(group.topics.values() for group in groups):
        sizes[topic.name] = max(sizes.get(topic.name, 0), topic.partitions)
    return {name: Topic(name, size) for name, size in sizes.items()}


def _assignment(state: AssignmentState) -> Assignment:
    return Assignment(state.number, {member.member_id: member.owned for member in state.group.members})
