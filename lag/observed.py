"""Generations of live groups, as polling saw them: what happened between two polls is not seen.

Of a group that does not change nothing is kept but what the newest snapshot holds anyway; of one that does, its last
states, as arrays, within a budget for the whole cluster.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from assignors.events import Loads
from assignors.generations import Generation
from assignors.holdings import packed
from assignors.layout import PartitionList
from assignors.model import Assignment, Group
from assignors.moves import moves
from assignors.quality import measure
from lag.changes import happened
from lag.live import UNSETTLED, generation_of, group_of, unsettled
from lag.model import ClusterSnapshot, GroupSnapshot, Member, Topic

HOW_OBSERVED = "Observed by polling; what happened between two polls is not seen."
"""What stands beside these generations on a page."""

MOST_CHANGES = 1_000
"""So many changed groups are taken up in one poll; others wait for the next one, so that no poll takes long."""

FIRST_SEEN = "first seen"
"""The event of a group's oldest kept state."""

MOST_GENERATIONS = 50
"""So many states of a group are kept."""

MOST_CELLS = 4_000_000
"""So many partitions of kept states in a cluster, a member counting for MEMBER_CELLS: about 30 MB (8 bytes each)."""

MEMBER_CELLS = 75


@dataclass(slots=True)
class _Seen:
    """A settled group as it was last read; `since_ms`: the first poll that found it so."""

    members: tuple[Member, ...]
    epoch: int | None
    assignor: str | None
    number: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class _State:
    """A kept state: the group, whose members own what they had, as arrays."""

    number: int
    at_ms: int
    event: str
    group: Group
    cells: int


class Observer:
    """Watches the snapshots of one cluster. One thread shows them to it, any thread may ask."""

    def __init__(
        self,
        most_generations: int = MOST_GENERATIONS,
        most_cells: int = MOST_CELLS,
        most_changes: int = MOST_CHANGES,
    ) -> None:
        self._most_generations, self._most_cells = most_generations, most_cells
        self._most_changes = self._room = most_changes
        self._lock = threading.Lock()
        self._seen: dict[str, _Seen] = {}
        self._states: dict[str, list[_State]] = {}  # the group that changed last stands last
        self._cells = 0

    def see(self, snapshot: ClusterSnapshot) -> None:
        """Keep what has changed since the snapshot before. Groups that are gone are forgotten.

        A group in mid-rebalance, or read in part only, counts as it was before, until it has settled; so do some when
        very many have changed at once.
        """
        with self._lock:
            before, self._seen = self._seen, {}
            self._room = self._most_changes
            for group in snapshot.groups:
                seen = before.get(group.group_id)
                now = self._look(group, seen) if _is_settled(group) else seen
                if now is not None:
                    self._seen[group.group_id] = now
            for group_id in self._states.keys() - self._seen.keys():
                self._drop(group_id, len(self._states[group_id]))

    def observed(self, group_id: str) -> list[Generation]:
        """The group's generations, oldest first; none as long as it has not changed since it was first seen.

        `number` is the generation or epoch where it is known, else counted; `at_ms` the epoch time of the first poll
        that saw it. The first one is the group as it was before the oldest change that is kept. Topics reach as far as
        their partitions were assigned. Loads of the time are not kept.
        """
        with self._lock:
            states = list(self._states.get(group_id, ()))
        first = [_generation(states[0], states[0])] if states else []
        return first + [_generation(*pair) for pair in pairwise(states)]

    def _look(self, group: GroupSnapshot, seen: _Seen | None) -> _Seen:
        if seen is not None and group.epoch == seen.epoch and _are_same(seen.members, group.members):
            seen.members = group.members  # equal, but what it replaces can go
            return seen
        if seen is not None and not self._room:
            return seen
        known = generation_of(group)
        if seen is None:
            number = known if known is not None else int(bool(group.members))
            return _Seen(group.members, group.epoch, group.assignor, number, group.at_ms)
        number = max(seen.number, seen.number + 1 if known is None else known)
        now = _Seen(group.members, group.epoch, group.assignor, number, group.at_ms)
        self._keep(group, seen, now)
        return now

    def _keep(self, group: GroupSnapshot, seen: _Seen, now: _Seen) -> None:
        self._room -= 1
        group_id = group.group_id
        states = self._states.pop(group_id, None) or []
        self._states[group_id] = states
        if not states:
            self._add(states, seen, FIRST_SEEN, _packed(group, seen))
        new = _packed(group, now)
        self._add(states, now, "; ".join(happened(states[-1].group, new)) or "rebalanced", new)
        if len(states) > self._most_generations:
            self._drop(group_id, 1)
        while self._cells > self._most_cells and self._states:
            self._drop(next(iter(self._states)), 1)

    def _add(self, states: list[_State], seen: _Seen, event: str, group: Group) -> None:
        cells = sum(len(member.owned) + MEMBER_CELLS for member in group.members)
        states.append(_State(seen.number, seen.since_ms, event, group, cells))
        self._cells += cells

    def _drop(self, group_id: str, count: int) -> None:
        """Forget the oldest states of the group; one alone tells of no change."""
        states = self._states[group_id]
        if len(states) - count < 2:
            count = len(states)
            del self._states[group_id]
        self._cells -= sum(state.cells for state in states[:count])
        del states[:count]


def _is_settled(group: GroupSnapshot) -> bool:
    return group.complete and group.state not in UNSETTLED and not unsettled(group)


def _are_same(old: Sequence[Member], new: Sequence[Member]) -> bool:
    """Whether no rebalance lies between: the same members, with the same partitions, as of the same generation."""
    if len(old) != len(new):
        return False
    for a, b in zip(old, new, strict=True):
        if a.member_id != b.member_id:  # the coordinator's map may list equal members in another order
            return _by_id(old) == _by_id(new)
        if a.assigned != b.assigned or a.generation != b.generation:
            return False
    return True


def _by_id(members: Sequence[Member]) -> dict[str, tuple[object, ...]]:
    return {member.member_id: (member.assigned, member.generation) for member in members}


def _packed(group: GroupSnapshot, seen: _Seen) -> Group:
    """The group as it was seen; what members own are pieces of one array, topics reach as far as they are assigned."""
    every = packed([tp for member in seen.members for tp in member.assigned])
    counts = zip(every.layout.names, every.layout.counts.tolist(), strict=True)
    then = replace(group, members=seen.members, epoch=seen.epoch, assignor=seen.assignor, partitions=())
    made = group_of(then, {name: Topic(name, None, count) for name, count in counts})
    ends = [0, *accumulate(len(member.assigned) for member in seen.members)]
    owned = (PartitionList(every.layout, every.codes[a:b]) for a, b in pairwise(ends))
    members = tuple(replace(member, owned=mine) for member, mine in zip(made.members, owned, strict=True))
    return replace(made, members=members, assignor=made.assignor or seen.assignor)


def _generation(old: _State, new: _State) -> Generation:
    """The step from one state to the next; from a state to itself: where it begins."""
    group = new.group
    before, after = _assignment(old), _assignment(new)
    changed = moves(before, after)
    rebalances = int(new.number > old.number)
    pauses = None if rebalances else 0
    quality = measure(before, after, group, Loads(), changes=changed, rebalances=rebalances, pauses=pauses)
    made = (new.number, new.at_ms, new.event, group.members, before, after, changed, quality)
    return Generation(*made, group.assignor or "", group.topics)


def _assignment(state: _State) -> Assignment:
    return Assignment(state.number, {member.member_id: member.owned for member in state.group.members})
