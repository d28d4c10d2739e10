"""What members ask of the coordinator of a classic group, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass

from assignors.model import TopicPartition
from assignors.simulation.errors import KafkaError

Protocols = tuple[tuple[str, bytes], ...]
"""Assignors that a member offers, the preferred one first, each with the bytes of its subscription."""

CONSUMER = "consumer"
"""The protocol type of consumers (`ConsumerProtocol.PROTOCOL_TYPE`)."""


@dataclass(frozen=True, slots=True)
class Join:
    """JoinGroup: `member_id` is "" for a newcomer; from version 4 on it must come back with its id (KIP-394)."""

    client_id: str
    protocols: Protocols
    member_id: str = ""
    instance_id: str | None = None
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000
    protocol_type: str = CONSUMER
    version: int = 9


@dataclass(frozen=True, slots=True)
class JoinedMember:
    """A member as the leader sees it, with its subscription for the selected protocol."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class JoinReply:
    """`members` is for the leader alone; `skip_assignment` tells it to send no plan with its Sync (KIP-814)."""

    error: KafkaError
    member_id: str = ""
    generation: int = -1
    leader: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


@dataclass(frozen=True, slots=True)
class Sync:
    """SyncGroup: the leader brings the plan, (member id, assignment bytes) each."""

    member_id: str
    generation: int
    assignments: tuple[tuple[str, bytes], ...] = ()
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None


@dataclass(frozen=True, slots=True)
class SyncReply:
    """The member's own assignment."""

    error: KafkaError
    assignment: bytes = b""
    protocol_type: str | None = None
    protocol: str | None = None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A member is alive."""

    member_id: str
    generation: int
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """REBALANCE_IN_PROGRESS asks the member to join again."""

    error: KafkaError


@dataclass(frozen=True, slots=True)
class Leaver:
    """Who leaves; an admin removes a static member by its instance id alone."""

    member_id: str = ""
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """LeaveGroup: a batch from version 3 on, one member before."""

    members: tuple[Leaver, ...]
    version: int = 5


@dataclass(frozen=True, slots=True)
class LeaveReply:
    """An error for the whole request, and one for each of `members` (none before version 3)."""

    error: KafkaError
    members: tuple[tuple[Leaver, KafkaError], ...] = ()


@dataclass(frozen=True, slots=True)
class Commit:
    """OffsetCommit: offsets of the records to read next. Generation -1 and no id: a consumer without a group."""

    offsets: tuple[tuple[TopicPartition, int], ...]
    member_id: str = ""
    generation: int = -1
    instance_id: str | None = None
    version: int = 9


@dataclass(frozen=True, slots=True)
class CommitReply:
    """One error for all partitions."""

    error: KafkaError


Request = Join | Sync | Heartbeat | Leave | Commit
Reply = JoinReply | SyncReply | HeartbeatReply | LeaveReply | CommitReply
AnswerJoin = Callable[[JoinReply], None]
AnswerSync = Callable[[SyncReply], None]
AnswerLeave = Callable[[LeaveReply], None]
Answer = Callable[[Reply], None]


def refusal(request: Request, error: KafkaError) -> Reply:
    """The reply of that request's kind with nothing but an error."""
    match request:
        case Join():
            return JoinReply(error, request.member_id)
        case Sync():
            return SyncReply(error)
        case Heartbeat():
            return HeartbeatReply(error)
        case Leave():
            return LeaveReply(error)
        case Commit():
            return CommitReply(error)


def while_loading(request: Request) -> Reply:
    """What a loading coordinator answers: heartbeats pass, as it knows nobody yet (Kafka: GroupCoordinatorService)."""
    beats = isinstance(request, Heartbeat)
    return refusal(request, KafkaError.NONE if beats else KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
