"""The offset table in the units of series: rows, (group, topic) pairs and groups. Pure functions on arrays.

All of them work through the table in blocks, so that memory does not depend on its size.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints, OffsetTable, PartitionProblem, problem_code
from lag.verdict.columns import concatenate, no_rows
from lag.verdict.row_index import reduce_groups

BLOCK_ROWS = 250_000
NO_COMMIT = problem_code(PartitionProblem.NO_COMMIT)


class TableRows(NamedTuple):
    """int64[n] each: the group number, the row of the offset table, the row of its EndOffsets, and the topic number."""

    group: Ints
    row: Ints
    end: Ints
    topic: Ints


class GroupTotals(NamedTuple):
    """int64[n_groups] each, over all partitions of the group.

    partitions, known   its partitions, and those with a known lag
    lag, max_lag        records, -1 = no lag is known
    lost                records that were deleted before the group read them, -1 = not known
    """

    partitions: Ints
    known: Ints
    lag: Ints
    max_lag: Ints
    lost: Ints


class GroupTopics(NamedTuple):
    """int64[n] each, one row per group and topic, in the order of the offset table.

    group, topic       their numbers
    partitions, known  partitions of the topic that the group has, and those with a known lag
    lag                records, -1 = no lag is known
    commits, committed   partitions with a committed offset and a known log end, and the sum of these offsets
    no_commits         partitions with a known log end and certainly no committed offset
    unread             partitions with a known log end whose committed offset could not be read
    """

    group: Ints
    topic: Ints
    partitions: Ints
    known: Ints
    lag: Ints
    commits: Ints
    committed: Ints
    no_commits: Ints
    unread: Ints


class Widths(NamedTuple):
    """int64[n_groups] each: topics and partitions of each group, and the partitions that all these topics have."""

    topics: Ints
    partitions: Ints
    spanned: Ints


def group_totals(table: OffsetTable) -> GroupTotals:
    """The totals of every group."""
    parts = [_totals(table, first, last) for first, last in group_blocks(np.diff(table.bounds))]
    return concatenate(parts) if parts else no_rows(GroupTotals)


def _totals(table: OffsetTable, first: int, last: int) -> GroupTotals:
    bounds = table.bounds[first : last + 1]
    rows = slice(int(bounds[0]), int(bounds[-1]))
    bounds, lag, lost = bounds - bounds[0], table.lag[rows], table.lost[rows]
    known = reduce_groups(np.add, (lag != UNKNOWN).astype(np.int64), bounds, 0)
    return GroupTotals(
        partitions=np.diff(bounds),
        known=known,
        lag=_sum_of_known(lag, bounds),
        max_lag=reduce_groups(np.maximum, lag, bounds, UNKNOWN),
        lost=_sum_of_known(lost, bounds),
    )


def _sum_of_known(column: Ints, bounds: Ints) -> Ints:
    """int64[n_groups]; UNKNOWN if none of a group's partitions is known, 0 if it has none."""
    is_known = column != UNKNOWN
    any_known = reduce_groups(np.logical_or, is_known, bounds, False) | (np.diff(bounds) == 0)
    return np.where(any_known, reduce_groups(np.add, np.where(is_known, column, 0), bounds, 0), UNKNOWN)


def widths(table: OffsetTable, groups: Ints, topics: Flags) -> Widths:
    """Of these groups (int64[n], ascending numbers), with the topics that are chosen (bool[n_topics])."""
    of_topic, n = np.bincount(table.ends.topic, minlength=len(topics)), len(table.bounds) - 1
    found = Widths(*(np.zeros(n, np.int64) for _ in Widths._fields))
    for rows in _row_blocks(table, groups, topics):
        starts = _starts(rows)
        group, spanned = rows.group[starts], of_topic[rows.topic[starts]]
        found.topics[:] += np.bincount(group, minlength=n)
        found.partitions[:] += np.bincount(rows.group, minlength=n)
        found.spanned[:] += np.bincount(group, spanned, minlength=n).astype(np.int64)
    return Widths(*(column[groups] for column in found))


def group_topics(table: OffsetTable, groups: Ints, topics: Flags) -> GroupTopics:
    """The pairs of these groups (int64[n], ascending) and the chosen topics (bool[n_topics])."""
    parts = [_topics(table, rows) for rows in _row_blocks(table, groups, topics)]
    return concatenate(parts) if parts else no_rows(GroupTopics)


def _topics(table: OffsetTable, rows: TableRows) -> GroupTopics:
    starts = _starts(rows)
    lag, committed = table.lag[rows.row], table.committed[rows.row]
    has_end, is_known = table.ends.log_end[rows.end] != UNKNOWN, lag != UNKNOWN
    has_commit = has_end & (committed != UNKNOWN)
    no_commit = has_end & (table.problem[rows.row] == NO_COMMIT)

    def total(values: Ints | Flags) -> Ints:
        sums: Ints = np.add.reduceat(values.astype(np.int64), starts) if len(starts) else np.zeros(0, np.int64)
        return sums

    known = total(is_known)
    return GroupTopics(
        group=rows.group[starts],
        topic=rows.topic[starts],
        partitions=np.diff(np.append(starts, len(rows.row))),
        known=known,
        lag=np.where(known == 0, UNKNOWN, total(np.where(is_known, lag, 0))),
        commits=total(has_commit),
        committed=total(np.where(has_commit, committed, 0)),
        no_commits=total(no_commit),
        unread=total(has_end & ~has_commit & ~no_commit),
    )


def table_rows(table: OffsetTable, groups: Ints, topics: Flags) -> TableRows:
    """The rows of these groups (int64[n], ascending) on the chosen topics (bool[n_topics])."""
    parts = list(_row_blocks(table, groups, topics))
    return concatenate(parts) if parts else no_rows(TableRows)


def _row_blocks(table: OffsetTable, groups: Ints, topics: Flags) -> Iterator[TableRows]:
    sizes = (table.bounds[1:] - table.bounds[:-1])[groups]
    for first, last in group_blocks(sizes):
        mine = groups[first:last]
        row = ranges(table.bounds[mine], sizes[first:last])
        end = table.end[row].astype(np.int64)
        rows = TableRows(np.repeat(mine, sizes[first:last]), row, end, table.ends.topic[end].astype(np.int64))
        kept = topics[rows.topic]
        yield rows if kept.all() else TableRows(*(column[kept] for column in rows))


def group_blocks(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Runs (first, last + 1) of groups of these sizes with at most BLOCK_ROWS rows, or one group."""
    running, first = np.concatenate(([0], np.cumsum(sizes))), 0
    while first < len(sizes):
        last = int(np.searchsorted(running, running[first] + BLOCK_ROWS, side="right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


def _starts(rows: TableRows) -> Ints:
    """int64[n]: the first row of each (group, topic)."""
    group, topic = rows.group, rows.topic
    changes = (group[1:] != group[:-1]) | (topic[1:] != topic[:-1])
    return np.flatnonzero(np.concatenate((np.ones(min(1, len(group)), np.bool_), changes)))


def ranges(first: Ints, size: Ints) -> Ints:
    """int64[size.sum()]: the numbers from each `first` on, `size` of them (int64[n] each)."""
    before = np.cumsum(size) - size
    return np.repeat(first - before, size) + np.arange(int(size.sum()))


def first_that_fit(costs: Ints, budget: int) -> int:
    """How many of the first items have a total cost within the budget."""
    return int(np.searchsorted(np.cumsum(costs), budget, side="right"))
