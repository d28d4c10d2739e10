"""Subscriptions and assignments as consumers write them (Kafka: `ConsumerProtocol`, version 3).

subscription = version, topics, user data, owned partitions, generation, rack
assignment   = version, partitions, user data
"""

import struct
from collections.abc import Sequence

from assignors.model import Member, TopicPartition, by_topic
from assignors.protocol_bytes import INT16, INT32, Reader, data, partitions, text

VERSION = INT16.pack(3)


def encode_subscription(member: Member) -> bytes:
    """The subscription of a join request; topics and owned partitions are sorted, as in Kafka's consumer."""
    parts = [
        VERSION,
        INT32.pack(len(member.topics)),
        *map(text, sorted(member.topics)),
        data(member.user_data),
        partitions(by_topic(sorted(member.owned))),
        INT32.pack(-1 if member.generation is None else member.generation),
        text(member.rack),
    ]
    return b"".join(parts)


def decode_subscription(metadata: bytes, member_id: str, instance_id: str | None) -> Member:
    """The member as the leader sees it. Raises struct.error on bytes that `encode_subscription` did not write."""
    reader = Reader(metadata)
    topics = _topics(reader)
    user_data, owned, generation, rack = reader.data(), reader.partitions(), reader.int32(), reader.text()
    known = None if generation < 0 else generation
    return Member(member_id, instance_id, rack=rack, topics=topics, owned=owned, generation=known, user_data=user_data)


def subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics of a subscription of any version, as the coordinator reads them; None if the bytes are none."""
    try:
        return frozenset(_topics(Reader(metadata)))
    except struct.error:
        return None


def _topics(reader: Reader) -> tuple[str, ...]:
    """All versions start like version 0: version, topics."""
    reader.int16()
    return tuple(reader.name() for _ in range(reader.count()))


def encode_assignment(assigned: Sequence[TopicPartition]) -> bytes:
    """A member's assignment."""
    return VERSION + partitions(by_topic(assigned)) + data(None)


def decode_assignment(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions of an assignment; none if the leader did not assign the member."""
    if not assignment:
        return ()
    reader = Reader(assignment)
    reader.int16()
    return reader.partitions()
