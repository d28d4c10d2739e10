"""The partitions that a member of a sticky group owned, in bytes (Kafka: user data of `StickyAssignor`, v0 and v1).

    v0 = partitions by topic; v1 = v0, generation

v1 is tried first, and what follows it is ignored.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from assignors import protocol_bytes
from assignors.javahash import STRINGS, JavaHashMap
from assignors.model import TopicPartition
from assignors.protocol_bytes import INT32, Reader


@dataclass(frozen=True, slots=True)
class Owned:
    """What a member owned, and as of which generation (-1: unknown, or the bytes cannot be read)."""

    partitions: tuple[TopicPartition, ...] = ()
    generation: int = -1


NOTHING = Owned()


def encode(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """What Kafka's sticky assignor writes, v1.

    >>> encode([TopicPartition("t", 0), TopicPartition("t", 2)], 5).hex(" ", 4)
    '000000 01000174 00000002 00000000 00000002 00000005'
    """
    return protocol_bytes.partitions(by_topic(partitions)) + INT32.pack(generation)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Numbers by topic, topics in the order in which Kafka's HashMap writes them."""
    plain: dict[str, list[int]] = defaultdict(list)
    ends_with_new = False
    for partition in partitions:
        ends_with_new = partition.topic not in plain
        plain[partition.topic].append(partition.partition)
    return {topic: plain[topic] for topic in written_order(tuple(plain), ends_with_new)}


@lru_cache(maxsize=64)
def written_order(topics: tuple[str, ...], ends_with_new: bool) -> tuple[str, ...]:
    """Distinct topics, given as they first appear, in the order in which Kafka writes them.

    `ends_with_new`: the last partition is the first one of its topic. An overfull HashMap grows at the start of the
    next `computeIfAbsent` only, and Kafka calls it for each partition.
    """
    order: JavaHashMap[str, bool] = JavaHashMap(STRINGS)
    for topic in topics if ends_with_new else (*topics, *topics[:1]):
        order.compute_if_absent(topic, bool)
    return tuple(order)


def decode(data: bytes) -> Owned:
    """What Kafka's sticky assignor reads. Never raises: bytes that cannot be read are `NOTHING`.

    >>> decode(encode([TopicPartition("t", 2)], 5))
    Owned(partitions=(TopicPartition(topic='t', partition=2),), generation=5)
    >>> decode(b"what is this?")
    Owned(partitions=(), generation=-1)
    """
    reader = Reader(data)
    try:
        partitions = reader.partitions()
    except struct.error:
        return NOTHING
    return Owned(partitions, reader.int32() if reader.left >= INT32.size else -1)


def decode_generation(data: bytes) -> int:
    """The user data of `cooperative-sticky`: a generation; -1 when it cannot be read."""
    return Reader(data).int32() if len(data) >= INT32.size else -1
