"""Generations of live groups, as polling saw them: what happens between two polls is not seen.

For a group that does not change, nothing is kept beyond the newest snapshot; for one that does, its last states are
kept as arrays, within a budget for the whole cluster.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assignors.model import Group
from assignors.whatif.generations import Generation
from lag.generations.changes import causes_of
from lag.generations.live_group import UNSETTLED_STATES, generation_of, group_of, unreconciled
from lag.generations.state_buffer import (
    MAX_CELLS,
    MAX_GENERATIONS,
    AssignmentState,
    StateBuffer,
    generations,
    pack_owned,
)
from lag.model import ClusterSnapshot, GroupSnapshot, Member, Topic

MAX_CHANGES = 1_000
"""Changed groups for each poll; others wait for the next poll, so that no poll takes long."""

FIRST_SEEN = "first seen"
"""The event of a group's oldest state."""


@dataclass(slots=True)
class _Seen:
    """A stable group at its last poll; `since_ms` is the first poll with the same assignment."""

    members: tuple[Member, ...]
    epoch: int | None
    assignor: str | None
    number: int
    since_ms: int


class PollObserver:
    """Compares the snapshots of one cluster. `observe` is for one thread, `generations` for any.

    `since_ms`: the time of the first snapshot; None before it.
    """

    def __init__(
        self,
        most_generations: int = MAX_GENERATIONS,
        most_cells: int = MAX_CELLS,
        most_changes: int = MAX_CHANGES,
    ) -> None:
        self._most_changes = self._room = most_changes
        self.since_ms: int | None = None
        self._lock = threading.Lock()
        self._seen: dict[str, _Seen] = {}
        self._buffer: StateBuffer[AssignmentState] = StateBuffer(most_generations, most_cells)

    def observe(self, snapshot: ClusterSnapshot) -> None:
        """Record the changes since the previous snapshot. Deleted groups are removed.

        A group that is rebalancing or incompletely read counts as unchanged until it is stable, and so do groups beyond
        `MAX_CHANGES`.
        """
        with self._lock:
            if self.since_ms is None:
                self.since_ms = snapshot.at_ms
            before, self._seen = self._seen, {}
            self._room = self._most_changes
            for group in snapshot.groups:
                seen = before.get(group.group_id)
                now = self._look(group, seen) if _is_settled(group) else seen
                if now is not None:
                    self._seen[group.group_id] = now
            self._buffer.forget(group_id for group_id in self._buffer.groups() if group_id not in self._seen)

    def generations(self, group_id: str) -> list[Generation]:
        """The group's generations, oldest first; none if it has not changed since it was first seen.

        `number` is the generation or epoch if known, else counted; `at_ms` is the first poll that saw it. The first one
        is the group before the oldest change. A topic has as many partitions as were assigned. Loads are missing.
        """
        with self._lock:
            states = self._buffer.of(group_id)
        return generations(states)

    def all_states(self) -> dict[str, list[AssignmentState]]:
        """The states of every group that has changed since it was first seen."""
        with self._lock:
            return self._buffer.all()

    def _look(self, group: GroupSnapshot, seen: _Seen | None) -> _Seen:
        if seen is not None and group.epoch == seen.epoch and _are_same(seen.members, group.members):
            seen.members = group.members  # equal; frees the older snapshot
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
        kept = self._buffer.of(group.group_id)
        old = kept[-1] if kept else AssignmentState(seen.number, seen.since_ms, FIRST_SEEN, _packed(group, seen))
        new = _packed(group, now)
        event = "; ".join(causes_of(old.group, new)) or "rebalanced"
        self._buffer.add(group.group_id, old, AssignmentState(now.number, now.since_ms, event, new))


def _is_settled(group: GroupSnapshot) -> bool:
    return group.complete and group.state not in UNSETTLED_STATES and not unreconciled(group)


def _are_same(old: Sequence[Member], new: Sequence[Member]) -> bool:
    """Whether there was no rebalance: the same members, partitions and generation."""
    if len(old) != len(new):
        return False
    for a, b in zip(old, new, strict=True):
        if a.member_id != b.member_id:  # the coordinator may list equal members in another order
            return _by_id(old) == _by_id(new)
        if a.assigned != b.assigned or a.generation != b.generation:
            return False
    return True


def _by_id(members: Sequence[Member]) -> dict[str, tuple[object, ...]]:
    return {member.member_id: (member.assigned, member.generation) for member in members}


def _packed(group: GroupSnapshot, seen: _Seen) -> Group:
    """The group at that poll; owned partitions are slices of one array, topics have the assigned partitions."""
    owned, layout = pack_owned([member.assigned for member in seen.members])
    counts = zip(layout.names, layout.counts.tolist(), strict=True)
    then = replace(group, members=seen.members, epoch=seen.epoch, assignor=seen.assignor, partitions=())
    made = group_of(then, {name: Topic(name, None, count) for name, count in counts})
    members = tuple(replace(member, owned=mine) for member, mine in zip(made.members, owned, strict=True))
    return replace(made, members=members, assignor=made.assignor or seen.assignor)
