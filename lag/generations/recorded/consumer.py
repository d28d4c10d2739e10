"""The next states of a KIP-848 or share group from its records, each of which has one part of the group.

Source: GroupMetadataManager and GroupCoordinatorRecordHelpers of Kafka 4.3.1, and KIP-848. A change bumps the group
epoch (perhaps several times), then the target assignment is written member by member and its epoch last, then each
member reconciles in steps. The successor of a static member takes over without a bump. A group that loses its last
member gets no new target assignment: compaction leaves only the epoch of the one before, without its members.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from assignors.model import Group, Member, TopicPartition
from lag.generations.live_group import DEFAULT_ASSIGNORS, SERVER_NAMES, TargetPartitions
from lag.generations.recorded import causes
from lag.generations.recorded.model import (
    STEPS_PER_MEMBER,
    MemberState,
    Reconciliation,
    ReconciliationStep,
    RecordedState,
    TimedEvent,
    Timeouts,
)
from lag.model import GroupType
from lag.records.record_types import RECORD_TYPES, Role

NEW_GROUP_EPOCH = 2
"""A new group has epoch 1, and its first member bumps it, unless it subscribes by a regular expression only."""

_STATES = {0: MemberState.STABLE, 1: MemberState.UNREVOKED, 2: MemberState.UNRELEASED}

TopicNameOf = Callable[[UUID], str | None]


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """The metadata in a member's record. `timeouts` is None if it was only seen in a poll."""

    member: Member
    regex: str | None
    assignor: str | None
    timeouts: Timeouts | None = None


