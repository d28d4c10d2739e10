"""What a coordinator writes to `__consumer_offsets`, and loads from there after a failover."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assignors.model import TopicPartition


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """A member as GroupMetadataValue keeps it: with its subscription for the selected protocol alone."""

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
    """A committed offset; None: deleted."""

    partition: TopicPartition
    offset: int | None
    committed_ms: int


Record = GroupRecord | GroupTombstone | OffsetRecord
Done = Callable[[], None]


class Log(Protocol):
    """Where records go. `done` is called when they and all before them are replicated: at once, or later."""

    def append(self, records: Sequence[Record], done: Done) -> None:
        """Write them."""


@dataclass(slots=True)
class InstantLog:
    """Every append is replicated at once."""

    records: list[Record] = field(default_factory=list)

    def append(self, records: Sequence[Record], done: Done) -> None:
        """Write them; they are replicated when this returns."""
        self.records.extend(records)
        done()
