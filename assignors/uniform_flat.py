"""What many members get that owned nothing, in the order of their containers: all members at once."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.javahash import CrowdedError
from assignors.javahash.hashes import DEFAULT_CAPACITY, threshold
from assignors.javahash.maps import CROWDED
from assignors.javahash.orders import spread_all
from assignors.layout import Codes
from assignors.server_arrays import BrokerList, Numbers, expand
from assignors.uniform_fill import Filler
from assignors.uniform_recorded import Runs

_DENSE = 8


def filled_lists(filler: Filler, parts: Sequence[Codes]) -> list[BrokerList]:
    """One list for each part: its codes topic by topic, put into new sets of a new map.

    Sets begin with the filler's capacity for their topic; the map comes about by `computeIfAbsent`. CrowdedError where
    a bucket gets crowded.
    """
    if not parts:
        return []
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
    capacities = np.maximum(_grown(runs.sizes), filler.new_capacities()[runs.topics])
    spreads = spread_all(codes - filler.layout.offsets.astype(np.int32)[runs.topics].repeat(runs.sizes)).astype(
        np.int64
    )
    run_of = np.repeat(np.arange(len(runs.sizes), dtype=np.int32), runs.sizes)
    if int(runs.sizes.max()) > CROWDED:
        places = np.arange(len(codes)) - runs.starts[run_of]
        _refuse_crowds(run_of, places, spreads, capacities, CROWDED)
        del places
    spreads &= (capacities - 1)[run_of]
    spreads += (np.cumsum(capacities) - capacities)[run_of]
    del run_of
    return np.argsort(spreads, kind="stable")


def _map_order(filler: Filler, runs: Runs) -> NDArray[np.intp]:
    counts = np.bincount(runs.members)
    lasts = np.cumsum(counts) - 1
    # An overfull map doubles at the next call only, and after a last topic of one partition there is none.
    capacities = _grown(counts - (runs.sizes[lasts] == 1))
    spreads = spread_all(filler.hashes)[runs.topics].astype(np.int64)
    places = np.arange(len(runs.members)) - (lasts - counts + 1)[runs.members]
    _refuse_crowds(runs.members, places, spreads, capacities, CROWDED - 1)
    offsets = np.cumsum(capacities) - capacities
    keys = (spreads & (capacities - 1)[runs.members]) + offsets[runs.members]
    newest_first = np.arange(len(keys) - 1, -1, -1)
    return newest_first[np.argsort(keys[newest_first], kind="stable")]


def _grown(sizes: Numbers) -> Numbers:
    """Capacities of tables that began with 1."""
    return np.left_shift(1, np.ceil(np.log2(np.maximum((sizes * 4 + 2) // 3, 1))).astype(np.int64))


def _refuse_crowds(
    owners: NDArray[np.signedinteger[Any]], places: Numbers, spreads: Numbers, capacities: Numbers, most: int
) -> None:
    """CrowdedError when any owner's table has more than `most` keys in a bucket, at any size while it grows."""
    is_large = np.bincount(owners, minlength=len(capacities)) > most
    capacity = DEFAULT_CAPACITY
    while is_large.any() and capacity <= int(capacities[is_large].max()):
        is_there = is_large[owners] & (places <= threshold(capacity)) & (capacities[owners] >= capacity)
        is_there |= is_large[owners] & (capacities[owners] == capacity)
        if _fullest(owners[is_there].astype(np.int64) * capacity + (spreads[is_there] & (capacity - 1))) > most:
            raise CrowdedError
        capacity *= 2


def _fullest(keys: Numbers) -> int:
    """How often the most frequent key occurs."""
    if int(keys.max()) <= _DENSE * len(keys):
        return int(np.bincount(keys).max())
    return int(np.unique(keys, return_counts=True)[1].max())
