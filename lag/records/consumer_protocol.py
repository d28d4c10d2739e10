"""Subscriptions and assignments of consumers in the record of a classic group.

Source: org.apache.kafka.clients.consumer.internals.ConsumerProtocol (v0-v3; a later version is read as v3, and further
bytes are ignored). Connect and other users of the classic protocol have other formats.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

from lag.records.message_schema import BytesOrNone, Int32, Made, Since, Text, TextOrNone, read_message
from lag.records.wire_reader import Cursor, Malformed

PROTOCOL_TYPE = "consumer"

_cached = lru_cache(1_000)
"""Every record of a group repeats the bytes of members that have not changed."""


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """Partitions of one topic, by its name."""

    topic: Text
    partitions: tuple[Int32, ...]


@dataclass(frozen=True, slots=True)
class Subscription:
    """The subscription of a member, with the partitions it owned and their generation (-1: not in the record)."""

    VERSIONS: ClassVar = range(4)
    FLEXIBLE_SINCE: ClassVar = 4

    topics: tuple[Text, ...]
    user_data: BytesOrNone = None
    owned: Annotated[tuple[TopicPartitions, ...], Since(1)] = ()
    generation: Annotated[Int32, Since(2)] = -1
    rack: Annotated[TextOrNone, Since(3)] = None


@dataclass(frozen=True, slots=True)
class MemberAssignment:
    """The assignment of a member."""

    VERSIONS: ClassVar = range(4)
    FLEXIBLE_SINCE: ClassVar = 4

    partitions: tuple[TopicPartitions, ...] = ()
    user_data: BytesOrNone = None


@_cached
def read_subscription(data: bytes) -> Subscription:
    """The subscription in these bytes. Raises Malformed."""
    return _read(Subscription, data)


@_cached
def read_assignment(data: bytes) -> MemberAssignment:
    """The assignment in these bytes; without bytes an empty one. Raises Malformed."""
    return _read(MemberAssignment, data) if data else MemberAssignment()


def _read(kind: type[Made], data: bytes) -> Made:
    cursor = Cursor(data)
    version = cursor.int16()
    if version < 0:
        raise Malformed(f"version {version}")
    return read_message(kind, cursor, min(version, kind.VERSIONS[-1]))
