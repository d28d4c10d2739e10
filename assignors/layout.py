"""Partitions as int32 codes.

Topics are sorted by name; a partition's code is the offset of its topic, the number of partitions of all topics
before it, plus the partition's number.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, repeat
from operator import itemgetter
from typing import overload

import numpy as np
from numpy.typing import NDArray

from assignors.memory import collector_at_rest
from assignors.model import TopicPartition

Codes = NDArray[np.int32]
UNKNOWN = -1

_topic_of = itemgetter(0)
_partition_of = itemgetter(1)
_make = partial(tuple.__new__, TopicPartition)  # half the time of calling the class


class Layout:
    """The codes of the partitions of some topics. Two layouts of equal topics give equal codes.

    `counts: int64[n_topics]`: partitions of each topic. `offsets: int64[n_topics + 1]`: the code of each topic's
    partition 0, and the number of all partitions at the end. `position`: of each topic's name in `names`.
    """

    __slots__ = ("_topic_table", "counts", "names", "offsets", "position")

    def __init__(self, partitions: Mapping[str, int]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(partitions, key=java_order))
        self.counts: NDArray[np.int64] = np.array([partitions[name] for name in self.names], dtype=np.int64)
        self.offsets: NDArray[np.int64] = np.zeros(len(self.names) + 1, dtype=np.int64)
        np.cumsum(self.counts, out=self.offsets[1:])
        self.position: dict[str, int] = {name: number for number, name in enumerate(self.names)}
        self._topic_table: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def is_like(self, other: "Layout") -> bool:
        """Whether both give every partition the same code."""
        return self is other or (self.names == other.names and bool(np.array_equal(self.offsets, other.offsets)))

    def locate(self, partitions: Sequence[TopicPartition]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The topic position, int32[n], and the number, int64[n], of each partition.

        A topic that is not in the layout has position -1. Numbers are not checked.
        """
        if isinstance(partitions, PartitionList):
            return self._translate(partitions)
        positions = map(self.position.get, map(_topic_of, partitions), repeat(UNKNOWN))
        count = len(partitions)
        numbers = np.fromiter(map(_partition_of, partitions), dtype=np.int64, count=count)
        return np.fromiter(positions, dtype=np.int32, count=count), numbers

    def _translate(self, partitions: "PartitionList") -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        other = partitions.layout
        theirs = other.topics_of(partitions.codes)
        ours = np.array([*map(self.position.get, other.names, repeat(UNKNOWN)), UNKNOWN], dtype=np.int32)
        return ours[theirs], partitions.codes - other.offsets[theirs]

    def topics_of(self, codes: Codes) -> NDArray[np.intp]:
        """The topic position of each code: intp[n_codes]."""
        if len(codes) * 4 > len(self):
            return self.topic_table()[codes].astype(np.intp)
        return np.searchsorted(self.offsets, codes, side="right") - 1

    def topic_table(self) -> NDArray[np.int32]:
        """The topic position of every partition, by code: int32[len(self)], the same array at each call."""
        if self._topic_table is None:
            self._topic_table = np.repeat(np.arange(len(self.names), dtype=np.int32), self.counts)
            self._topic_table.flags.writeable = False
        return self._topic_table

    def shared(self) -> NDArray[np.object_]:
        """Every partition by code: object[len(self)], the same objects for all layouts of equal topics."""
        return _objects(self.names, tuple(self.counts.tolist()))

    def decode(self, codes: Codes) -> list[TopicPartition]:
        """The partitions of `codes: int32[n]`, in their order."""
        topics = self.topics_of(codes)
        numbers = (codes - self.offsets[topics]).tolist()
        return list(map(_make, zip(map(self.names.__getitem__, topics.tolist()), numbers, strict=True)))


@lru_cache(maxsize=2)
def _objects(names: Sequence[str], counts: Sequence[int]) -> NDArray[np.object_]:
    """The partitions of a layout, by code. All plans of a group share them: creating a million takes half a second."""
    numbers = range(max(counts, default=0))
    of_topics = (map(_make, zip(repeat(name), numbers[:count])) for name, count in zip(names, counts, strict=True))
    with collector_at_rest():
        found = np.fromiter(chain.from_iterable(of_topics), dtype=object, count=sum(counts))
    found.flags.writeable = False
    return found


class PartitionList(Sequence[TopicPartition]):
    """A sequence of partitions that stores `codes: int32[n]` and creates `TopicPartition` objects when it is read."""

    __slots__ = ("codes", "layout")

    def __init__(self, layout: Layout, codes: Codes) -> None:
        self.layout = layout
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> TopicPartition: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[TopicPartition]: ...
    def __getitem__(self, at: int | slice) -> TopicPartition | Sequence[TopicPartition]:
        if isinstance(at, slice):
            return self.layout.decode(self.codes[at])
        return self.layout.decode(self.codes[at : at + 1 or None])[0]

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self.layout.decode(self.codes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PartitionList({list(self)!r})"


@collector_at_rest()
def read_all(plan: Mapping[str, Sequence[TopicPartition]]) -> dict[str, list[TopicPartition]]:
    """Every list of a plan as objects, all at once: at a million partitions several times faster than one by one."""
    parts = [part for part in plan.values() if isinstance(part, PartitionList)]
    if len(parts) < len(plan) or any(part.layout is not parts[0].layout for part in parts):
        return {member: list(part) for member, part in plan.items()}
    partitions = parts[0].layout.shared() if parts else np.empty(0, object)
    # Neighbours of a topic follow each other in memory: by first partition it takes a third of the time of any order.
    by_memory = sorted(
        zip(plan, parts, strict=True), key=lambda pair: int(pair[1].codes[0]) if len(pair[1]) else UNKNOWN
    )
    read = {member: partitions.take(part.codes).tolist() for member, part in by_memory}
    return {member: read[member] for member in plan}


def java_order(text: str) -> bytes:
    """Sorts like Java's `String.compareTo`: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def id_order(texts: Sequence[str]) -> list[int]:
    """The positions of the texts in the order of Java's `String.compareTo`. Stable."""
    if all(map(str.isascii, texts)):
        return sorted(range(len(texts)), key=texts.__getitem__)
    return sorted(range(len(texts)), key=lambda position: java_order(texts[position]))
