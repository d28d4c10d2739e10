"""The records of a KIP-848 group in `__consumer_offsets`."""

from dataclasses import dataclass

from assignors.simulation import log
from assignors.simulation.classic.records import GroupTombstone, OffsetRecord
from assignors.simulation.consumer.members import Held, Member, MemberState
from assignors.simulation.consumer.messages import TopicIdPartition
from assignors.simulation.consumer.topics import Fingerprint


@dataclass(frozen=True, slots=True)
class SubscriptionRecord:
    """ConsumerGroupMemberMetadataValue: a member's subscription; topics are sorted."""

    member_id: str
    instance_id: str | None
    client_id: str
    rebalance_timeout_ms: int
    topics: tuple[str, ...]
    regex: str
    assignor: str | None

    @classmethod
    def of(cls, member: Member) -> "SubscriptionRecord":
        topics = tuple(sorted(member.topics))
        return cls(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.rebalance_timeout_ms,
            topics,
            member.regex,
            member.assignor,
        )


@dataclass(frozen=True, slots=True)
class CurrentRecord:
    """ConsumerGroupCurrentMemberAssignmentValue: a member's current assignment."""

    member_id: str
    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: Held
    pending: Held

    @classmethod
    def of(cls, member: Member) -> "CurrentRecord":
        return cls(member.member_id, member.epoch, member.previous_epoch, member.state, member.assigned, member.pending)


@dataclass(frozen=True, slots=True)
class TargetRecord:
    """ConsumerGroupTargetAssignmentMemberValue: a member's target, in the assignor's order."""

    member_id: str
    partitions: tuple[TopicIdPartition, ...]


@dataclass(frozen=True, slots=True)
class MemberTombstone:
    """A member was removed: tombstones of its assignments and its subscription."""

    member_id: str


@dataclass(frozen=True, slots=True)
class TargetEpochRecord:
    """ConsumerGroupTargetAssignmentMetadataValue: the epoch of the target, and when it was computed."""

    epoch: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """ConsumerGroupMetadataValue: the group epoch, and the topics of that time."""

    epoch: int
    seen: Fingerprint


@dataclass(frozen=True, slots=True)
class RegexRecord:
    """ConsumerGroupRegularExpressionValue: the matching topics, with the metadata version and the time."""

    regex: str
    topics: tuple[str, ...]
    version: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class RegexTombstone:
    """The regular expression has no members any more."""

    regex: str


GroupRecord = (
    SubscriptionRecord
    | CurrentRecord
    | TargetRecord
    | MemberTombstone
    | TargetEpochRecord
    | EpochRecord
    | RegexRecord
    | RegexTombstone
)
Record = GroupRecord | GroupTombstone | OffsetRecord
Log = log.Log[Record]
InstantLog = log.InstantLog[Record]
