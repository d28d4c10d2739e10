"""Assigning partitions in the general assignment: each to the subscriber with fewest, the first by id among equals."""

from collections.abc import Sequence
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Numbers
from assignors.client.sticky.assignment_state import NO_MEMBER
from assignors.client.sticky.rack_info import NO_RACK, RackView


def smallest_first(counts: Numbers, partitions: int) -> NDArray[np.intp]:
    """intp[partitions]: the position in `counts` of the member that gets each partition.

    Each goes to the member with fewest, the first of equals. `counts`: int64[n_members].

    >>> smallest_first(np.array([2, 0, 1]), 5).tolist()
    [1, 1, 2, 0, 1]
    """
    if not partitions:
        return np.zeros(0, dtype=np.intp)
    ascending = np.sort(counts)
    below = np.cumsum(ascending) - ascending
    # What it takes to raise all members before a position to the count at that position.
    takers = int(np.searchsorted(np.arange(len(counts)) * ascending - below, partitions))
    level, rest = divmod(partitions + int(ascending[:takers].sum()), takers)
    gets = np.maximum(level - counts, 0)
    gets[np.flatnonzero(counts <= level)[:rest]] += 1
    positions = np.repeat(np.arange(len(counts)), gets)
    levels = np.arange(partitions) + np.repeat(counts - (np.cumsum(gets) - gets), gets)
    narrow = (levels - ascending[0]).astype(np.uint16) if level - int(ascending[0]) < 1 << 16 else levels
    return positions[np.argsort(narrow, kind="stable")]


def smallest_in_rack_first(
    subscribers: Sequence[int], counts: Numbers, rack_sets: Sequence[int], racks: RackView, rack_of: Sequence[int]
) -> list[int]:
    """The rank that gets each partition, among subscribers without a rack or in a rack of the partition.

    NO_MEMBER where none fits. `subscribers`: ranks; `counts`: int64[n_members] by rank, which grow; `rack_sets`: the
    set of racks of each partition; `rack_of`: the rack of each rank.
    """
    width = len(counts)
    queues: dict[int, list[int]] = {}
    for member in subscribers:
        queues.setdefault(rack_of[member], []).append(int(counts[member]) * width + member)
    for queue in queues.values():
        heapify(queue)
    given = []
    for rack_set in rack_sets:
        fitting = [queue for rack, queue in queues.items() if rack == NO_RACK or racks.match[rack, rack_set]]
        if not fitting:
            given.append(NO_MEMBER)
            continue
        queue = min(fitting)
        member = queue[0] % width
        heapreplace(queue, queue[0] + width)
        counts[member] += 1
        given.append(member)
    return given
