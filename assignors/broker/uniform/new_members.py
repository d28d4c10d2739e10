"""What members list to whom everything is new, in `uniform` for mixed groups: all such members at once."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.broker.spec_arrays import BrokerList, expand, lengths
from assignors.broker.uniform.fill import Filler
from assignors.broker.uniform.flat import blocks, set_order
from assignors.broker.uniform.recorded import Runs
from assignors.javahash import absent_order
from assignors.layout import Codes

Known = dict[tuple[bytes, bool], NDArray[np.intp]]  # by topics in order of arrival, and whether the last is a single

_SPREADS_FROM = 1 << 16  # from this number on, Java mixes its high half into its bucket


def new_lists(filler: Filler, news: Sequence[Codes]) -> list[BrokerList]:
    """The lists of members that owned nothing and now get these codes: topic after topic, each topic's ascending.

    CrowdedError where topic ids crowd a bucket.
    """
    table = filler.layout.topic_table()
    known: Known = {}
    return [made for rows in blocks(lengths(news), len(table)) for made in _lists(filler, news[rows], table, known)]


def _lists(filler: Filler, news: Sequence[Codes], table: NDArray[np.int32], known: Known) -> Iterator[BrokerList]:
    codes, sizes = np.concatenate(news), lengths(news)
    runs = Runs(table.take(codes), sizes)
    order = _map_order(filler, runs, len(news), known)
    codes = codes.take(expand(runs.starts[order], runs.sizes[order]))
    runs = runs.moved(order)
    del order
    _order_sets(filler, codes, runs)
    for begin, end in pairwise([0, *sizes.cumsum().tolist()]):
        yield BrokerList(filler.layout, codes[begin:end])


def _map_order(filler: Filler, runs: Runs, members: int, known: Known) -> NDArray[np.intp]:
    """Member by member the runs as the maps list their topics. Most members get the same topics as another one."""
    bounds = runs.members.searchsorted(np.arange(members + 1)).tolist()
    is_single = (runs.sizes == 1).tolist()
    orders = []
    for begin, end in pairwise(bounds):
        topics = runs.topics[begin:end]
        key = topics.tobytes(), is_single[end - 1]
        if key not in known:
            known[key] = absent_order(filler.hashes[topics], 0, 1, ends_with_new=is_single[end - 1])
        orders.append(known[key])
    order = np.concatenate(orders)
    order += np.repeat(bounds[:-1], [len(part) for part in orders])
    return order


def _order_sets(filler: Filler, codes: Codes, runs: Runs) -> None:
    """Bring each set in order, in place; but for those whose table has a bucket for every number of the topic."""
    begun, counts = filler.new_capacities(), filler.layout.counts
    is_mixed_up = (begun < counts) | (counts > _SPREADS_FROM)
    picked = np.flatnonzero((runs.sizes > 1) & is_mixed_up.take(runs.topics))
    if not len(picked):
        return
    sizes, topics = runs.sizes[picked], runs.topics[picked]
    places = expand(runs.starts[picked], sizes)
    found = codes.take(places)
    numbers = found - filler.offsets.take(topics).repeat(sizes)
    codes[places] = found.take(set_order(numbers, sizes, begun.take(topics)))
