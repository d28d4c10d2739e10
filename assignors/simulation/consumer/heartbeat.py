"""A heartbeat of a member that joins or stays: what it changes, as records, and what is answered.

Source: `GroupMetadataManager.consumerGroupHeartbeat`. Nothing is changed before all of it is worked out.
"""

from dataclasses import dataclass, field, replace

from assignors.simulation.consumer import regexes
from assignors.simulation.consumer.group import ConsumerGroup, Target, is_homogeneous
from assignors.simulation.consumer.members import Member
from assignors.simulation.consumer.messages import JOINING, Heartbeat
from assignors.simulation.consumer.reconciliation import Step
from assignors.simulation.consumer.records import (
    CurrentRecord,
    EpochRecord,
    GroupRecord,
    MemberTombstone,
    SubscriptionRecord,
    TargetRecord,
)
from assignors.simulation.consumer.regexes import Change
from assignors.simulation.consumer.settings import Settings
from assignors.simulation.consumer.target import Plan
from assignors.simulation.consumer.topics import Topics
from assignors.simulation.consumer.validation import check_epoch, check_release, known_static
from assignors.simulation.errors import KafkaError, Refused

REFRESH_AFTER_MS = 2**31 - 1
"""A group looks at unchanged topics again after some 25 days; no setting of Kafka changes it."""


def is_routine(group: ConsumerGroup, request: Heartbeat, now_ms: int) -> bool:
    """Whether it only says "I am here" in a group at rest, as most do: nothing is to be changed or told for it."""
    member = group.members.get(request.member_id)
    return (
        member is not None
        and request.epoch == group.epoch == group.target_epoch
        and member.is_reconciled_to(group.epoch)
        and member.told(request) is member
        and request.owned is None  # who says what it owns may ask for all that it shall own
        and not group.regexes
        and not group.wants_refresh(now_ms)
    )


def refuse_when_full(group: ConsumerGroup, member_id: str, max_size: int) -> None:
    """Kafka: `throwIfConsumerGroupIsFull`, before a newcomer gets an id."""
    if len(group.members) >= max_size and member_id not in group.members:
        raise Refused(KafkaError.GROUP_MAX_SIZE_REACHED)


