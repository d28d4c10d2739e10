"""The records of a classic group in `__consumer_offsets`."""

from dataclasses import dataclass

from assignors.model import TopicPartition
from assignors.simulation import log


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """A member in GroupMetadataValue, with its subscription for the selected protocol only."""

    member_id: str
    instance_id: str | None
    client_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """GroupMetadataValue."""

    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    state_since_ms: int
    members: tuple[MemberRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupTombstone:
    """The group is deleted."""


@dataclass(frozen=True, slots=True)
class OffsetRecord:
    """A committed offset; None = deleted."""

    partition: TopicPartition
    offset: int | None
    committed_ms: int


Record = GroupRecord | GroupTombstone | OffsetRecord
Log = log.Log[Record]
InstantLog = log.InstantLog[Record]
