"""Generations of live groups, as polling saw them: what happened between two polls is not seen.

Of a group that does not change nothing is kept but what the newest snapshot holds anyway; of one that does, its last
states, as arrays, within a budget for the whole cluster.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assignors.model import Group
from assignors.whatif.generations import Generation
from lag.generations.changes import happened
from lag.generations.kept_states import MOST_CELLS, MOST_GENERATIONS, Shelf, State, generations, held
from lag.generations.live_group import UNSETTLED, generation_of, group_of, unsettled
from lag.model import ClusterSnapshot, GroupSnapshot, Member, Topic

MOST_CHANGES = 1_000
"""So many changed groups are taken up in one poll; others wait for the next one, so that no poll takes long."""

FIRST_SEEN = "first seen"
"""The event of a group's oldest kept state."""


@dataclass(slots=True)
class _Seen:
    """A settled group as it was last read; `since_ms`: the first poll that found it so."""

    members: tuple[Member, ...]
    epoch: int | None
    assignor: str | None
    number: int
    since_ms: int


class Observer:
    """Watches the snapshots of one cluster. One thread shows them to it, any thread may ask."""

    def __init__(
        self,
        most_generations: int = MOST_GENERATIONS,
        most_cells: int = MOST_CELLS,
        most_changes: int = MOST_CHANGES,
    ) -> None:
        self._most_changes = self._room = most_changes
        self._lock = threading.Lock()
        self._seen: dict[str, _Seen] = {}
        self._shelf: Shelf[State] = Shelf(most_generations, most_cells)

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
            self._shelf.forget(group_id for group_id in self._shelf.groups() if group_id not in self._seen)

    def observed(self, group_id: str) -> list[Generation]:
        """The group's generations, oldest first; none as long as it has not changed since it was first seen.

        `number` is the generation or epoch where it is known, else counted; `at_ms` the epoch time of the first poll
        that saw it. The first one is the group as it was before the oldest change that is kept. Topics reach as far as
        their partitions were assigned. Loads of the time are not kept.
        """
        with self._lock:
            states = self._shelf.of(group_id)
        return generations(states)

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
        kept = self._shelf.of(group.group_id)
        old = kept[-1] if kept else State(seen.number, seen.since_ms, FIRST_SEEN, _packed(group, seen))
        new = _packed(group, now)
        event = "; ".join(happened(old.group, new)) or "rebalanced"
        self._shelf.add(group.group_id, old, State(now.number, now.since_ms, event, new))


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
    owned, layout = held([member.assigned for member in seen.members])
    counts = zip(layout.names, layout.counts.tolist(), strict=True)
    then = replace(group, members=seen.members, epoch=seen.epoch, assignor=seen.assignor, partitions=())
    made = group_of(then, {name: Topic(name, None, count) for name, count in counts})
    members = tuple(replace(member, owned=mine) for member, mine in zip(made.members, owned, strict=True))
    return replace(made, members=members, assignor=made.assignor or seen.assignor)
