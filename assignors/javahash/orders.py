"""Iteration orders of many keys at once.

As long as no bucket gets crowded, the order is a stable sort of the keys by their bucket at the final capacity. Where
one does, an exact map decides instead.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.javahash.hashes import (
    DEFAULT_CAPACITY,
    NEWEST_RULE_JDK,
    Hashes,
    Keys,
    string_hashes,
    threshold,
)
from assignors.javahash.maps import CROWDED, JavaHashMap
from assignors.layout import java_order

Positions = NDArray[np.intp]
_WIDEST_RADIX = 1 << 16


def put_order(
    hashes: Hashes, capacity: int = DEFAULT_CAPACITY, order_of: Callable[[int], Any] | None = None
) -> Positions:
    """Positions of distinct keys in the order in which a HashMap iterates after `put` of each in turn.

    `capacity`: of the empty table (a power of two). `order_of(position)` sorts like the keys' compareTo; None when they
    are not Comparable.
    """
    try:
        return plain_order(hashes, capacity)
    except CrowdedError:
        return _exact_order(hashes, capacity, order_of)


def number_order(numbers: NDArray[np.int32], capacity: int = DEFAULT_CAPACITY) -> Positions:
    """`put_order` of distinct Integers."""
    return put_order(numbers, capacity, lambda position: int(numbers[position]))


class CrowdedError(Exception):
    """Keys collide so much that a bucket grows a tree or doubles the table: only an exact map knows the order."""


def plain_order(hashes: Hashes, capacity: int = DEFAULT_CAPACITY) -> Positions:
    """`put_order` where no bucket ever gets crowded; CrowdedError where one does."""
    spreads = spread_all(hashes)
    final = _final_capacity(len(hashes), capacity)
    if _gets_crowded(spreads, capacity, final):
        raise CrowdedError
    return _by_bucket(spreads & np.uint32(final - 1), final)


def absent_order(
    hashes: Hashes, put: int = 0, capacity: int = DEFAULT_CAPACITY, ends_with_new: bool = False
) -> Positions:
    """Positions of distinct keys in a HashMap after `put` of the first `put` keys and `computeIfAbsent` of the others.

    An overfull table doubles at the start of the next `computeIfAbsent`, even of a key that is there;
    `ends_with_new`: the last key came with the last call. CrowdedError where a bucket gets crowded.
    """
    final = _absent_capacity(len(hashes), put, capacity, ends_with_new)
    spreads = spread_all(hashes)
    if len(hashes) >= CROWDED:
        _refuse_crowds(spreads, capacity, final)
    newest_first = np.concatenate((np.arange(len(hashes) - 1, put - 1, -1), np.arange(put)))
    return newest_first[_by_bucket(spreads[newest_first] & np.uint32(final - 1), final)]


def _absent_capacity(count: int, put: int, capacity: int, ends_with_new: bool) -> int:
    return _final_capacity(max(put, count - ends_with_new), capacity)


def _refuse_crowds(spreads: NDArray[np.uint32], capacity: int, final: int) -> None:
    capacity = max(capacity, DEFAULT_CAPACITY)  # a smaller table has too few keys
    while capacity <= final:
        begun = spreads[: threshold(capacity) + 1] if capacity < final else spreads
        if np.bincount(begun & np.uint32(capacity - 1)).max() >= CROWDED:
            raise CrowdedError
        capacity *= 2


def spread_all(hashes: Hashes) -> NDArray[np.uint32]:
    """What HashMap makes of hash codes before it takes the low bits."""
    words = np.ascontiguousarray(hashes, dtype=np.int32).view(np.uint32)
    return words ^ (words >> np.uint32(16))


def _final_capacity(size: int, capacity: int) -> int:
    while size > threshold(capacity):
        capacity *= 2
    return capacity


def _gets_crowded(spreads: NDArray[np.uint32], capacity: int, final: int) -> bool:
    """Whether a ninth key ever enters a bucket, at any size of the growing table."""
    if len(spreads) <= CROWDED:
        return False
    while capacity < final:
        if _is_crowded(spreads[: threshold(capacity) + 1], capacity):
            return True
        capacity *= 2
    return _is_crowded(spreads, final)


def _is_crowded(spreads: NDArray[np.uint32], capacity: int) -> bool:
    if len(spreads) <= CROWDED:
        return False
    return bool(np.bincount(spreads & np.uint32(capacity - 1)).max() > CROWDED)


def _by_bucket(buckets: NDArray[np.uint32], capacity: int) -> Positions:
    narrow = buckets.astype(np.uint16) if capacity <= _WIDEST_RADIX else buckets  # 16 bits sort by radix
    return np.argsort(narrow, kind="stable")


def _exact_order(hashes: Hashes, capacity: int, order_of: Callable[[int], Any] | None) -> Positions:
    codes = hashes.tolist()
    exact: JavaHashMap[int, bool] = JavaHashMap(Keys(codes.__getitem__, order_of), capacity)
    for position in range(len(codes)):
        exact[position] = True
    return np.fromiter(exact, dtype=np.intp, count=len(codes))


@lru_cache(maxsize=64)
def string_order(texts: tuple[str, ...], capacity: int = DEFAULT_CAPACITY) -> tuple[int, ...]:
    """Positions of distinct texts in the order in which a HashMap iterates after `put` of each in turn.

    >>> string_order(("eve", "zoe", "adam"))
    (1, 2, 0)
    """
    order = put_order(string_hashes(texts), capacity, lambda position: java_order(texts[position]))
    return tuple(order.tolist())


@dataclass(frozen=True, slots=True)
class SegmentOrders:
    """How many sets iterate: positions (None: as they stood already), and the segments in which a bucket is crowded.

    What is in a crowded segment may come back in another order from every copy of its set.
    """

    positions: Positions | None
    crowded: tuple[int, ...] = ()


def segment_orders(numbers: NDArray[np.int32], starts: NDArray[np.int64], jdk: int = NEWEST_RULE_JDK) -> SegmentOrders:
    """The order in which many `new HashSet(list of Integer)` iterate, one set per segment, all at once.

    `numbers`: the concatenated lists, each without duplicates; `starts`: the start of each. Positions are those in
    `numbers`.
    """
    sizes = np.diff(starts, append=len(numbers))
    largest = int(sizes.max(initial=0))
    if largest <= 1:
        return SegmentOrders(None)
    capacities = set_capacities(sizes, jdk)
    offsets = np.cumsum(capacities) - capacities
    keys = (spread_all(numbers).astype(np.int64) & np.repeat(capacities - 1, sizes)) + np.repeat(offsets, sizes)
    in_order = bool((keys[1:] >= keys[:-1]).all())
    order = None if in_order else np.argsort(keys, kind="stable")
    if largest <= CROWDED:
        return SegmentOrders(order)
    ordered = keys if order is None else keys[order]
    full = ordered[CROWDED:][ordered[CROWDED:] == ordered[:-CROWDED]]
    if not len(full):
        return SegmentOrders(order)
    crowded = np.unique(np.searchsorted(offsets, full, side="right") - 1)
    order = np.arange(len(numbers)) if order is None else order
    for segment in crowded.tolist():
        begin, end = int(starts[segment]), int(starts[segment] + sizes[segment])
        order[begin:end] = begin + number_order(numbers[begin:end], int(capacities[segment]))
    return SegmentOrders(order, tuple(crowded.tolist()))


def set_capacities(sizes: NDArray[np.int64], jdk: int) -> NDArray[np.int64]:
    """`hash_set_capacity` of many sizes."""
    capacities = grown_capacities(sizes)
    if jdk < NEWEST_RULE_JDK:
        capacities[(sizes >= 12) & (sizes * 4 == capacities * 3)] *= 2
    return capacities


def grown_capacities(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Capacities of tables of the default capacity after `sizes` calls of `put`."""
    needed = np.maximum((sizes * 4 + 2) // 3, DEFAULT_CAPACITY)
    return np.left_shift(1, np.ceil(np.log2(needed)).astype(np.int64))
