"""Subscriptions and assignments of consumers in the record of a classic group.

Source: org.apache.kafka.clients.consumer.internals.ConsumerProtocol (v0-v3; a later version is read as v3, and further
bytes are ignored). Connect and other users of the classic protocol have other formats.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, TypeVar

from lag.records.message_schema import BytesOrNone, Int32, Since, Text, TextOrNone, read_leading
from lag.records.wire_reader import Cursor, Malformed

PROTOCOL_TYPE = "consumer"

_VERSION_BYTES = 2

_cached = lru_cache(2_000)
"""Every record of a group and every poll repeat the bytes of members that have not changed."""


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


@dataclass(frozen=True, slots=True)
class ReadMember:
    """What a member wrote. None: it wrote no subscription, or the part cannot be decoded.

    `version` is the subscription's, as written. `problems` has the name of each part that cannot be decoded, and why.
    """

    subscription: Subscription | None
    assignment: MemberAssignment | None
    version: int
    problems: tuple[tuple[str, str], ...]


def read_member(subscription: bytes, assignment: bytes) -> ReadMember:
    """Decode both parts; one that cannot be decoded does not hide the other. Without bytes nothing is assigned.

    Clients leave out the last fields of the version that they write, as kafka-go does with the owned partitions of
    version 1: these have their defaults. A part that ends within a field is a problem, and so is one with a negative
    partition, since no broker checks what clients write.
    """
    asked, not_asked = _read(Subscription, subscription) if subscription else (None, None)
    given, not_given = _read(MemberAssignment, assignment) if assignment else (MemberAssignment(), None)
    reasons = {"subscription": not_asked, "assignment": not_given}
    problems = tuple((part, reason) for part, reason in reasons.items() if reason is not None)
    return ReadMember(asked, given, int.from_bytes(subscription[:_VERSION_BYTES], "big"), problems)


Part = TypeVar("Part", Subscription, MemberAssignment)


@_cached
def _read(kind: type[Part], data: bytes) -> tuple[Part | None, str | None]:
    """The part, or why it cannot be decoded."""
    cursor = Cursor(data)
    try:
        version = cursor.int16()
        if version < 0:
            raise Malformed(f"version {version}")
        made = read_leading(kind, cursor, min(version, kind.VERSIONS[-1]))
        _check(made.owned if isinstance(made, Subscription) else made.partitions)
    except Malformed as malformed:
        return None, str(malformed)
    return made, None


def _check(topics: tuple[TopicPartitions, ...]) -> None:
    for each in topics:
        if (lowest := min(each.partitions, default=0)) < 0:
            raise Malformed(f"partition {lowest} of {each.topic}")
