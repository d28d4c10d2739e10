"""Whether racks count in a plan (KIP-881), as `AbstractPartitionAssignor.useRackAwareAssignment` decides."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

from assignors.layout import Layout

RackSet = frozenset[str]
NO_RACKS: RackSet = frozenset()


def racks_of(layout: Layout, by_topic: Mapping[str, Sequence[Sequence[str]]], topic: int) -> list[RackSet]:
    """The racks of each partition of the topic at that position. Equal sets are one object."""
    racks = by_topic.get(layout.names[topic])
    if racks is None:
        return list(repeat(NO_RACKS, int(layout.counts[topic])))
    made: dict[tuple[str, ...], RackSet] = {}
    return [made.setdefault(key, frozenset(key)) for key in map(tuple, racks)]


def use_rack_aware_assignment(member_racks: Iterable[str], partition_racks: Iterable[RackSet]) -> bool:
    """Whether members and partitions have racks in common, and the partitions differ in their racks."""
    distinct = set(partition_racks)
    everywhere = NO_RACKS.union(*distinct)
    return not everywhere.isdisjoint(member_racks) and distinct != {everywhere}
