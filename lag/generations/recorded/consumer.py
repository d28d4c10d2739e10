"""The records of a KIP-848 or share group -> its next states. Each record tells one thing; they are put together here.

Source: GroupMetadataManager and GroupCoordinatorRecordHelpers of Kafka 4.3.1, and KIP-848. A change bumps the group's
epoch (which may be bumped again before anything is planned); then the target of that epoch is written, member by
member and its epoch last; then each member goes to its target in steps. A static member's successor takes over
without a bump. A group that loses its last member gets no target any more.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any
from uuid import UUID

from assignors.model import Group, Member, TopicPartition
from lag.generations.live_group import SERVER_NAMES, STAND_INS
from lag.generations.recorded import causes
from lag.generations.recorded.model import STEPS_PER_MEMBER, Phase, Progress, Step, Timed, Timeouts, Written
from lag.model import GroupType


class Role(Enum):
    """What a kind of record is for."""

    EPOCH = auto()
    MEMBER = auto()
    PLANNED = auto()
    TARGET = auto()
    CURRENT = auto()
    REGEX = auto()


ROLES: Mapping[int, Role] = {
    3: Role.EPOCH, 5: Role.MEMBER, 6: Role.PLANNED, 7: Role.TARGET, 8: Role.CURRENT, 16: Role.REGEX,
    11: Role.EPOCH, 10: Role.MEMBER, 12: Role.PLANNED, 13: Role.TARGET, 14: Role.CURRENT,
}  # fmt: skip
"""By the number of the kind; those of share groups (10 to 14) are as those of KIP-848."""

SHARE_RECORDS = range(10, 15)
NEW_GROUP_EPOCH = 2
"""A new group begins at 1, and its first member bumps that, unless it subscribes by an expression only."""

_PHASES = {0: Phase.STABLE, 1: Phase.UNREVOKED, 2: Phase.UNRELEASED}

NameOf = Callable[[UUID], str | None]
Given = tuple[tuple[str, tuple[int, ...]], ...]
"""(topic, its partitions) of a target."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a member told of itself; `regex` is its expression. `timeouts` are None where only a poll has seen it."""

    member: Member
    regex: str | None
    assignor: str | None
    timeouts: Timeouts | None = None


