"""What many members get that owned nothing, in the order of their containers: all members at once."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.javahash import CrowdedError
from assignors.javahash.hashes import DEFAULT_CAPACITY, threshold
from assignors.javahash.maps import CROWDED
from assignors.javahash.orders import number_order, spread_all
from assignors.layout import Codes
from assignors.server_arrays import BrokerList, Numbers, expand
from assignors.uniform_fill import Filler
from assignors.uniform_recorded import Runs

_DENSE = 8


def filled_lists(filler: Filler, parts: Sequence[Codes]) -> list[BrokerList]:
    """One list for each part: its codes topic by topic, put into new sets of a new map.

    Sets begin with the filler's capacity for their topic; the map comes about by `computeIfAbsent`. CrowdedError where
    topic ids crowd a bucket.
    """
    if not any(map(len, parts)):
        return [BrokerList(filler.layout, part) for part in parts]
    codes = np.concatenate(parts)
    sizes = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    topics = filler.layout.topic_table()[codes]
    runs = Runs(topics, np.repeat(np.arange(len(parts), dtype=np.int32), sizes))
    del topics
    codes = codes[_set_order(filler, codes, runs)]
    order = _map_order(filler, runs)
    codes = codes[expand(runs.starts[order], runs.sizes[order])]
    bounds = pairwise([0, *np.cumsum(sizes).tolist()])
    return [BrokerList(filler.layout, codes[begin:end]) for begin, end in bounds]


def _set_order(filler: Filler, codes: Codes, runs: Runs) -> NDArray[np.intp]:
    begun = filler.new_capacities()[runs.topics]
    capacities = np.maximum(_grown(runs.sizes), begun)
    numbers = codes - filler.layout.offsets.astype(np.int32)[runs.topics].repeat(runs.sizes)
    spreads = spread_all(numbers).astype(np.int64)
    run_of = np.repeat(np.arange(len(runs.sizes), dtype=np.int32), runs.sizes)
    crowded: list[int] = []
    if int(runs.sizes.max()) > CROWDED:
        places = np.arange(len(codes)) - runs.starts[run_of]
        crowded = _crowded(run_of, places, spreads, capacities, CROWDED)
        del places
    spreads &= (capacities - 1)[run_of]
    spreads += (np.cumsum(capacities) - capacities)[run_of]
    del run_of
    order = np.argsort(spreads, kind="stable")
    for run in crowded:
        begin, end = int(runs.starts[run]), int(runs.starts[run] + runs.sizes[run])
        order[begin:end] = begin + number_order(numbers[begin:end], int(begun[run]))
    return order


def _map_order(filler: Filler, runs: Runs) -> NDArray[np.intp]:
    counts = np.bincount(runs.members)
    lasts = np.cumsum(counts) - 1
    # An overfull map doubles at the next call only, and after a last topic of one partition there is none.
    capacities = _grown(counts - (runs.sizes[lasts] == 1))
    spreads = spread_all(filler.hashes)[runs.topics].astype(np.int64)
    places = np.arange(len(runs.members)) - (lasts - counts + 1)[runs.members]
    if _crowded(runs.members, places, spreads, capacities, CROWDED - 1):
        raise CrowdedError
    offsets = np.cumsum(capacities) - capacities
    keys = (spreads & (capacities - 1)[runs.members]) + offsets[runs.members]
    newest_first = np.arange(len(keys) - 1, -1, -1)
    return newest_first[np.argsort(keys[newest_first], kind="stable")]


def _grown(sizes: Numbers) -> Numbers:
    """Capacities of tables that began with 1."""
    return np.left_shift(1, np.ceil(np.log2(np.maximum((sizes * 4 + 2) // 3, 1))).astype(np.int64))


def _crowded(
    owners: NDArray[np.signedinteger[Any]], places: Numbers, spreads: Numbers, capacities: Numbers, most: int
) -> list[int]:
    """The owners whose table has more than `most` keys in a bucket, at any size while it grows."""
    found: set[int] = set()
    is_large = np.bincount(owners, minlength=len(capacities)) > most
    capacity = DEFAULT_CAPACITY
    while is_large.any() and capacity <= int(capacities[is_large].max()):
        is_there = is_large[owners] & (places <= threshold(capacity)) & (capacities[owners] >= capacity)
        is_there |= is_large[owners] & (capacities[owners] == capacity)
        keys = _frequent(owners[is_there].astype(np.int64) * capacity + (spreads[is_there] & (capacity - 1)), most)
        found.update((keys // capacity).tolist())
        capacity *= 2
    return sorted(found)


def _frequent(keys: Numbers, most: int) -> NDArray[np.integer[Any]]:
    """The keys that occur more than so often."""
    if int(keys.max()) <= _DENSE * len(keys):
        return np.flatnonzero(np.bincount(keys) > most)
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct[counts > most]
