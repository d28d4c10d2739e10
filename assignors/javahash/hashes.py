"""Java's hash codes of what Kafka keeps in hash maps, and the capacities of those maps.

All codes are signed 32-bit numbers, as Java's `hashCode()` returns them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from assignors.layout import java_order
from assignors.model import TopicPartition

K = TypeVar("K")
Hashes = NDArray[np.int32]

DEFAULT_CAPACITY = 16
LARGEST_CAPACITY = 1 << 30
NEWEST_RULE_JDK = 21
_OLD_RULE_JDK = 17
_WORD = 0xFFFFFFFF
_SIGN = 0x80000000
_LONG_SIGN = 1 << 63


def signed(number: int) -> int:
    """The low 32 bits as Java's int."""
    return ((number & _WORD) ^ _SIGN) - _SIGN


def spread(code: int) -> int:
    """What HashMap makes of a hash code before it takes the low bits: the high half mixed into the low one."""
    return code ^ ((code & _WORD) >> 16)


@lru_cache(maxsize=65536)  # Java's String keeps its hash code as well
def string_hash(text: str) -> int:
    """`String.hashCode`: over UTF-16 code units.

    >>> string_hash("orders"), string_hash("polygenelubricants")
    (-1008770331, -2147483648)
    """
    code = 0
    for unit in _units(text).tolist():
        code = (31 * code + unit) & _WORD
    return signed(code)


def _units(text: str) -> NDArray[np.uint16]:
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")


def string_hashes(texts: Sequence[str]) -> Hashes:
    """`String.hashCode` of many texts at once."""
    if not texts:
        return np.zeros(0, dtype=np.int32)
    units = _units("".join(texts))
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if int(lengths.sum()) != len(units):  # some characters take two units
        lengths = np.fromiter((len(_units(text)) for text in texts), dtype=np.int64, count=len(texts))
    ends = np.cumsum(lengths)
    powers = _powers_of_31(int(lengths.max()))
    terms = units * powers[np.repeat(ends, lengths) - 1 - np.arange(len(units))]
    # One 0 more, so that the sum over nothing (an empty text at the end) has a place to start from.
    sums = np.add.reduceat(np.append(terms, np.uint32(0)), ends - lengths, dtype=np.uint32)
    return np.where(lengths > 0, sums, np.uint32(0)).astype(np.uint32).view(np.int32)


def _powers_of_31(count: int) -> NDArray[np.uint32]:
    factors = np.full(max(count, 1), 31, dtype=np.uint32)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint32)


def uuid_hash(uuid: UUID) -> int:
    """`org.apache.kafka.common.Uuid.hashCode` (and `java.util.UUID`'s)."""
    folded = (uuid.int >> 64) ^ (uuid.int & (2**64 - 1))
    return signed((folded >> 32) ^ folded)


def uuid_order(uuid: UUID) -> tuple[int, int]:
    """Sorts like `Uuid.compareTo`: both halves as signed longs, the most significant first."""
    return (uuid.int >> 64) ^ _LONG_SIGN, (uuid.int & (2**64 - 1)) ^ _LONG_SIGN


def topic_partition_hash(partition: TopicPartition) -> int:
    """`org.apache.kafka.common.TopicPartition.hashCode`."""
    return signed(31 * (31 + partition.partition) + string_hash(partition.topic))


def topic_id_partition_hash(topic_id_code: int, partition: int) -> int:
    """`org.apache.kafka.server.common.TopicIdPartition.hashCode`, from the hash code of the topic's id."""
    return signed(31 * topic_id_code + partition)


def table_size_for(count: int) -> int:
    """Capacity of `new HashMap(count)`: the next power of two, at least 1."""
    return min(1 << max(count - 1, 0).bit_length(), LARGEST_CAPACITY)


def hash_set_capacity(size: int, jdk: int = NEWEST_RULE_JDK) -> int:
    """Capacity of `new HashSet(collection)` of `size` elements, on that JDK.

    The rule changed between JDK 17 and 21; it matters for sizes 12, 24, 48, ...

    >>> hash_set_capacity(12), hash_set_capacity(12, jdk=17)
    (16, 32)
    """
    if jdk <= _OLD_RULE_JDK:
        return table_size_for(max(int(np.float32(size) / np.float32(0.75)) + 1, DEFAULT_CAPACITY))
    return table_size_for(-(-max(size, 12) * 4 // 3))


def threshold(capacity: int) -> int:
    """The size beyond which a table of that capacity doubles."""
    return capacity * 3 // 4


@dataclass(frozen=True, slots=True)
class Keys(Generic[K]):
    """What HashMap asks of its keys: a hash code, and what sorts like their compareTo (None: not Comparable).

    Of keys that are not Comparable but share all 32 bits of their hash codes, and eight more keys their bucket, Java
    sorts the tree by memory address, which cannot be predicted; here the newer one counts as smaller.
    """

    hash_of: Callable[[K], int]
    order_of: Callable[[K], Any] | None = None


STRINGS: Keys[str] = Keys(string_hash, java_order)
INTEGERS: Keys[int] = Keys(int, int)
UUIDS: Keys[UUID] = Keys(uuid_hash, uuid_order)
TOPIC_PARTITIONS: Keys[TopicPartition] = Keys(topic_partition_hash)