@dataclass(slots=True)
class ModernGroup:
    """A group as its records have told it so far.

    `whole`: all of them were seen, so its states can be told. `planned` are the members of its last state, `unsettled`
    those of them that have not reached its target.
    """

    group_id: str
    share: bool
    name_of: NameOf
    whole: bool
    epoch: int = 1
    metadata_hash: int = 0
    planned_hash: int | None = 0
    bumped_ms: int | None = None
    asked: dict[str, Asked] = field(default_factory=dict)
    targets: dict[str, Given] = field(default_factory=dict)
    regexes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stable_at: dict[str, int] = field(default_factory=dict)
    planned: frozenset[str] = frozenset()
    unsettled: set[str] = field(default_factory=set)

    def take(self, timed: Timed, last: Written | None) -> list[Written]:
        """The states that follow `last` by this record, oldest first. Raises AssignorError."""
        event, role = timed.event, ROLES[timed.event.record_type]
        name, value = event.member_id or event.regular_expression or "", event.value
        if value is None:
            self._forget(role, name)
            return []
        return self._learn(timed.at_ms, role, name, value, last)

    def _forget(self, role: Role, name: str) -> None:
        match role:
            case Role.MEMBER:
                self.asked.pop(name, None)
                self.unsettled.discard(name)
            case Role.TARGET:
                self.targets.pop(name, None)
            case Role.CURRENT:
                self.stable_at.pop(name, None)
            case Role.REGEX:
                self.regexes.pop(name, None)

    def _learn(self, at_ms: int, role: Role, name: str, value: Any, last: Written | None) -> list[Written]:
        match role:
            case Role.EPOCH:
                return self._bump(at_ms, value.epoch, value.metadata_hash, last)
            case Role.PLANNED:
                return self._plan(at_ms, value.assignment_epoch, last)
            case Role.CURRENT:
                return self._move(at_ms, name, value, last)
            case Role.MEMBER:
                self.asked[name] = _asked(name, value)
            case Role.TARGET:
                self.targets[name] = tuple(
                    (self._topic(each.topic_id), each.partitions) for each in value.topic_partitions
                )
            case Role.REGEX:
                self.regexes[name] = value.topics
        return []

    def _bump(self, at_ms: int, epoch: int, metadata_hash: int, last: Written | None) -> list[Written]:
        self.whole = self.whole or epoch <= NEW_GROUP_EPOCH
        self.epoch, self.metadata_hash = epoch, metadata_hash
        if self.bumped_ms is None:
            self.bumped_ms = at_ms
        if self.whole and not self.asked and last is not None and last.group.members:
            return self._state(at_ms, epoch, last)
        return []

    def _plan(self, at_ms: int, epoch: int, last: Written | None) -> list[Written]:
        if not self.whole or (last is not None and last.modern and epoch <= last.number):
            return []
        if last is not None:
            return self._state(at_ms, epoch, last)
        group = self._group(None)
        if epoch > NEW_GROUP_EPOCH or not group.members:
            self.planned, self.planned_hash, self.bumped_ms = frozenset(self.asked), self.metadata_hash, None
            return [causes.begun(epoch, at_ms, group, modern=True)]
        nobody = causes.begun(0, at_ms, Group(self.group_id, (), {}, group.assignor), modern=True)
        return [nobody, *self._state(at_ms, epoch, nobody)]

    def _state(self, at_ms: int, epoch: int, last: Written) -> list[Written]:
        group = self._group(last)
        self.unsettled = {name for name in self.asked if self.stable_at.get(name) != epoch}
        progress = Progress(self.bumped_ms, None if self.unsettled else at_ms)
        why = causes.REPLANNED if self.planned_hash in (None, self.metadata_hash) else causes.NEW_METADATA
        self.planned, self.planned_hash, self.bumped_ms = frozenset(self.asked), self.metadata_hash, None
        return [causes.followed(last, epoch, at_ms, group, progress, True, why)]

    def _move(self, at_ms: int, name: str, value: Any, last: Written | None) -> list[Written]:
        phase = _PHASES.get(value.state, Phase.UNKNOWN)
        self.stable_at.pop(name, None)
        if phase is Phase.STABLE:
            self.stable_at[name] = value.member_epoch
        if not self.whole or last is None or not last.modern:
            return []
        if name in self.asked and name not in self.planned and self.epoch == last.number:
            return self._succeed(at_ms, last)
        if self.unsettled:
            self._step(last, Step(at_ms, name, value.member_epoch, phase, *_counts(value)))
        return []

    def _succeed(self, at_ms: int, last: Written) -> list[Written]:
        """A static member's successor is there; it inherits the target, and no rebalance begins."""
        self.planned, self.unsettled = frozenset(self.asked), set()
        progress = Progress(None, None)
        return [causes.followed(last, last.number, at_ms, self._group(last), progress, True, causes.CAME_BACK)]

    def _step(self, last: Written, step: Step) -> None:
        if len(last.progress.steps) < STEPS_PER_MEMBER * len(last.group.members):
            last.progress.steps.append(step)
        if self.stable_at.get(step.member_id) == last.number:
            self.unsettled.discard(step.member_id)
            if not self.unsettled:
                last.progress.settled_ms = step.at_ms

    def _group(self, last: Written | None) -> Group:
        members = [self._member(asked) for asked in self.asked.values()]
        owned = [self._partitions(name) for name in self.asked]
        before = last.group if last is not None else None
        return causes.grouped(self.group_id, self._assignor(), members, owned, before)

    def _member(self, asked: Asked) -> Member:
        matched = self.regexes.get(asked.regex or "", ())
        return replace(asked.member, topics=tuple(dict.fromkeys((*asked.member.topics, *matched))))

    def _partitions(self, name: str) -> list[TopicPartition]:
        return [TopicPartition(topic, number) for topic, numbers in self.targets.get(name, ()) for number in numbers]

    def _topic(self, topic_id: UUID | None) -> str:
        return (self.name_of(topic_id) if topic_id is not None else None) or f"topic id {topic_id}"

    def _assignor(self) -> str:
        """The one that most members ask for, else Kafka's default: what the broker has chosen is not recorded."""
        kind = GroupType.SHARE if self.share else GroupType.CONSUMER
        wanted = Counter(asked.assignor for asked in self.asked.values() if asked.assignor)
        chosen = wanted.most_common(1)[0][0] if wanted else ""
        return SERVER_NAMES[kind].get(chosen, STAND_INS[kind])


def _asked(name: str, value: Any) -> Asked:
    """Members of share groups have neither instance ids, expressions nor assignors."""
    member = Member(
        name,
        getattr(value, "instance_id", None),
        value.client_id,
        value.client_host,
        value.rack_id,
        value.subscribed_topic_names,
    )
    regex, assignor = getattr(value, "subscribed_topic_regex", None), getattr(value, "server_assignor", None)
    return Asked(member, regex, assignor, _timeouts(value))


def _timeouts(value: Any) -> Timeouts:
    """A member of the classic protocol in a KIP-848 group has a session of its own."""
    old = getattr(value, "classic_member_metadata", None)
    return Timeouts(old.session_timeout_ms or None if old else None, getattr(value, "rebalance_timeout_ms", None))


def _counts(value: Any) -> tuple[int, int]:
    """How many partitions a member has, and how many of them it must give up (never in a share group)."""
    return _size(value.assigned_partitions), _size(getattr(value, "partitions_pending_revocation", ()))


def _size(given: Any) -> int:
    return sum(len(each.partitions) for each in given)
