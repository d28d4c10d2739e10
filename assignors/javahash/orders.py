"""Iteration orders of many keys at once.

As long as no bucket gets crowded, the order is a stable sort of the keys by their bucket at the final capacity. Where
one does, an exact map decides instead.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.javahash.hashes import (
    DEFAULT_CAPACITY,
    LARGEST_CAPACITY,
    NEWEST_RULE_JDK,
    Hashes,
    Keys,
    string_hashes,
    threshold,
)
from assignors.javahash.maps import CROWDED, JavaHashMap
from assignors.layout import java_order

Positions = NDArray[np.intp]
Numbers = NDArray[np.integer[Any]]
Capacities = NDArray[np.int32]
_WIDEST_RADIX = 1 << 16
_CAPACITIES = (1 << np.arange(LARGEST_CAPACITY.bit_length())).astype(np.int32)
_THRESHOLDS = np.array([threshold(capacity) for capacity in _CAPACITIES.tolist()])


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


class CrowdedError(Exception):
    """Keys collide so much that a bucket grows a tree or doubles the table: only an exact map knows the order."""


def plain_order(hashes: Hashes, capacity: int = DEFAULT_CAPACITY) -> Positions:
    """`put_order` where no bucket ever gets crowded; CrowdedError where one does."""
    spreads = spread_all(hashes)
    final = _final_capacity(len(hashes), capacity)
    if _gets_crowded(spreads, capacity, final):
        raise CrowdedError
    return _by_bucket(spreads & np.uint32(final - 1), final)


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


def set_capacities(sizes: Numbers, jdk: int) -> Capacities:
    """`hash_set_capacity` of many sizes: int32[n]."""
    capacities = grown_capacities(sizes)
    if jdk < NEWEST_RULE_JDK:
        capacities[(sizes >= 12) & (sizes == capacities // 4 * 3)] *= 2
    return capacities


def grown_capacities(sizes: Numbers, capacity: int = DEFAULT_CAPACITY) -> Capacities:
    """int32[n]: the capacity of HashMaps after as many calls of `put` as `sizes` tells.

    `sizes: int[n]`; `capacity`: of the empty map, a power of two; with 1 also that of `new HashMap(size)`.
    """
    by_size = _CAPACITIES[_THRESHOLDS.searchsorted(np.arange(int(sizes.max(initial=0)) + 1))]
    return np.maximum(by_size, capacity)[sizes]
