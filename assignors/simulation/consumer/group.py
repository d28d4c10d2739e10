"""A KIP-848 group: members, epochs, target assignment and owners (Kafka: ConsumerGroup). Only records change it."""

from collections import Counter
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from enum import StrEnum

from assignors.simulation.consumer.members import Held, Member
from assignors.simulation.consumer.messages import TopicIdPartition
from assignors.simulation.consumer.records import (
    CurrentRecord,
    EpochRecord,
    GroupRecord,
    MemberTombstone,
    RegexRecord,
    RegexTombstone,
    SubscriptionRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.consumer.timeline_map import TimelineMap
from assignors.simulation.consumer.topics import Fingerprint
from assignors.simulation.errors import KafkaError, Refused

Target = tuple[TopicIdPartition, ...]
NO_EPOCH = -1
_FIRST_EPOCH = 1


class GroupState(StrEnum):
    """Kafka: ConsumerGroupState. (Dead is a group that does not exist.)"""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class ConsumerGroup:
    """Empty at first, at epoch 1. `owners`: the epoch of the member that owns, or may still own, a partition.

    `reconciled` counts, by epoch, the members that have exactly their target.
    """

    def __init__(self) -> None:
        self.epoch = self.target_epoch = _FIRST_EPOCH
        self.target_at_ms: int | None = None
        self.members: TimelineMap[Member] = TimelineMap()
        self.static_ids: dict[str, str] = {}
        self.target: dict[str, Target] = {}
        self.owners: dict[TopicIdPartition, int] = {}
        self.reconciled: Counter[int] = Counter()
        self.by_name: Counter[str] = Counter()
        self.regexes: Counter[str] = Counter()
        self.resolved: dict[str, RegexRecord] = {}
        self.assignors: TimelineMap[int] = TimelineMap()
        self.homogeneous = True
        self.seen: Fingerprint = frozenset()
        self._refresh_after_ms = self._refreshed_epoch = 0

    # Queries

    @property
    def state(self) -> GroupState:
        """Derived from the epochs."""
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.target_epoch:
            return GroupState.ASSIGNING
        are_reconciled = self.reconciled[self.target_epoch] == len(self.members)
        return GroupState.STABLE if are_reconciled else GroupState.RECONCILING

    def member(self, member_id: str) -> Member:
        """Raises Refused (UNKNOWN_MEMBER_ID)."""
        if member_id not in self.members:
            raise Refused(KafkaError.UNKNOWN_MEMBER_ID)
        return self.members[member_id]

    def static_member(self, instance_id: str) -> Member | None:
        """The member with that instance id. Raises Refused when that member has left under another instance id."""
        member_id = self.static_ids.get(instance_id)
        return None if member_id is None else self.member(member_id)

    def target_of(self, member: Member) -> Target:
        """The target of a member, or of the static member that it replaces."""
        member_id = member.member_id if member.instance_id is None else self.static_ids.get(member.instance_id, "")
        return self.target.get(member_id, ())

    def matched(self, without: str | None = None) -> set[str]:
        """Topics that the resolved regular expressions match, except that one."""
        found = (record.topics for regex, record in self.resolved.items() if regex != without)
        return set().union(*found)

    def subscribed(self) -> set[str]:
        """Topics subscribed by name or by a resolved regular expression."""
        return self.matched().union(self.by_name)

    def topics_of(self, member: Member) -> tuple[str, ...]:
        """The topics of a member, by name and by its resolved expression; the longer list first."""
        record = self.resolved.get(member.regex)
        matched = () if record is None else record.topics
        if not member.topics or not matched:
            return member.listed or matched
        first, second = (member.listed, matched) if len(member.topics) > len(matched) else (matched, member.listed)
        return tuple(dict.fromkeys((*first, *second)))

    # The metadata refresh, which is not persisted

    def refreshed(self, until_ms: int, epoch: int) -> None:
        """Check the topics again after that time, or if that epoch was not reached."""
        self._refresh_after_ms, self._refreshed_epoch = until_ms, epoch

    def wants_refresh(self, now_ms: int) -> bool:
        """Whether the next heartbeat must check the topics."""
        return now_ms >= self._refresh_after_ms or self.epoch < self._refreshed_epoch

    # Records

    def replay(self, record: GroupRecord) -> None:
        match record:
            case SubscriptionRecord():
                self._subscribe(record)
            case CurrentRecord():
                self._progress(record)
            case TargetRecord():
                self.target[record.member_id] = record.partitions
            case MemberTombstone():
                self._remove(record.member_id)
            case TargetEpochRecord():
                self.target_epoch, self.target_at_ms = record.epoch, record.at_ms
            case EpochRecord():
                self.epoch, self.seen = record.epoch, record.seen
            case RegexRecord():
                self.resolved[record.regex] = record
            case RegexTombstone():
                self.resolved.pop(record.regex, None)

    def _subscribe(self, record: SubscriptionRecord) -> None:
        old = self.members.get(record.member_id, Member(record.member_id))
        new = replace(
            old,
            instance_id=record.instance_id,
            client_id=record.client_id,
            rebalance_timeout_ms=record.rebalance_timeout_ms,
            topics=frozenset(record.topics),
            listed=record.topics,
            regex=record.regex,
            assignor=record.assignor,
        )
        self._update(new)

    def _progress(self, record: CurrentRecord) -> None:
        old = self.members.get(record.member_id, Member(record.member_id))
        new = replace(
            old,
            epoch=record.epoch,
            previous_epoch=record.previous_epoch,
            state=record.state,
            assigned=record.assigned,
            pending=record.pending,
        )
        self._update(new)

    def _update(self, new: Member) -> None:
        self._uncount(self.members.get(new.member_id))
        self.members[new.member_id] = new
        self.reconciled[new.epoch] += new.is_reconciled_to(new.epoch)
        self.by_name.update(new.topics)
        if new.regex:
            self.regexes[new.regex] += 1
        if new.assignor is not None:
            self.assignors[new.assignor] = self.assignors.get(new.assignor, 0) + 1
        self._own(new.assigned, new.epoch)
        self._own(new.pending, new.epoch)
        if new.instance_id is not None:
            self.static_ids[new.instance_id] = new.member_id
        self.homogeneous = is_homogeneous(self.regexes, self.by_name, self.resolved, len(self.members))

    def _uncount(self, old: Member | None) -> None:
        if old is None:
            return
        self.reconciled[old.epoch] -= old.is_reconciled_to(old.epoch)
        for name in old.topics:
            count_off(self.by_name, name)
        if old.regex:
            count_off(self.regexes, old.regex)
        if old.assignor is not None:
            count_off(self.assignors, old.assignor)
        for partition in (*old.assigned, *old.pending):
            if self.owners.get(partition) == old.epoch:
                del self.owners[partition]

    def _own(self, held: Held, epoch: int) -> None:
        for partition in held:
            if self.owners.get(partition, epoch - 1) >= epoch:
                raise RuntimeError(f"{partition} is owned already, at epoch {self.owners[partition]}")
            self.owners[partition] = epoch

    def _remove(self, member_id: str) -> None:
        self.target.pop(member_id, None)
        if member_id in self.members:
            self._update(replace(self.members[member_id], epoch=NO_EPOCH, assigned={}, pending={}))
            old = self.members.pop(member_id)
            self._uncount(old)
            if old.instance_id is not None:
                self.static_ids.pop(old.instance_id, None)
            self.homogeneous = is_homogeneous(self.regexes, self.by_name, self.resolved, len(self.members))


def count_off(counts: MutableMapping[str, int], name: str) -> None:
    """Decrement the count, and remove it at 0."""
    counts[name] -= 1
    if not counts[name]:
        del counts[name]


def is_homogeneous(
    regexes: Mapping[str, int], by_name: Mapping[str, int], resolved: Mapping[str, RegexRecord], members: int
) -> bool:
    """Whether Kafka regards all subscriptions as equal: all by name, or all by one regular expression."""
    matches = Counter(name for record in resolved.values() for name in record.topics)
    if not regexes:
        return all(by_name.get(name, 0) == members for name in by_name.keys() | matches.keys())
    if next(iter(regexes.values())) != members:
        return False
    return not by_name and all(count == 1 for count in matches.values())
