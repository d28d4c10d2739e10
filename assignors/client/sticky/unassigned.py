"""Giving out unassigned partitions in the general path: each goes to the member that has fewest, ids breaking ties."""

from collections.abc import Sequence
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Numbers
from assignors.client.sticky.rack_info import NO_RACK, RackView


def water_fill(sizes: Numbers, count: int) -> NDArray[np.intp]:
    """Who (positions) gets each of `count` partitions, when each goes to the smallest, the first one of equals.

    >>> water_fill(np.array([2, 0, 1]), 5).tolist()
    [1, 1, 2, 0, 1]
    """
    if not count:
        return np.zeros(0, dtype=np.intp)
    ascending = np.sort(sizes)
    below = np.cumsum(ascending) - ascending
    # How much it takes to raise everybody before a place to the size at that place.
    takers = int(np.searchsorted(np.arange(len(sizes)) * ascending - below, count))
    level, rest = divmod(count + int(ascending[:takers].sum()), takers)
    gets = np.maximum(level - sizes, 0)
    gets[np.flatnonzero(sizes <= level)[:rest]] += 1
    positions = np.repeat(np.arange(len(sizes)), gets)
    levels = np.arange(count) + np.repeat(sizes - (np.cumsum(gets) - gets), gets)
    narrow = (levels - ascending[0]).astype(np.uint16) if level - int(ascending[0]) < 1 << 16 else levels
    return positions[np.argsort(narrow, kind="stable")]


def fill_by_rack(
    members: Sequence[int], sizes: Numbers, sets: Sequence[int], racks: RackView, rack_of: Sequence[int]
) -> list[int]:
    """Who (a rank, or -1) gets each partition, when only members without a rack or with a matching one may.

    `members`: ranks of the topic's subscribers; `sizes` of all members, which grow; `sets`: the partitions' sets of
    racks.
    """
    width = len(sizes)
    queues: dict[int, list[int]] = {}
    for member in members:
        queues.setdefault(rack_of[member], []).append(int(sizes[member]) * width + member)
    for queue in queues.values():
        heapify(queue)
    given = []
    for which in sets:
        fitting = [queue for rack, queue in queues.items() if rack == NO_RACK or racks.match[rack, which]]
        if not fitting:
            given.append(-1)
            continue
        queue = min(fitting)
        member = queue[0] % width
        heapreplace(queue, queue[0] + width)
        sizes[member] += 1
        given.append(member)
    return given
