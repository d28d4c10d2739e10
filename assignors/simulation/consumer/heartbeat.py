"""A heartbeat of a member that joins or stays: its records and its reply.

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
"""Unchanged topics are checked again after about 25 days; Kafka has no setting for it."""


def is_routine(group: ConsumerGroup, request: Heartbeat, now_ms: int) -> bool:
    """Whether the heartbeat changes nothing in a stable group, as most do."""
    member = group.members.get(request.member_id)
    return (
        member is not None
        and request.epoch == group.epoch == group.target_epoch
        and member.is_reconciled_to(group.epoch)
        and member.updated(request) is member
        and request.owned is None  # with `owned` it may ask for a full reply
        and not group.regexes
        and not group.wants_refresh(now_ms)
    )


def refuse_when_full(group: ConsumerGroup, member_id: str, max_size: int) -> None:
    """Kafka: `throwIfConsumerGroupIsFull`, before a new member gets an id."""
    if len(group.members) >= max_size and member_id not in group.members:
        raise Refused(KafkaError.GROUP_MAX_SIZE_REACHED)


@dataclass(slots=True)
class Turn:
    """One heartbeat in the coordinator: call `find`, then `reconcile`, then read the rest. Both raise Refused.

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
        """Find the member and update its subscription."""
        self.before = self._dynamic() if self.request.instance_id is None else self._static(self.request.instance_id)
        self.after = self.before.updated(self.request)
        if self.after is not self.before and self.after != self.before:
            self.records.append(SubscriptionRecord.of(self.after))
        self.change = regexes.change(self.group, self.before.regex, self.after.regex)
        self.records += regexes.abandoned(self.group, self.before.regex, self.after.regex)

    def reconcile(self) -> bool:
        """Compute new epochs if necessary, then reconcile the member; whether that changed it."""
        epoch, homogeneous = self._refresh()
        target_epoch, target = self._target(epoch, homogeneous)
        if self._resubscribed or not self.after.is_reconciled_to(target_epoch):
            return self._step(target_epoch, target)
        return False

    @property
    def includes_assignment(self) -> bool:
        """Whether the reply has the assignment: the request was a full one, or the assignment has changed."""
        request = self.request
        is_full = request.rebalance_timeout_ms is not None and request.owned is not None
        is_full &= request.topics is not None or request.regex is not None
        return request.epoch == JOINING or is_full or self.before.assigned != self.after.assigned

    # The member

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
        """A static member is back, under any id: it takes over the state of its predecessor."""
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
        """The group epoch, and whether all subscriptions are equal."""
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
        """The new number of members by topic, and the expression that lost its last member."""
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

    # The target assignment

    def _target(self, epoch: int, homogeneous: bool) -> tuple[int, Target]:
        """The target epoch and the member's target, computed again if it is due."""
        group = self.group
        if group.target_epoch >= epoch or not self._may_plan():
            return group.target_epoch, group.target_of(self.after)
        plan = Plan(group, self.before, self.after, epoch, homogeneous, self.topics, self.settings)
        planned = plan.compute(self.now_ms)
        self.records += planned.records
        return epoch, planned.own

    def _may_plan(self) -> bool:
        """The first target is computed at once, others only after the assignment interval (KIP-1263)."""
        last_ms, interval_ms = self.group.target_at_ms, self.settings.assignment_interval_ms
        return last_ms is None or not interval_ms or self.now_ms >= last_ms + interval_ms

    # Reconciliation

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
