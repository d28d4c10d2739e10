"""Folds group events into the last generations of every group, within a memory budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from uuid import UUID

from assignors.model import AssignorError
from assignors.whatif.generations import Generation
from lag.generations.live_group import TargetPartitions
from lag.generations.recorded import causes, classic, initial_state
from lag.generations.recorded.consumer import ModernGroup, TopicNameOf
from lag.generations.recorded.model import RecordedGeneration, RecordedState, TimedEvent, Timeouts
from lag.generations.state_buffer import MAX_CELLS, MAX_GENERATIONS, StateBuffer, generations
from lag.model import GroupSnapshot, GroupType, undecoded
from lag.records.group_values import ConsumerGroupPartitionMetadata, GroupMetadata
from lag.records.record_types import RECORD_TYPES, RecordType, Role

OLDEST_KEPT = "oldest one kept"
"""The event of a group's first generation if older ones were dropped."""

_BEGINNINGS = (causes.FIRST_RECORD, causes.NO_MEMBERS, causes.SEEN_IN_POLL)


def generations_of(states: Sequence[RecordedState]) -> list[RecordedGeneration]:
    """The generations of these states, see `GenerationRecorder.recorded`."""
    made = generations(states)
    if states and states[0].cause not in _BEGINNINGS:
        made[0] = replace(made[0], event=OLDEST_KEPT)
    return [recorded_generation(one, state) for one, state in zip(made, states, strict=True)]


def recorded_generation(made: Generation, state: RecordedState) -> RecordedGeneration:
    """The generation of a state, with what its records tell of the time."""
    progress = state.progress
    steps = tuple(progress.steps)
    return RecordedGeneration(
        made, progress.began_ms, progress.settled_ms, steps, state.skipped, state.departed, state.problems
    )


def _is_still_empty(before: RecordedState, state: RecordedState) -> bool:
    """Compaction left a record from when there were members, none of whom is left: `state` takes its place."""
    return before.cause == state.cause == causes.NO_MEMBERS


