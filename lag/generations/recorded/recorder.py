"""Takes group events as they come and keeps the last generations of every group, within a budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from assignors.model import AssignorError
from lag.generations.kept_states import MOST_CELLS, MOST_GENERATIONS, Shelf, generations
from lag.generations.recorded import causes, classic, initial_state
from lag.generations.recorded.consumer import ROLES, SHARE_RECORDS, ModernGroup, NameOf, Role
from lag.generations.recorded.model import Recorded, Timed, Timeouts, Written
from lag.model import GroupSnapshot
from lag.records.group_values import ConsumerGroupPartitionMetadata, GroupMetadata

CLASSIC_GROUP = 2
OLDEST_KEPT = "oldest one kept"
"""The event of a group's first kept generation when there were older ones."""

_BEGINNINGS = (causes.FIRST_RECORD, causes.NOBODY, causes.AS_IT_WAS)


def told(states: Sequence[Written]) -> list[Recorded]:
    """The generations between these states, see `Recorder.recorded`."""
    made = generations(states)
    if states and states[0].cause not in _BEGINNINGS:
        made[0] = replace(made[0], event=OLDEST_KEPT)
    return [
        Recorded(one, state.progress.began_ms, state.progress.settled_ms, tuple(state.progress.steps), state.skipped)
        for one, state in zip(made, states, strict=True)
    ]