@dataclass(slots=True)
class ModernGroup:
    """A group built from its records so far.

    `whole`: all of them were read, so its states are known. `planned`: the members of the last target assignment;
    `unsettled`: those of them that have not reached it. `departed`: the timeouts of members gone since then. `polled`:
    the members whose target assignment is that of a poll, which has no topics without partitions.
    """

    group_id: str
    share: bool
    name_of: TopicNameOf
    whole: bool
    epoch: int = 1
    metadata_hash: int = 0
    planned_hash: int | None = 0
    bumped_ms: int | None = None
    members: dict[str, MemberMetadata] = field(default_factory=dict)
    targets: dict[str, TargetPartitions] = field(default_factory=dict)
    regexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stable_at: dict[str, int] = field(default_factory=dict)
    planned: frozenset[str] = frozenset()
    unsettled: set[str] = field(default_factory=set)
    departed: dict[str, Timeouts] = field(default_factory=dict)
    polled: set[str] = field(default_factory=set)

    def take(self, timed: TimedEvent, last: RecordedState | None) -> list[RecordedState]:
        """Add a record; returns the states that follow `last`, oldest first. Raises AssignorError."""
        event, role = timed.event, RECORD_TYPES[timed.event.record_type].role
        name, value = event.member_id or event.regular_expression or "", event.value
        if value is None:
            self._forget(role, name)
            return []
        return self._learn(timed.at_ms, role, name, value, last)

    def _forget(self, role: Role, name: str) -> None:
        match role:
            case Role.MEMBER:
                gone = self.members.pop(name, None)
                if gone is not None and gone.timeouts is not None:
                    self.departed[name] = gone.timeouts
                self.unsettled.discard(name)
            case Role.TARGET:
                self.targets.pop(name, None)
            case Role.CURRENT:
                self.stable_at.pop(name, None)
            case Role.REGEX:
                self.regexes.pop(name, None)

    def _learn(self, at_ms: int, role: Role, name: str, value: Any, last: RecordedState | None) -> list[RecordedState]:
        match role:
            case Role.EPOCH:
                return self._bump(at_ms, value.epoch, value.metadata_hash, last)
            case Role.TARGET_EPOCH:
                return self._plan(at_ms, value.assignment_epoch, last)
            case Role.CURRENT:
                return self._move(at_ms, name, value, last)
            case Role.MEMBER:
                self.members[name] = _asked(name, value)
            case Role.TARGET:
                self.polled.discard(name)
                self.targets[name] = tuple(
                    (self._topic(each.topic_id), each.partitions) for each in value.topic_partitions
                )
            case Role.REGEX:
                self.regexes[name] = value.topics
        return []

    def _bump(self, at_ms: int, epoch: int, metadata_hash: int, last: RecordedState | None) -> list[RecordedState]:
        self.whole = self.whole or epoch <= NEW_GROUP_EPOCH
        self.epoch, self.metadata_hash = epoch, metadata_hash
        if self.bumped_ms is None:
            self.bumped_ms = at_ms
        if not self.whole or self.members or last is None:
            return []
        if last.group.members:
            return self._state(at_ms, epoch, last)
        self.bumped_ms = None
        return [causes.first_state(epoch, at_ms, last.group, modern=True)] if last.cause == causes.NO_MEMBERS else []

    def _plan(self, at_ms: int, epoch: int, last: RecordedState | None) -> list[RecordedState]:
        if not self.whole or (last is not None and last.modern and epoch <= last.number):
            return []
        if last is not None:
            return self._state(at_ms, epoch, last)
        group = self._group(None)
        if epoch > NEW_GROUP_EPOCH or not group.members:
            self.planned, self.planned_hash, self.bumped_ms = frozenset(self.members), self.metadata_hash, None
            return [causes.first_state(epoch, at_ms, group, modern=True)]
        nobody = causes.first_state(0, at_ms, Group(self.group_id, (), {}, group.assignor), modern=True)
        return [nobody, *self._state(at_ms, epoch, nobody)]

    def _state(self, at_ms: int, epoch: int, last: RecordedState) -> list[RecordedState]:
        group = self._group(last)
        self.unsettled = {name for name in self.members if self.stable_at.get(name) != epoch}
        progress = Reconciliation(self.bumped_ms, None if self.unsettled else at_ms)
        why = causes.RECOMPUTED if self.planned_hash in (None, self.metadata_hash) else causes.NEW_METADATA
        self.planned, self.planned_hash, self.bumped_ms = frozenset(self.members), self.metadata_hash, None
        departed, self.departed = self.departed, {}
        return [replace(causes.next_state(last, epoch, at_ms, group, progress, True, why), departed=departed)]

    def _move(self, at_ms: int, name: str, value: Any, last: RecordedState | None) -> list[RecordedState]:
        state = _STATES.get(value.state, MemberState.UNKNOWN)
        self.stable_at.pop(name, None)
        if state is MemberState.STABLE:
            self.stable_at[name] = value.member_epoch
        if not self.whole or last is None or not last.modern:
            return []
        if name in self.members and name not in self.planned and self.epoch == last.number:
            return self._succeed(at_ms, last)
        if self.unsettled:
            self._step(last, ReconciliationStep(at_ms, name, value.member_epoch, state, *_counts(value)))
        return []

    def _succeed(self, at_ms: int, last: RecordedState) -> list[RecordedState]:
        """A static member's successor has joined; it inherits the target, without a rebalance."""
        self.planned, self.unsettled = frozenset(self.members), set()
        return [causes.next_state(last, last.number, at_ms, self._group(last), Reconciliation(), True, causes.REJOINED)]

    def _step(self, last: RecordedState, step: ReconciliationStep) -> None:
        if len(last.progress.steps) < STEPS_PER_MEMBER * len(last.group.members):
            last.progress.steps.append(step)
        if self.stable_at.get(step.member_id) == last.number:
            self.unsettled.discard(step.member_id)
            if not self.unsettled:
                last.progress.settled_ms = step.at_ms

    def _group(self, last: RecordedState | None) -> Group:
        members = [self._member(metadata) for metadata in self.members.values()]
        owned = [self._partitions(name) for name in self.members]
        before = None if last is None else last.group
        return causes.build_group(self.group_id, self._assignor(), members, owned, before)

    def _member(self, metadata: MemberMetadata) -> Member:
        matched = self.regexes.get(metadata.regex or "", ())
        return replace(metadata.member, topics=tuple(dict.fromkeys((*metadata.member.topics, *matched))))

    def _partitions(self, name: str) -> list[TopicPartition]:
        return [TopicPartition(topic, number) for topic, numbers in self.targets.get(name, ()) for number in numbers]

    def _topic(self, topic_id: UUID | None) -> str:
        return (self.name_of(topic_id) if topic_id is not None else None) or f"topic id {topic_id}"

    def _assignor(self) -> str:
        """The assignor that most members name, else Kafka's default: the broker's choice is not recorded."""
        kind = GroupType.SHARE if self.share else GroupType.CONSUMER
        wanted = Counter(metadata.assignor for metadata in self.members.values() if metadata.assignor)
        chosen = wanted.most_common(1)[0][0] if wanted else ""
        return SERVER_NAMES[kind].get(chosen, DEFAULT_ASSIGNORS[kind])


def _asked(name: str, value: Any) -> MemberMetadata:
    """Members of share groups have no instance ids, regular expressions or assignors."""
    member = Member(
        name,
        getattr(value, "instance_id", None),
        value.client_id,
        value.client_host,
        value.rack_id,
        value.subscribed_topic_names,
    )
    regex, assignor = getattr(value, "subscribed_topic_regex", None), getattr(value, "server_assignor", None)
    return MemberMetadata(member, regex, assignor, _timeouts(value))


def _timeouts(value: Any) -> Timeouts:
    """Only members with the classic protocol have their own session timeout."""
    old = getattr(value, "classic_member_metadata", None)
    return Timeouts(old.session_timeout_ms or None if old else None, getattr(value, "rebalance_timeout_ms", None))


def _counts(value: Any) -> Iterator[int]:
    """The number of partitions of a member, and of those that it must revoke (0 in a share group)."""
    for given in (value.assigned_partitions, getattr(value, "partitions_pending_revocation", ())):
        yield sum(len(each.partitions) for each in given)
