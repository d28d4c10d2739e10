"""The order in which Kafka's TimelineHashMap iterates, in which the coordinator hands members to an assignor."""

from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from typing import TypeVar

from assignors.javahash import string_hash

V = TypeVar("V")

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = 2**64 - 1
_LEAST_CAPACITY = 2


class TimelineMap(MutableMapping[str, V]):
    """A dict that iterates as `org.apache.kafka.timeline.TimelineHashMap` of String keys does.

    Chained buckets, chosen by the high bits of the hash code times the golden ratio (BaseHashTable), each read from its
    end (SnapshottableHashTable).
    """

    __slots__ = ("_bits", "_buckets", "_values")

    def __init__(self) -> None:
        self._bits = 1
        self._buckets: dict[int, list[str]] = {}
        self._values: dict[str, V] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, key: str) -> V:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        """Keys in Kafka's order at this moment: changes during the loop do not disturb it."""
        return iter([key for slot in sorted(self._buckets) for key in reversed(self._buckets[slot])])

    def __setitem__(self, key: str, value: V) -> None:
        """Insert the key. A full table doubles first, even if the key exists already."""
        if (len(self._values) + 1) * 3 > _LEAST_CAPACITY ** (self._bits + 2):
            self._double()
        if key not in self._values:
            self._buckets.setdefault(self._slot(key), []).append(key)
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]
        slot = self._slot(key)
        self._buckets[slot].remove(key)
        if not self._buckets[slot]:
            del self._buckets[slot]

    def _double(self) -> None:
        keys = [key for slot in sorted(self._buckets) for key in self._buckets[slot]]
        self._bits += 1
        self._buckets = {}
        for key in keys:
            self._buckets.setdefault(self._slot(key), []).append(key)

    def _slot(self, key: str) -> int:
        return _mixed(key) >> (64 - self._bits)


@lru_cache(maxsize=65536)
def _mixed(key: str) -> int:
    return string_hash(key) * _GOLDEN & _WORD
