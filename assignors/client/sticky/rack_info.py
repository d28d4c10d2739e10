"""Racks of members and partitions as numbers, for the sticky assignors (`AbstractStickyAssignor.RackInfo`, KIP-881)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.layout import Codes
from assignors.racks import RackSet, racks_of, use_rack_aware_assignment

NO_RACK = -1


@dataclass(frozen=True, slots=True)
class RackView:
    """What racks mean in one group; made only when some member has one.

    `rack_of` numbers the members' racks (-1: none), `set_of` the sets of racks in which partitions have replicas;
    `match` says which rack (row) is in which set (column). `active`: whether they change who may own what;
    `neighbours`, the members in a partition's racks, orders new partitions in any case.
    """

    active: bool
    rack_of: NDArray[np.int32]
    set_of: NDArray[np.int32]
    match: NDArray[np.bool_]
    neighbours: NDArray[np.int64]

    def mismatches(self, codes: Codes, owners: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of these partitions have no replica in the rack of their owner. A stray partition has none at all."""
        racks = self.rack_of[owners]
        sets = self.set_of[np.minimum(codes, len(self.set_of) - 1)]
        matching = self.match[racks, sets] & (codes < len(self.set_of))
        unmatched: NDArray[np.bool_] = (racks != NO_RACK) & ~matching
        return unmatched


def rack_view(arrays: GroupArrays) -> RackView | None:
    """The group's racks; None when no member has one or there is nothing to plan."""
    if arrays.racks is None or not any(arrays.racks) or not len(arrays.layout):
        return None
    numbers: dict[str, int] = {}
    rack_of = [numbers.setdefault(rack, len(numbers)) if rack else NO_RACK for rack in arrays.racks]
    sets, set_of = _partition_sets(arrays)
    match = np.array([[rack in racks for racks in sets] for rack in numbers], dtype=np.bool_)
    members = np.bincount([rack for rack in rack_of if rack != NO_RACK], minlength=len(numbers))
    neighbours = (match * members[:, None]).sum(axis=0)[set_of]
    return RackView(
        use_rack_aware_assignment(numbers, sets), np.array(rack_of, dtype=np.int32), set_of, match, neighbours
    )


def _partition_sets(arrays: GroupArrays) -> tuple[list[RackSet], NDArray[np.int32]]:
    numbers: dict[RackSet, int] = {}
    set_of: list[int] = []
    for topic in range(len(arrays.layout.names)):
        racks = racks_of(arrays.layout, arrays.partition_racks, topic)
        set_of += [numbers.setdefault(one, len(numbers)) for one in racks]
    return list(numbers), np.array(set_of, dtype=np.int32)