@dataclass(slots=True)
class Turn:
    """One heartbeat on its way through the coordinator: `find`, `reconcile`, then read the rest. Both raise Refused.

    `member_id` is the request's, or a new one. `before` and `after`: the member; `change`: of its regular expression.
    """

    group: ConsumerGroup
    request: Heartbeat
    member_id: str
    topics: Topics
    settings: Settings
    now_ms: int
    records: list[GroupRecord] = field(default_factory=list)
    before: Member = field(init=False)
    after: Member = field(init=False)
    change: Change = field(init=False)

    def find(self) -> None:
        """Who it is, and what it says anew."""
        self.before = self._dynamic() if self.request.instance_id is None else self._static(self.request.instance_id)
        self.after = self.before.told(self.request)
        if self.after is not self.before and self.after != self.before:
            self.records.append(SubscriptionRecord.of(self.after))
        self.change = regexes.change(self.group, self.before.regex, self.after.regex)
        self.records += regexes.abandoned(self.group, self.before.regex, self.after.regex)

    def reconcile(self) -> bool:
        """New epochs if need be, then the member's next step; whether that changed it."""
        epoch, homogeneous = self._refresh()
        target_epoch, target = self._target(epoch, homogeneous)
        if self._resubscribed or not self.after.is_reconciled_to(target_epoch):
            return self._step(target_epoch, target)
        return False

    @property
    def tells_assignment(self) -> bool:
        """Whether the reply names all partitions: the member asked for it, or they have changed."""
        said = self.request
        is_full = said.rebalance_timeout_ms is not None and said.owned is not None
        is_full &= said.topics is not None or said.regex is not None
        return said.epoch == JOINING or is_full or self.before.assigned != self.after.assigned

    # Who

    def _dynamic(self) -> Member:
        member = self._known_or_new()
        check_epoch(member, self.request)
        return member

    def _known_or_new(self) -> Member:
        if self.request.epoch == JOINING:
            return self.group.members.get(self.member_id, Member(self.member_id))
        return self.group.member(self.member_id)

    def _static(self, instance_id: str) -> Member:
        there = self.group.static_member(instance_id)
        if self.request.epoch != JOINING:
            member = known_static(there, self.member_id)
            check_epoch(member, self.request)
            return member
        if there is None:
            return self._known_or_new()
        check_release(there)
        return self._replaced(there)

    def _replaced(self, old: Member) -> Member:
        """A static member is back, under any id: it takes over all that its former self had."""
        new = replace(old, member_id=self.member_id, epoch=0, previous_epoch=0)
        self.records += [
            MemberTombstone(old.member_id),
            SubscriptionRecord.of(new),
            TargetRecord(new.member_id, self.group.target.get(old.member_id, ())),
            CurrentRecord.of(new),
        ]
        return new

    # The group's epoch

    @property
    def _renamed(self) -> bool:
        return self.before.topics != self.after.topics

    @property
    def _resubscribed(self) -> bool:
        return self._renamed or self.change is not Change.NONE

    def _refresh(self) -> tuple[int, bool]:
        """The group's epoch, and whether its members read the same topics."""
        group = self.group
        bumps = self._renamed or self.change is Change.RESOLVED
        if not bumps and not group.wants_refresh(self.now_ms):
            return group.epoch, group.homogeneous
        by_name, without = self._names()
        seen = self.topics.fingerprint(by_name.keys() | group.matched(without))
        epoch = group.epoch
        if bumps or seen != group.seen:
            epoch += 1
            self.records.append(EpochRecord(epoch, seen))
        group.refreshed(self.now_ms + REFRESH_AFTER_MS, epoch)
        return epoch, self._will_be_homogeneous(by_name, without)

    def _names(self) -> tuple[dict[str, int], str | None]:
        """Members by topic as they will be, and the expression that nobody will have any more."""
        by_name = dict(self.group.by_name)
        for name in self.before.topics & by_name.keys():
            by_name[name] -= 1
        for name in self.after.topics:
            by_name[name] = by_name.get(name, 0) + 1
        old = self.before.regex
        is_last = old != self.after.regex and self.group.regexes.get(old) == 1
        return {name: count for name, count in by_name.items() if count}, old if is_last else None

    def _will_be_homogeneous(self, by_name: dict[str, int], without: str | None) -> bool:
        group = self.group
        is_new = self.after.member_id not in group.members and self.after.instance_id not in group.static_ids
        subscribers = regexes.counted(group, self.before, self.after)
        resolved = {regex: record for regex, record in group.resolved.items() if regex != without}
        return is_homogeneous(subscribers, by_name, resolved, len(group.members) + is_new)

    # The target's

    def _target(self, epoch: int, homogeneous: bool) -> tuple[int, Target]:
        """The target's epoch and the member's part of it: new ones when they are due, else those that stand."""
        group = self.group
        if group.target_epoch >= epoch or not self._may_plan():
            return group.target_epoch, group.target_of(self.after)
        plan = Plan(group, self.before, self.after, epoch, homogeneous, self.topics, self.settings)
        planned = plan.compute(self.now_ms)
        self.records += planned.records
        return epoch, planned.own

    def _may_plan(self) -> bool:
        """A group's first target is computed at once, each other one not too soon after the last (KIP-1263)."""
        last_ms, interval_ms = self.group.target_at_ms, self.settings.assignment_interval_ms
        return last_ms is None or not interval_ms or self.now_ms >= last_ms + interval_ms

    # The member's

    def _step(self, target_epoch: int, target: Target) -> bool:
        names = self.group.topics_of(self.after)
        ids = self.topics.ids(names)
        step = Step(target_epoch, target, names, ids, self._resubscribed, self.group.owners, self.request.owned)
        moved = step.of(self.after)
        has_moved = moved != self.after
        if has_moved:
            self.records.append(CurrentRecord.of(moved))
        self.after = moved
        return has_moved
