"""Validation of commits, and the expiry of committed offsets (Kafka: OffsetMetadataManager)."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from assignors.model import TopicPartition
from assignors.simulation.classic.group import ClassicGroup
from assignors.simulation.classic.messages import Commit
from assignors.simulation.classic.offsets import refusal as refusal_of_classic
from assignors.simulation.classic.offsets import refusal_without_group
from assignors.simulation.classic.records import OffsetRecord
from assignors.simulation.consumer.group import ConsumerGroup
from assignors.simulation.consumer.members import Member
from assignors.simulation.consumer.topics import Topics
from assignors.simulation.errors import KafkaError, Refused

_FIRST_VERSION_OF_EPOCHS = 9


def check_commit(group: ConsumerGroup | None, is_simple: bool, request: Commit, topics: Topics) -> None:
    """Raises Refused if the commit is not accepted. `is_simple`: the group consists of commits only."""
    error = _refusal_without_members(is_simple, request) if group is None else _refusal(group, request, topics)
    if error is not KafkaError.NONE:
        raise Refused(error)


def _refusal_without_members(is_simple: bool, request: Commit) -> KafkaError:
    """Commits without membership create a simple group: classic to Kafka, and always Empty."""
    if request.generation >= 0 and not is_simple:
        return refusal_without_group(request)
    return refusal_of_classic(ClassicGroup(0), request)


def _refusal(group: ConsumerGroup, request: Commit, topics: Topics) -> KafkaError:
    if request.generation < 0 and not group.members:
        return KafkaError.NONE
    if request.member_id not in group.members:
        return KafkaError.UNKNOWN_MEMBER_ID
    if request.version < _FIRST_VERSION_OF_EPOCHS:
        return KafkaError.UNSUPPORTED_VERSION
    member = group.members[request.member_id]
    if request.generation == member.epoch:
        return KafkaError.NONE
    is_late = request.generation < member.epoch and _held_since(member, request, topics)
    return KafkaError.NONE if is_late else KafkaError.STALE_MEMBER_EPOCH


def _held_since(member: Member, request: Commit, topics: Topics) -> bool:
    """Whether the member has held all of these partitions since that epoch or longer."""
    held = {**member.pending, **member.assigned}
    partitions = [topics.partition(partition) for partition, _ in request.offsets]
    return all(tp is not None and tp in held and request.generation >= held[tp] for tp in partitions)


def tombstones(
    offsets: Mapping[TopicPartition, OffsetRecord], subscribed: Collection[str], oldest_ms: int
) -> list[OffsetRecord]:
    """Tombstones of old offsets in topics without subscribers."""
    gone = [kept for kept in offsets.values() if kept.committed_ms <= oldest_ms]
    return [replace(kept, offset=None) for kept in gone if kept.partition.topic not in subscribed]
