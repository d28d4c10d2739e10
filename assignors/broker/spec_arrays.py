"""Arrays that the broker's assignors share: partitions as codes, hashes of topic ids, subscriptions."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import ServerGroup
from assignors.javahash import uuid_hash
from assignors.javahash.hashes import Hashes, uuid_order
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Topic, TopicPartition
from assignors.topic_ids import topic_uuid

Numbers = NDArray[np.int64]
Members = NDArray[np.intp]
_FEW = 400  # numbers that numpy sorts faster by merging than by radix


Reading = tuple[int, tuple[str, ...] | None]
"""A JDK on which a record is read, and the subscription of its member; None: no matter which."""


class BrokerList(PartitionList):
    """A member's partitions in the order of Kafka's containers.

    `read_as`: writing the list to a record and reading it back like this keeps its order, and the member subscribes to
    all its topics; None: not checked. `recorded`: the list in the order that reading the record gave; None: not read,
    or the same order.
    """

    __slots__ = ("read_as", "recorded")

    def __init__(self, layout: Layout, codes: Codes, read_as: Reading | None = None) -> None:
        self.layout = layout
        self.codes = codes
        self.read_as = read_as
        self.recorded: BrokerList | None = None


def as_read(owned: Sequence[TopicPartition], layout: Layout, reading: Reading) -> BrokerList | None:
    """The list in the order that reading its record gives; None: not known of such a reading, in that very layout."""
    known = owned.recorded or owned if isinstance(owned, BrokerList) else None
    return known if known is not None and known.layout is layout and known.read_as == reading else None


def remembered(owned: Sequence[TopicPartition], read: BrokerList) -> BrokerList:
    """`read`, stored in `owned` for the next assignment; `owned` itself where it is in Java's order already."""
    if not isinstance(owned, BrokerList):
        return read
    if owned.layout is read.layout and np.array_equal(owned.codes, read.codes):
        owned.read_as, owned.recorded = read.read_as, None
        return owned
    owned.recorded = read
    return read


def layout_of(topics: Iterable[Topic]) -> Layout:
    """The layout of topics: the same object only if the ids, too, are the same, as they order the containers."""
    return _layout(tuple((topic.name, topic.partitions, topic.topic_id) for topic in topics))


@lru_cache(maxsize=16)
def _layout(topics: tuple[tuple[str, int, str | None], ...]) -> Layout:
    return Layout({name: partitions for name, partitions, _ in topics})


def topic_hashes(topics: Sequence[Topic]) -> Hashes:
    """`Uuid.hashCode` of each topic's id: int32[n_topics]."""
    return np.fromiter((_topic_hash(topic.name, topic.topic_id) for topic in topics), dtype=np.int32, count=len(topics))


@lru_cache(maxsize=65536)
def _topic_hash(name: str, topic_id: str | None) -> int:
    return uuid_hash(topic_uuid(Topic(name, 0, topic_id=topic_id)))


def topic_rank(topic: Topic) -> tuple[int, int]:
    """A key that sorts as `Uuid.compareTo` sorts the topics' ids."""
    return _topic_rank(topic.name, topic.topic_id)


@lru_cache(maxsize=65536)
def _topic_rank(name: str, topic_id: str | None) -> tuple[int, int]:
    return uuid_order(topic_uuid(Topic(name, 0, topic_id=topic_id)))


def lengths(parts: Sequence[Codes]) -> Numbers:
    """The length of each part: int64[n_parts]."""
    return np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))


def begins(sizes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Where each of neighbours of such sizes begins, the first at 0: int32[n]."""
    found: NDArray[np.int32] = sizes.cumsum(dtype=np.int32)
    found -= sizes.astype(np.int32, copy=False)
    return found


def expand(starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]) -> Codes:
    """Runs of consecutive codes, concatenated: int32[lengths.sum()].

    `starts: int[n_runs]` is the first code of each run, `lengths: int[n_runs]` the number of its codes.

    >>> expand(np.array([5, 20]), np.array([3, 2])).tolist()
    [5, 6, 7, 20, 21]
    """
    codes: Codes = (starts - begins(lengths)).astype(np.int32, copy=False).repeat(lengths)
    codes += np.arange(len(codes), dtype=np.int32)
    return codes


def stable_order(numbers: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Stable `argsort` of numbers, 0 or more: intp[n]. Many: by 16 bits at a time, which numpy sorts by radix."""
    if len(numbers) < _FEW:
        return numbers.argsort(kind="stable")
    order = numbers.astype(np.uint16).argsort(kind="stable")
    high = numbers >> 16
    return order[stable_order(high[order])] if high.any() else order


def subscriptions(group: ServerGroup, layout: Layout) -> NDArray[np.bool_]:
    """Whether each of the group's distinct subscriptions has each topic: bool[n_lists, n_topics]."""
    table = np.zeros((len(group.lists), len(layout.names)), dtype=np.bool_)
    for row, names in zip(table, group.lists, strict=True):
        row[[layout.position[name] for name in names if name in layout.position]] = True
    return table


def subscribers(table: NDArray[np.bool_], list_of: NDArray[np.int32]) -> list[Members]:
    """The positions of each topic's subscribers, intp[n_subscribers], ascending.

    `table: bool[n_lists, n_topics]`, `list_of: int32[n_members]`. Topics with the same subscribers get the same array.
    """
    known: dict[bytes, Members] = {}
    found = []
    for column in np.ascontiguousarray(table.T):
        key = column.tobytes()
        if key not in known:
            known[key] = np.flatnonzero(column[list_of])
        found.append(known[key])
    return found


class UncleanError(Exception):
    """The arrays cannot give the plan, for example because a partition does not exist: the exact maps must."""