class GenerationRecorder:
    """The recorded generations of all groups. Not thread-safe.

    `name_of` returns the name of a topic id, None if it is not known. Streams groups are ignored: they assign tasks,
    not partitions. `unusable` counts events with invalid partitions.
    """

    def __init__(
        self, name_of: TopicNameOf, most_generations: int = MAX_GENERATIONS, most_cells: int = MAX_CELLS
    ) -> None:
        self.unusable = 0
        self._name_of = name_of
        self._buffer: StateBuffer[RecordedState] = StateBuffer(most_generations, most_cells)
        self._last: dict[str, RecordedState] = {}
        self._modern: dict[str, ModernGroup] = {}
        self._deleted: dict[str, tuple[int, bool]] = {}
        self._timeouts: dict[str, dict[str, Timeouts]] = {}
        self._names: dict[UUID, str] = {}
        self._polled: dict[str, GroupSnapshot] = {}

    def take(self, events: Iterable[TimedEvent], *, whole: bool) -> None:
        """Add the next events in the order of their records; the events of one coordinator write in one call.

        `whole`: all events of these groups in the log are added. If not, a KIP-848 or share group is known only after
        it is created again, because no record has the whole group.
        """
        for timed in events:
            try:
                self._take(timed, whole)
            except AssignorError:
                self.unusable += 1
        for group_id in list(self._deleted):
            self._end(group_id)

    def recorded(self, group_id: str) -> list[RecordedGeneration]:
        """The group's generations, oldest first; none if nothing has changed since its first record.

        The first one is the group before the first change.
        """
        return generations_of(self.states(group_id))

    def states(self, group_id: str) -> list[RecordedState]:
        """The states for `generations_of`, which computes the generations."""
        return self._buffer.of(group_id)

    def all_states(self) -> dict[str, list[RecordedState]]:
        """The states of every group that has any."""
        return self._buffer.all()

    def knows(self, group_id: str) -> bool:
        """Whether the group's present state is known."""
        return group_id in self._last or group_id in self._polled

    def emptied_ms(self, group_id: str) -> int | None:
        """The time of the record that left the group without members.

        None if the group has members, or was empty when it was first seen in a poll.
        """
        last = self._last.get(group_id)
        if last is None or last.group.members:
            return None
        empty = list(takewhile(lambda state: not state.group.members, reversed(self._buffer.of(group_id) or [last])))
        return None if not empty or empty[-1].cause == causes.SEEN_IN_POLL else empty[-1].at_ms

    def joined_ms(self, group_id: str) -> int | None:
        """The time of the first record with members after the group was last empty; None if that was not read."""
        states = self._buffer.of(group_id)
        with_members = list(takewhile(lambda state: bool(state.group.members), reversed(states)))
        return with_members[-1].at_ms if 0 < len(with_members) < len(states) else None

    def timeouts(self, group_id: str) -> Mapping[str, Timeouts]:
        """The timeouts of the group's members, by member id, as far as their records were read."""
        modern = self._modern.get(group_id)
        if modern is None:
            return self._timeouts.get(group_id, {})
        return {name: of.timeouts for name, of in modern.members.items() if of.timeouts is not None}

    def share_targets(self, group_id: str) -> Mapping[str, TargetPartitions]:
        """The target assignments of a share group as their records have them, by member id, as far as they were read.

        With topics without partitions (Kafka's `SimpleAssignor` keeps them), which no poll reports.
        """
        group = self._modern.get(group_id)
        if group is None or not group.share:
            return {}
        return {name: target for name, target in group.targets.items() if name not in group.polled}

    def observe(self, groups: Iterable[GroupSnapshot]) -> None:
        """Use polled groups as the starting point of groups whose records were not read.

        All records up to the poll must have been added; later ones may have been.
        """
        self._polled = {group.group_id: group for group in groups if self._is_polled(group)}

    def _is_polled(self, group: GroupSnapshot) -> bool:
        if group.group_id in self._last or not initial_state.is_stable(group):
            return False
        known = self._modern.get(group.group_id)
        if known is None:
            return True
        present = {member.member_id for member in group.members}
        return known.epoch <= (group.epoch or 0) and known.members.keys() <= present

    def _start_from_poll(self, group: GroupSnapshot) -> None:
        self._last[group.group_id] = initial_state.state(group)
        if initial_state.is_modern(group):
            self._modern[group.group_id] = initial_state.modern(group, self._name)

    def forget(self, group_ids: Iterable[str]) -> None:
        """Remove all that is known of these groups."""
        gone = list(group_ids)
        self._buffer.forget(gone)
        for group_id in gone:
            for kept in (self._last, self._modern, self._polled, self._timeouts):
                kept.pop(group_id, None)

    def known(self) -> list[str]:
        """The groups that have any state."""
        return list(dict.fromkeys((*self._last, *self._modern, *self._polled, *self._buffer.groups())))

    def _take(self, timed: TimedEvent, whole: bool) -> None:
        event, kind = timed.event, RECORD_TYPES.get(timed.event.record_type)
        if (seen := self._polled.pop(event.group_id, None)) is not None:
            self._start_from_poll(seen)
        if kind is None or kind.group_type is GroupType.STREAMS:
            return
        if isinstance(event.value, ConsumerGroupPartitionMetadata):
            self._names |= {topic.topic_id: topic.topic for topic in event.value.topics if topic.topic_id is not None}
        elif kind.role is Role.GROUP:
            self._take_classic(timed)
        elif kind.role is not Role.OTHER:
            self._take_modern(timed, kind, whole)

    def _take_classic(self, timed: TimedEvent) -> None:
        group_id, value, at_ms = timed.event.group_id, timed.event.value, timed.at_ms
        if not isinstance(value, GroupMetadata):
            self._timeouts.pop(group_id, None)
            self._deleted[group_id] = (at_ms, False)
            return
        before, now = self._timeouts.get(group_id, {}), classic.timeouts(value)
        self._timeouts[group_id] = now
        self._return(group_id, modern=False)
        departed = {name: timeouts for name, timeouts in before.items() if name not in now}
        states = [replace(s, departed=departed) for s in classic.states(group_id, at_ms, value, self._before(group_id))]
        if states and timed.event.problems:
            named = [f"the {problem}" for problem in timed.event.problems]
            states[-1] = replace(states[-1], problems=(undecoded(group_id, named),))
        self._keep(group_id, states)

    def _take_modern(self, timed: TimedEvent, kind: RecordType, whole: bool) -> None:
        event, group_id = timed.event, timed.event.group_id
        if event.tombstone and kind.role is Role.EPOCH:
            self._modern.pop(group_id, None)
            self._deleted[group_id] = (timed.at_ms, True)
            return
        group = self._modern.get(group_id)
        if group is None:
            if event.tombstone:
                return
            whole = self._return(group_id, modern=True) or whole
            share = kind.group_type is GroupType.SHARE
            group = self._modern[group_id] = ModernGroup(group_id, share, self._name, whole)
        self._keep(group_id, group.take(timed, self._before(group_id)))

    def _name(self, topic_id: UUID) -> str | None:
        return self._names.get(topic_id) or self._name_of(topic_id)

    def _before(self, group_id: str) -> RecordedState | None:
        """The group's last state; of a deleted group the last one in the buffer."""
        return self._last.get(group_id) or next(reversed(self._buffer.of(group_id)), None)

    def _keep(self, group_id: str, states: Iterable[RecordedState]) -> None:
        for state in states:
            before = self._before(group_id)
            if before is not None and not _is_still_empty(before, state):
                self._buffer.add(group_id, before, state)
            self._last[group_id] = state

    def _return(self, group_id: str, *, modern: bool) -> bool:
        """Whether the group was deleted in this write; if it keeps its type, it is a new group with the same name."""
        buried = self._deleted.get(group_id)
        if buried is None:
            return False
        if buried[1] == modern:
            self._end(group_id)
        else:
            del self._deleted[group_id]
        return True

    def _end(self, group_id: str) -> None:
        at_ms, _ = self._deleted.pop(group_id)
        last = self._last.pop(group_id, None)
        if last is not None and self._buffer.of(group_id):
            self._buffer.add(group_id, last, causes.deleted_state(last, at_ms))
