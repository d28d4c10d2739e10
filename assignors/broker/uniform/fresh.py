"""What `uniform` gives to members that own nothing yet: all partitions in one row, cut at quotas and topics.

A segment is what one member gets of one topic: consecutive partitions. Their set iterates from the first multiple of
its capacity on, then from its beginning.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.broker.spec_arrays import BrokerList, Numbers, expand
from assignors.broker.uniform.fill import Filler
from assignors.broker.uniform.flat import Fills, filled_lists
from assignors.javahash import absent_order, plain_order
from assignors.javahash.orders import grown_capacities, set_capacities
from assignors.layout import Codes

_MOST_PARTITIONS = 1 << 16  # beyond, Java mixes the high half of a number into its bucket


def fresh_lists(filler: Filler, order: Numbers, members: int) -> list[BrokerList]:
    """The lists of so many members; topics (positions in the layout) in `order`.

    CrowdedError where topic ids collide too much.
    """
    quota, extras = divmod(len(filler.layout), members)
    sizes = np.full(members, quota, dtype=np.int64)
    sizes[members - extras :] += 1
    ends = np.cumsum(sizes)
    if int(filler.layout.counts.max()) > _MOST_PARTITIONS:
        fills = Fills()
        for row in np.split(expand(filler.layout.offsets[order], filler.layout.counts[order]), ends[:-1]):
            fills.add(row[:0], row)
        return filled_lists(filler, fills)
    segments = _Segments(filler, order, ends)
    jdks = segments.sort_topics(members)
    codes = segments.codes()
    bounds = pairwise([0, *ends.tolist()])
    return [BrokerList(filler.layout, codes[begin:end], jdk) for (begin, end), jdk in zip(bounds, jdks, strict=True)]


class _Segments:
    """Segments in the order of the row."""

    def __init__(self, filler: Filler, order: Numbers, ends: Numbers) -> None:
        self._filler = filler
        topic_ends = np.cumsum(filler.layout.counts[order])
        cuts = np.union1d(ends, topic_ends)
        begins = np.concatenate(([0], cuts[:-1]))
        self._sizes = cuts - begins
        is_real = self._sizes > 0
        begins, self._sizes = begins[is_real], self._sizes[is_real]
        at = np.searchsorted(topic_ends, begins, side="right")
        self._topics = order[at]
        self._numbers = begins - (topic_ends - filler.layout.counts[order])[at]
        self._members = np.searchsorted(ends, begins, side="right")

    def sort_topics(self, members: int) -> list[int | None]:
        """Bring each member's segments into the order of its map; the JDK on which a record keeps a member's order."""
        is_kept = set_capacities(self._sizes, self._filler.jdk) == grown_capacities(self._sizes)
        jdks: list[int | None] = [self._filler.jdk] * members
        order = np.arange(len(self._sizes))
        bounds = np.searchsorted(self._members, np.arange(members + 1)).tolist()
        for member, (begin, end) in enumerate(pairwise(bounds)):
            if end - begin > 1:
                found, is_stable = self._map_order(begin, end)
                order[begin:end] = begin + found
                jdks[member] = self._filler.jdk if is_stable else None
        for member in self._members[~is_kept].tolist():
            jdks[member] = None
        self._sizes, self._topics, self._numbers = self._sizes[order], self._topics[order], self._numbers[order]
        return jdks

    def _map_order(self, begin: int, end: int) -> tuple[NDArray[np.intp], bool]:
        """How a map lists topics that come by `computeIfAbsent`, and whether one filled in that order does the same."""
        hashes = self._filler.hashes[self._topics[begin:end]]
        order = absent_order(hashes, 0, 1, ends_with_new=bool(self._sizes[end - 1] == 1))
        again = plain_order(hashes[order])
        return order, bool((again == np.arange(len(again))).all())

    def codes(self) -> Codes:
        """The codes of all, in the order in which the sets iterate."""
        capacities = grown_capacities(self._sizes)
        multiples = -(-self._numbers // capacities) * capacities
        heads = np.minimum(multiples - self._numbers, self._sizes)  # they stand at the end of the table
        first = self._filler.layout.offsets[self._topics] + self._numbers
        starts = np.stack((first + heads, first), axis=1)
        return expand(starts.ravel(), np.stack((self._sizes - heads, heads), axis=1).ravel())
