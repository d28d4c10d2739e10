"""Looks into logs: whether a lag that does not move is work, or only transaction markers and aborted records.

And when the first record was written that a group has not read, where the polls only tell that it was before them.

What a check found is kept in `Waiting` with the samples, until the committed offset moves: when the log grows, the next
check goes on where the last one ended.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lag.model import ClusterSnapshot, Unread, UnreadRange
from lag.offsets import UNKNOWN, Flags, Ints, OffsetTable
from lag.verdict.health import Health
from lag.verdict.row_index import group_of_row
from lag.verdict.rules.status_rules import MARKERS_ONLY, RECORDS, RemainderCodes
from lag.verdict.waiting import Waiting

CHECKS_PER_POLL = 20
"""Each check is a fetch of some 64 KB, or a few; further rows are checked in the next poll."""

Ask = Callable[[Sequence[UnreadRange]], Sequence[Unread | None]]
"""Returns what a read_committed consumer can still read in each of these ranges; None where it was not looked for."""


class Checks(NamedTuple):
    """Rows of the offset table (int64[n]) and what was found in the log of each.

    `refutes`: there is less to read than a verdict took for granted. `is_timed`: the time lag of a row is now known.
    """

    rows: Ints
    found: Sequence[Unread]
    refutes: bool
    is_timed: bool


def remainders(snapshot: ClusterSnapshot, waiting: Waiting) -> RemainderCodes:
    """uint8[n]: what checks tell about each row of the offset table, up to its present log end."""
    table = snapshot.offsets
    log_end = table.ends.log_end[table.end]
    is_passed = (table.lag > 0) & (waiting.passed >= log_end)
    codes = np.where(is_passed, MARKERS_ONLY, np.where(waiting.has_records == 1, RECORDS, 0))
    return codes.astype(np.uint8)


def look(health: Health, waiting: Waiting, ask: Ask) -> Checks:
    """Check the logs of the rows that need it most, at most CHECKS_PER_POLL of each kind."""
    table = health.snapshot.offsets
    doubtful = _in_order(health, waiting)[:CHECKS_PER_POLL]
    wanted = np.concatenate([doubtful, np.setdiff1d(_untimed(health, waiting), doubtful)])
    first, end = np.maximum(table.committed, waiting.passed)[wanted], _readable_end(table)[wanted]
    ranges = [
        UnreadRange(table.ends.tp(int(table.end[row])), low, high)
        for row, low, high in zip(wanted, first.tolist(), end.tolist(), strict=True)
    ]
    answers = ask(ranges) if ranges else ()
    found = [its for its in answers if its is not None]
    rows = wanted[[its is not None for its in answers]]
    passed = np.array([its.passed for its in found], np.int64)
    is_less = passed > np.maximum(table.committed, waiting.passed)[rows]
    timed = np.array([its.record_ms is not None for its in found], np.bool_)
    is_timed = bool(np.isin(rows[timed], health.needs_record_time).any())
    return Checks(rows, found, bool(_in_doubt(health, rows[is_less]).any()), is_timed)


def _untimed(health: Health, waiting: Waiting) -> Ints:
    """int64[n]: rows of which only a lower bound of the time lag is known, the highest lag first.

    Those that failed before come last.
    """
    rows, table = health.needs_record_time, health.snapshot.offsets
    rows = rows[(waiting.record_ms[rows] == UNKNOWN) & (waiting.has_records[rows] != 1)]
    order = np.lexsort((-table.lag[rows], waiting.failed_ms[rows]))
    first: Ints = rows[order][:CHECKS_PER_POLL]
    return first


def _in_doubt(health: Health, rows: Ints) -> Flags:
    """bool[n]: the verdict on the row takes for granted that there are records to read. In the first poll, on any."""
    return np.isin(rows, health.needs_marker_check) | (len(health.times_ms) == 1)


def _readable_end(table: OffsetTable) -> Ints:
    """int64[n]: where read_committed consumers stop: the last stable offset; where it is unknown, the log end."""
    log_end, stable = table.ends.log_end[table.end], table.ends.last_stable[table.end]
    return np.where(stable == UNKNOWN, log_end, np.minimum(stable, log_end))


def _in_order(health: Health, waiting: Waiting) -> Ints:
    """int64[n]: rows with a lag that did not move since the last poll and may be nothing to read.

    First those with a verdict that it would refute; of these, those that failed before come last, because some fail for
    good, as without the ACL to read the topic. Then groups with members, and small lags, which are more often markers.
    """
    snapshot = health.snapshot
    table, now_ms = snapshot.offsets, snapshot.at_ms
    left = _readable_end(table) - np.maximum(table.committed, waiting.passed)
    unmoved = (waiting.unmoved_ms < now_ms) | (waiting.first_ms == now_ms)
    is_open = (table.lag > 0) & (table.problem == 0) & (left > 0) & (waiting.has_records != 1) & unmoved
    rows = np.flatnonzero(is_open)
    calm = ~_in_doubt(health, rows)
    empty = np.array([group.has_no_members for group in snapshot.groups], np.bool_)
    failed_ms = waiting.failed_ms[rows]
    order = np.lexsort((left[rows], empty[group_of_row(table.bounds)[rows]], failed_ms, calm))
    ordered: Ints = rows[order]
    return ordered
