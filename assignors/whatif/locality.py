"""What a plan does for joins and for network traffic: co-partitioning, and owners near replicas."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.layout import Layout
from assignors.racks import NO_RACKS, racks_of
from assignors.whatif.ownership_table import Placed


def co_partitioned(placed: Placed, arrays: GroupArrays) -> tuple[int, int] | None:
    """Of how many partition numbers all partitions are with one member, out of how many.

    Topics with equally many partitions and the same subscribers go together, as a member that joins them needs
    partition p of each; every such p counts once. None when no two topics go together, or partitions have several
    owners.
    """
    if (placed.owners_each > 1).any():
        return None
    owners, together, possible = placed.first_owner(), 0, 0
    for rows in _alike(arrays):
        table = owners[rows]
        together += int(np.count_nonzero((table == table[0]).all(axis=0) & (table[0] >= 0)))
        possible += table.shape[1]
    return (together, possible) if possible else None


def _alike(arrays: GroupArrays) -> Iterator[NDArray[np.int64]]:
    """For topics that go together, a table of codes: a row for each topic, a column for each partition number."""
    layout, subscribed = arrays.layout, arrays.subscriptions()
    groups: dict[tuple[int, bytes], list[int]] = {}
    for topic, count in enumerate(layout.counts.tolist()):
        groups.setdefault((count, subscribed[:, topic].tobytes()), []).append(topic)
    for (count, _), topics in groups.items():
        if len(topics) > 1:
            yield layout.offsets[topics][:, None] + np.arange(count)


def rack_hits(placed: Placed, arrays: GroupArrays) -> tuple[int, int] | None:
    """How many owners are in a rack of one of their partition's replicas, of those where both are known (None: none).

    A partition with several owners counts once for each (KIP-881 is about these racks).
    """
    names = sorted({rack for rack in arrays.racks or () if rack})
    if not names or not arrays.partition_racks:
        return None
    column = {name: at for at, name in enumerate(names)}
    racks = np.array([column.get(rack or "", -1) for rack in arrays.racks or ()], dtype=np.int64)[placed.owners]
    row_of, near, is_known = _rack_table(arrays, names)
    rows = row_of[placed.codes]
    both = is_known[rows] & (racks >= 0)
    known = int(np.count_nonzero(both))
    return (int(np.count_nonzero(near[rows, racks] & both)), known) if known else None


def _rack_table(
    arrays: GroupArrays, names: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Row of each partition; whether row's replicas are in the rack (column); whether any rack of the row is known."""
    rows = {NO_RACKS: 0}
    row_of = np.zeros(len(arrays.layout), dtype=np.int64)
    for topic in _with_racks(arrays.layout, arrays):
        begin, end = arrays.layout.offsets[topic : topic + 2].tolist()
        found = racks_of(arrays.layout, arrays.partition_racks, topic)
        row_of[begin:end] = [rows.setdefault(racks, len(rows)) for racks in found]
    near = np.array([[name in racks for name in names] for racks in rows], dtype=np.bool_)
    return row_of, near, np.array([any(racks) for racks in rows], dtype=np.bool_)


def _with_racks(layout: Layout, arrays: GroupArrays) -> list[int]:
    return [layout.position[name] for name in arrays.partition_racks]
