"""Requests of the classic protocol and their replies."""

from collections.abc import Callable
from dataclasses import dataclass

from assignors.model import TopicPartition
from assignors.simulation.errors import KafkaError

Protocols = tuple[tuple[str, bytes], ...]
"""(assignor, subscription bytes) pairs, the preferred assignor first."""

CONSUMER = "consumer"
"""The protocol type of consumers (`ConsumerProtocol.PROTOCOL_TYPE`)."""


@dataclass(frozen=True, slots=True)
class Join:
    """JoinGroup: `member_id` is "" for a new member; from version 4 on it must join again with its id (KIP-394)."""

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
    """`members` is empty except for the leader; with `skip_assignment` it must not assign (KIP-814)."""

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
    """SyncGroup: the leader sends (member id, assignment bytes) of all members."""

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
    """Heartbeat."""

    member_id: str
    generation: int
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """REBALANCE_IN_PROGRESS tells the member to rejoin."""

    error: KafkaError


@dataclass(frozen=True, slots=True)
class Leaver:
    """A member that leaves; an admin removes a static one by its instance id alone."""

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
    """OffsetCommit: offsets of the next records. Generation -1 and no member id: a consumer without membership."""

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
    """A reply to that request with only an error."""
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
    """The reply of a loading coordinator: heartbeats succeed (Kafka: GroupCoordinatorService)."""
    beats = isinstance(request, Heartbeat)
    return refusal(request, KafkaError.NONE if beats else KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
