"""States of live groups that are kept, within a budget for a whole cluster, and the generations between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

from assignors.assignment_arrays import packed
from assignors.layout import Layout, PartitionList
from assignors.model import Assignment, Group, TopicPartition
from assignors.whatif.events import Loads
from assignors.whatif.generations import Generation
from assignors.whatif.moves import moves
from assignors.whatif.quality import measure

MOST_GENERATIONS = 50
"""So many states of a group are kept."""

MOST_CELLS = 4_000_000
"""So many partitions of kept states in a cluster, a member counting for MEMBER_CELLS: about 30 MB (8 bytes each)."""

MEMBER_CELLS = 75


@dataclass(frozen=True, slots=True)
class State:
    """A group at one moment; its members own what they had, as arrays.

    `number` is a generation or an epoch, `at_ms` epoch time, `event` what had happened.
    """

    number: int
    at_ms: int
    event: str
    group: Group

    @property
    def cells(self) -> int:
        """What it costs of the budget."""
        return sum(len(member.owned) + MEMBER_CELLS for member in self.group.members)


S = TypeVar("S", bound=State)


class Shelf(Generic[S]):
    """The last states of many groups. One thread at a time."""

    def __init__(self, most_generations: int = MOST_GENERATIONS, most_cells: int = MOST_CELLS) -> None:
        self._most_generations, self._most_cells = most_generations, most_cells
        self._states: dict[str, list[S]] = {}  # the group that changed last stands last
        self._cells = 0

    def of(self, group_id: str) -> list[S]:
        """The states kept of a group, oldest first: none or at least two."""
        return list(self._states.get(group_id, ()))

    def groups(self) -> list[str]:
        """The groups of which states are kept."""
        return list(self._states)

    def add(self, group_id: str, before: S, new: S) -> None:
        """Keep a new state; `before` is the one before it, kept as well where there is none yet."""
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
        """Keep nothing of these groups."""
        for group_id in group_ids:
            self._drop(group_id, len(self._states.get(group_id, ())))

    def _drop(self, group_id: str, count: int) -> None:
        """Forget the oldest states of the group; one alone tells of no change."""
        states = self._states.get(group_id, [])
        if len(states) - count < 2:
            count = len(states)
            self._states.pop(group_id, None)
        self._cells -= sum(state.cells for state in states[:count])
        del states[:count]


def held(owned: Sequence[Sequence[TopicPartition]]) -> tuple[list[PartitionList], Layout]:
    """What each member owns, as pieces of one array; the layout reaches to the highest number of each topic.

    Raises AssignorError on a partition that cannot be.
    """
    every = packed([tp for mine in owned for tp in mine])
    ends = [0, *accumulate(map(len, owned))]
    return [PartitionList(every.layout, every.codes[a:b]) for a, b in pairwise(ends)], every.layout


def generations(states: Sequence[State]) -> list[Generation]:
    """The steps from state to state. The first is where it begins: it changes nothing."""
    first = [_generation(states[0], states[0])] if states else []
    return first + [_generation(*pair) for pair in pairwise(states)]


def _generation(old: State, new: State) -> Generation:
    group = new.group
    before, after = _assignment(old), _assignment(new)
    changed = moves(before, after)
    rebalances = int(new.number > old.number)
    pauses = None if rebalances else 0
    quality = measure(before, after, group, Loads(), changes=changed, rebalances=rebalances, pauses=pauses)
    made = (new.number, new.at_ms, new.event, group.members, before, after, changed, quality)
    return Generation(*made, group.assignor or "", group.topics)


def _assignment(state: State) -> Assignment:
    return Assignment(state.number, {member.member_id: member.owned for member in state.group.members})
