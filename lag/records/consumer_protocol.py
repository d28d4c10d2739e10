"""What consumers write into a classic group's record: their subscriptions and assignments.

Source: org.apache.kafka.clients.consumer.internals.ConsumerProtocol (v0-v3; a later version is read as v3, bytes that
follow are left alone). Connect and other users of the classic protocol write formats of their own.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from lag.records.message_schema import BytesOrNone, Int32, Made, Since, Text, TextOrNone, read_message
from lag.records.wire_reader import Cursor, Malformed

PROTOCOL_TYPE = "consumer"


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """Partitions of one topic, by its name."""

    topic: Text
    partitions: tuple[Int32, ...]


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member asks for; what it owned when it asked, with the generation (-1: it does not say)."""

    VERSIONS: ClassVar = range(4)
    FLEXIBLE_SINCE: ClassVar = 4

    topics: tuple[Text, ...]
    user_data: BytesOrNone = None
    owned: Annotated[tuple[TopicPartitions, ...], Since(1)] = ()
    generation: Annotated[Int32, Since(2)] = -1
    rack: Annotated[TextOrNone, Since(3)] = None


@dataclass(frozen=True, slots=True)
class MemberAssignment:
    """What a member was given."""

    VERSIONS: ClassVar = range(4)
    FLEXIBLE_SINCE: ClassVar = 4

    partitions: tuple[TopicPartitions, ...] = ()
    user_data: BytesOrNone = None


def read_subscription(data: bytes) -> Subscription:
    """The subscription in these bytes. Raises Malformed."""
    return _read(Subscription, data)


def read_assignment(data: bytes) -> MemberAssignment:
    """The assignment in these bytes; none at all: the member was given nothing. Raises Malformed."""
    return _read(MemberAssignment, data) if data else MemberAssignment()


def _read(kind: type[Made], data: bytes) -> Made:
    cursor = Cursor(data)
    version = cursor.int16()
    if version < 0:
        raise Malformed(f"version {version}")
    return read_message(kind, cursor, min(version, kind.VERSIONS[-1]))
