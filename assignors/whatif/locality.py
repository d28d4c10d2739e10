"""Co-partitioning, and owners in the racks of their replicas."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.racks import NO_RACKS, racks_of
from assignors.whatif.ownership_table import OwnershipTable


def co_partitioned(table: OwnershipTable, arrays: GroupArrays) -> tuple[int, int] | None:
    """(co-partitioned, possible): partition numbers whose partitions of all joined topics have one owner.

    Topics with the same number of partitions and the same subscribers count as joined. None when no two topics are, or
    when partitions have several owners.
    """
    if (table.owners_each > 1).any():
        return None
    owners, together, possible = table.first_owner(), 0, 0
    for rows in _joined_topics(arrays):
        by_topic = owners[rows]
        together += int(np.count_nonzero((by_topic == by_topic[0]).all(axis=0) & (by_topic[0] >= 0)))
        possible += by_topic.shape[1]
    return (together, possible) if possible else None


def _joined_topics(arrays: GroupArrays) -> Iterator[NDArray[np.int64]]:
    """Codes of joined topics: int64[n_topics, n_partitions]."""
    layout, subscribed = arrays.layout, arrays.subscriptions()
    groups: dict[tuple[int, bytes], list[int]] = {}
    for topic, count in enumerate(layout.counts.tolist()):
        groups.setdefault((count, subscribed[:, topic].tobytes()), []).append(topic)
    for (count, _), topics in groups.items():
        if len(topics) > 1:
            yield layout.offsets[topics][:, None] + np.arange(count)


def rack_hits(table: OwnershipTable, arrays: GroupArrays) -> tuple[int, int] | None:
    """(hits, known): owners in a rack of one of the partition's replicas, of those whose racks are known (KIP-881).

    A partition counts once for each owner. None when no rack is known.
    """
    names = sorted({rack for rack in arrays.racks or () if rack})
    if not names or not arrays.partition_racks:
        return None
    column = {name: at for at, name in enumerate(names)}
    racks = np.array([column.get(rack or "", -1) for rack in arrays.racks or ()], dtype=np.int64)[table.owners]
    row_of, near, is_known = _rack_table(arrays, names)
    rows = row_of[table.codes]
    both = is_known[rows] & (racks >= 0)
    known = int(np.count_nonzero(both))
    return (int(np.count_nonzero(near[rows, racks] & both)), known) if known else None


def _rack_table(
    arrays: GroupArrays, names: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Each distinct list of replica racks is a row.

    The row of each partition, int64[n_partitions]; whether a row has a rack, bool[n_rows, n_racks]; whether a row has
    any rack, bool[n_rows].
    """
    rows = {NO_RACKS: 0}
    row_of = np.zeros(len(arrays.layout), dtype=np.int64)
    for topic in map(arrays.layout.position.__getitem__, arrays.partition_racks):
        begin, end = arrays.layout.offsets[topic : topic + 2].tolist()
        found = racks_of(arrays.layout, arrays.partition_racks, topic)
        row_of[begin:end] = [rows.setdefault(racks, len(rows)) for racks in found]
    near = np.array([[name in racks for name in names] for racks in rows], dtype=np.bool_)
    return row_of, near, np.array([any(racks) for racks in rows], dtype=np.bool_)
