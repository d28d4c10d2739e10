"""Validation of commits, and the expiry of committed offsets (Kafka: OffsetMetadataManager)."""

from collections.abc import Mapping
from dataclasses import replace

from assignors.model import TopicPartition
from assignors.simulation.classic.group import ClassicGroup, State
from assignors.simulation.classic.messages import Commit
from assignors.simulation.classic.records import OffsetRecord
from assignors.simulation.errors import KafkaError

_FIRST_VERSION_OF_MISSING_GROUPS = 9

Offsets = dict[TopicPartition, OffsetRecord]


def refusal_without_group(request: Commit) -> KafkaError:
    """The error of a commit when the group does not exist."""
    newer = request.version >= _FIRST_VERSION_OF_MISSING_GROUPS
    return KafkaError.GROUP_ID_NOT_FOUND if newer else KafkaError.ILLEGAL_GENERATION


def refusal(group: ClassicGroup, request: Commit) -> KafkaError:
    """NONE if the commit is accepted."""
    if group.state is State.DEAD:
        return KafkaError.COORDINATOR_NOT_AVAILABLE
    if request.generation < 0 and group.state is State.EMPTY:
        return KafkaError.NONE
    if request.generation < 0 and not request.member_id and request.instance_id is None:
        return KafkaError.UNKNOWN_MEMBER_ID  # a consumer without membership cannot commit while the group has members
    error = group.validate_current(request)
    if error is not KafkaError.NONE:
        return error
    return KafkaError.REBALANCE_IN_PROGRESS if group.state is State.COMPLETING_REBALANCE else KafkaError.NONE


def expired(group: ClassicGroup, offsets: Mapping[TopicPartition, OffsetRecord], oldest_ms: int) -> list[OffsetRecord]:
    """Tombstones of expired offsets, by the time of the commit or the time since which the group is Empty."""
    if group.protocol_type is None:
        gone = [kept for kept in offsets.values() if kept.committed_ms <= oldest_ms]
    elif group.state is State.EMPTY:
        gone = list(offsets.values()) if group.state_since_ms <= oldest_ms else []
    elif group.state is State.STABLE and group.subscribed is not None:
        gone = [kept for kept in offsets.values() if kept.committed_ms <= oldest_ms]
    else:
        gone = []
    return [replace(kept, offset=None) for kept in gone if not group.subscribes(kept.partition.topic)]
