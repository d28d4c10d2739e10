"""The bytes in which a member of a sticky group says what it owned (Kafka: `StickyAssignor`'s user data, v0 and v1).

    v0 = count, then per topic: name (int16 length, UTF-8), count, partitions; v1 = v0, generation

All numbers are int32 unless said otherwise, big-endian. What follows them is ignored, and v1 is tried first.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from assignors.javahash import STRINGS, JavaHashMap
from assignors.model import TopicPartition

_INT32 = struct.Struct(">i")
_INT16 = struct.Struct(">h")


@dataclass(frozen=True, slots=True)
class Owned:
    """What a member owned, and as of which generation (-1: it does not say, or not legibly)."""

    partitions: tuple[TopicPartition, ...] = ()
    generation: int = -1


NOTHING = Owned()


def encode(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """What Kafka's sticky assignor writes, v1.

    >>> encode([TopicPartition("t", 0), TopicPartition("t", 2)], 5).hex(" ", 4)
    '000000 01000174 00000002 00000000 00000002 00000005'
    """
    topics = by_topic(partitions)
    parts = [_INT32.pack(len(topics))]
    for topic, numbers in topics.items():
        name = topic.encode()
        parts += (_INT16.pack(len(name)), name, struct.pack(f">{len(numbers) + 1}i", len(numbers), *numbers))
    return b"".join((*parts, _INT32.pack(generation)))


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
    """What Kafka's sticky assignor reads. Never raises: illegible bytes say nothing, of generation -1.

    >>> decode(encode([TopicPartition("t", 2)], 5))
    Owned(partitions=(TopicPartition(topic='t', partition=2),), generation=5)
    >>> decode(b"what is this?")
    Owned(partitions=(), generation=-1)
    """
    try:
        partitions, end = _read_partitions(data)
    except struct.error:
        return NOTHING
    if len(data) < end + _INT32.size:
        return Owned(partitions)
    return Owned(partitions, _INT32.unpack_from(data, end)[0])


def decode_generation(data: bytes) -> int:
    """The user data of `cooperative-sticky`: a generation; -1 when it cannot be read."""
    return int(_INT32.unpack_from(data)[0]) if len(data) >= _INT32.size else -1


def _read_partitions(data: bytes) -> tuple[tuple[TopicPartition, ...], int]:
    """The partitions and where they end. Raises struct.error when the bytes are no such list."""
    topics, at = _read_count(data, 0)
    partitions: list[TopicPartition] = []
    for _ in range(topics):
        name, at = _read_name(data, at)
        count, at = _read_count(data, at)
        numbers = struct.unpack_from(f">{count}i", data, at)
        at += count * _INT32.size
        partitions += [TopicPartition(name, number) for number in numbers]
    return tuple(partitions), at


def _read_count(data: bytes, at: int) -> tuple[int, int]:
    (count,) = _INT32.unpack_from(data, at)
    if not 0 <= count <= len(data) - at - _INT32.size:
        raise struct.error(f"an array of {count} elements at {at}")
    return count, at + _INT32.size


def _read_name(data: bytes, at: int) -> tuple[str, int]:
    (length,) = _INT16.unpack_from(data, at)
    end = at + _INT16.size + length
    if length < 0 or end > len(data):
        raise struct.error(f"a name of {length} bytes at {at}")
    return data[at + _INT16.size : end].decode(errors="replace"), end