class Recorder:
    """The generations that records tell of. One thread at a time.

    `name_of` gives a topic id its name, None where it is not known. Streams groups are left out: they plan tasks, not
    partitions. `unusable` counts the events that tell of partitions that cannot be.
    """

    def __init__(self, name_of: NameOf, most_generations: int = MOST_GENERATIONS, most_cells: int = MOST_CELLS) -> None:
        self.unusable = 0
        self._name_of = name_of
        self._shelf: Shelf[Written] = Shelf(most_generations, most_cells)
        self._last: dict[str, Written] = {}
        self._modern: dict[str, ModernGroup] = {}
        self._buried: dict[str, tuple[int, bool]] = {}
        self._timeouts: dict[str, dict[str, Timeouts]] = {}
        self._names: dict[UUID, str] = {}
        self._asleep: dict[str, GroupSnapshot] = {}

    def take(self, events: Iterable[Timed], *, whole: bool) -> None:
        """Take the next events, in the order of their records; those of one write of the coordinator together.

        `whole`: all events of these groups that the log still has were or will be taken. If not, a KIP-848 or share
        group is told from its next beginning on only, for no record has all of it.
        """
        for timed in events:
            try:
                self._take(timed, whole)
            except AssignorError:
                self.unusable += 1
        for group_id in list(self._buried):
            self._end(group_id)

    def recorded(self, group_id: str) -> list[Recorded]:
        """The group's generations, oldest first; none as long as nothing has changed since its first record.

        The first one is where the rest begins: the group as it was then, or nobody.
        """
        return told(self.states(group_id))

    def states(self, group_id: str) -> list[Written]:
        """What `told` makes the same of, without the computing."""
        return self._shelf.of(group_id)

    def knows(self, group_id: str) -> bool:
        """Whether the group's present state is known."""
        return group_id in self._last or group_id in self._asleep

    def timeouts(self, group_id: str) -> Mapping[str, Timeouts]:
        """Those of the group's members, by id, as far as their records were read."""
        modern = self._modern.get(group_id)
        if modern is None:
            return self._timeouts.get(group_id, {})
        return {name: asked.timeouts for name, asked in modern.asked.items() if asked.timeouts is not None}

    def see(self, groups: Iterable[GroupSnapshot]) -> None:
        """Take groups that a poll saw for what the records before it must have told, where these were not read.

        All records up to that poll, as far back as anybody reads, must have been taken; those since then may have been.
        """
        self._asleep = {group.group_id: group for group in groups if self._is_asleep(group)}

    def _is_asleep(self, group: GroupSnapshot) -> bool:
        if group.group_id in self._last or not initial_state.is_at_rest(group):
            return False
        told = self._modern.get(group.group_id)
        if told is None:
            return True
        there = {member.member_id for member in group.members}
        return told.epoch <= (group.epoch or 0) and told.asked.keys() <= there

    def _awaken(self, group: GroupSnapshot) -> None:
        self._last[group.group_id] = initial_state.state(group)
        if initial_state.is_modern(group):
            self._modern[group.group_id] = initial_state.modern(group, self._name)

    def forget(self, group_ids: Iterable[str]) -> None:
        """Forget all of these groups, as before their first record."""
        gone = list(group_ids)
        self._shelf.forget(gone)
        for group_id in gone:
            for kept in (self._last, self._modern, self._asleep, self._timeouts):
                kept.pop(group_id, None)

    def known(self) -> list[str]:
        """The groups of which anything is known."""
        return list(dict.fromkeys((*self._last, *self._modern, *self._asleep, *self._shelf.groups())))

    def _take(self, timed: Timed, whole: bool) -> None:
        event = timed.event
        if (seen := self._asleep.pop(event.group_id, None)) is not None:
            self._awaken(seen)
        if isinstance(event.value, ConsumerGroupPartitionMetadata):
            self._names |= {topic.topic_id: topic.topic for topic in event.value.topics if topic.topic_id is not None}
        elif event.record_type == CLASSIC_GROUP:
            self._take_classic(timed)
        elif event.record_type in ROLES:
            self._take_modern(timed, whole)

    def _take_classic(self, timed: Timed) -> None:
        group_id, value = timed.event.group_id, timed.event.value
        if not isinstance(value, GroupMetadata):
            self._timeouts.pop(group_id, None)
            self._buried[group_id] = (timed.at_ms, False)
            return
        self._timeouts[group_id] = classic.timeouts(value)
        self._return(group_id, modern=False)
        self._keep(group_id, classic.states(group_id, timed.at_ms, value, self._before(group_id)))

    def _take_modern(self, timed: Timed, whole: bool) -> None:
        event, group_id = timed.event, timed.event.group_id
        if event.tombstone and ROLES[event.record_type] is Role.EPOCH:
            self._modern.pop(group_id, None)
            self._buried[group_id] = (timed.at_ms, True)
            return
        group = self._modern.get(group_id)
        if group is None:
            if event.tombstone:
                return
            whole = self._return(group_id, modern=True) or whole
            share = event.record_type in SHARE_RECORDS
            group = self._modern[group_id] = ModernGroup(group_id, share, self._name, whole)
        self._keep(group_id, group.take(timed, self._before(group_id)))

    def _name(self, topic_id: UUID) -> str | None:
        return self._names.get(topic_id) or self._name_of(topic_id)

    def _before(self, group_id: str) -> Written | None:
        """The group's last state; of one that was deleted, what is kept of it."""
        if group_id in self._last:
            return self._last[group_id]
        kept = self._shelf.of(group_id)
        return kept[-1] if kept else None

    def _keep(self, group_id: str, states: Iterable[Written]) -> None:
        for state in states:
            before = self._before(group_id)
            if before is not None:
                self._shelf.add(group_id, before, state)
            self._last[group_id] = state

    def _return(self, group_id: str, *, modern: bool) -> bool:
        """Whether the group was buried just now; unless it changes its type, it is then a new one of that name."""
        buried = self._buried.get(group_id)
        if buried is None:
            return False
        if buried[1] == modern:
            self._end(group_id)
        else:
            del self._buried[group_id]
        return True

    def _end(self, group_id: str) -> None:
        at_ms, _ = self._buried.pop(group_id)
        last = self._last.pop(group_id, None)
        if last is not None and self._shelf.of(group_id):
            self._shelf.add(group_id, last, causes.gone(last, at_ms))
