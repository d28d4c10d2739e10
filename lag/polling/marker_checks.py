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
from lag.verdict.rules.row_verdicts import time_lags
from lag.verdict.rules.status_rules import MARKERS_ONLY, RECORDS, RemainderCodes
from lag.verdict.waiting import Waiting
from lag.verdict.window.sample_window import Window

CHECKS_PER_POLL = 20
"""Each check is a fetch of some 64 KB, or a few; further rows are checked in the next poll."""

TIME_ERROR_S, TIME_ERROR = 1.0, 0.05

Ask = Callable[[Sequence[UnreadRange]], Sequence[Unread | None]]
"""Returns what a read_committed consumer can still read in each of these ranges; None where it was not looked for."""


class Checks(NamedTuple):
    """Rows of the offset table (int64[n]) and what was found in the log of each.

    `refutes`: there is less to read than a verdict took for granted.
    """

    rows: Ints
    found: Sequence[Unread]
    refutes: bool = False


def remainders(snapshot: ClusterSnapshot, waiting: Waiting) -> RemainderCodes:
    """uint8[n]: what checks tell about each row of the offset table, up to its present log end."""
    table = snapshot.offsets
    log_end = table.ends.log_end[table.end]
    is_passed = (table.lag > 0) & (waiting.passed >= log_end)
    codes = np.where(is_passed, MARKERS_ONLY, np.where(waiting.has_records == 1, RECORDS, 0))
    return codes.astype(np.uint8)


def read_times(snapshot: ClusterSnapshot, window: Window, waiting: Waiting, ask: Ask) -> Checks:
    """Read when the first unread record was written where the polls do not tell, the highest lag first.

    That is wherever the time lag is neither within TIME_ERROR_S nor within TIME_ERROR of itself. Logs that could not be
    read before come last, and at most CHECKS_PER_POLL are read.
    """
    table = snapshot.offsets
    rows = np.flatnonzero(
        (table.lag > 0) & (table.problem == 0) & (waiting.record_ms == UNKNOWN) & (waiting.has_records != 1)
    )
    found = time_lags(window, table, rows, remainders(snapshot, waiting))
    is_wide = found.error_bound_s > np.maximum(TIME_ERROR_S, TIME_ERROR * found.seconds)
    rows = rows[~np.isnan(found.at_least_s) | is_wide]
    rows = rows[_left(table, waiting)[rows] > 0]
    order = np.lexsort((-table.lag[rows], waiting.failed_ms[rows]))
    return Checks(*_checked(table, waiting, rows[order][:CHECKS_PER_POLL], ask))


def look(health: Health, waiting: Waiting, ask: Ask) -> Checks:
    """Check the logs of the rows whose verdict needs it most, at most CHECKS_PER_POLL."""
    table = health.snapshot.offsets
    rows, found = _checked(table, waiting, _in_order(health, waiting)[:CHECKS_PER_POLL], ask)
    passed = np.array([its.passed for its in found], np.int64)
    is_less = passed > np.maximum(table.committed, waiting.passed)[rows]
    return Checks(rows, found, bool(_in_doubt(health, rows[is_less]).any()))


def _checked(table: OffsetTable, waiting: Waiting, rows: Ints, ask: Ask) -> tuple[Ints, list[Unread]]:
    """Of these rows those that there was time for, and what was found in the log of each."""
    first, end = np.maximum(table.committed, waiting.passed)[rows], _readable_end(table)[rows]
    ranges = [
        UnreadRange(table.ends.tp(int(table.end[row])), low, high)
        for row, low, high in zip(rows, first.tolist(), end.tolist(), strict=True)
    ]
    answers = ask(ranges) if ranges else ()
    return rows[[its is not None for its in answers]], [its for its in answers if its is not None]


def _in_doubt(health: Health, rows: Ints) -> Flags:
    """bool[n]: the verdict on the row takes for granted that there are records to read. In the first poll, on any."""
    return np.isin(rows, health.needs_marker_check) | (len(health.times_ms) == 1)


def _readable_end(table: OffsetTable) -> Ints:
    """int64[n]: where read_committed consumers stop: the last stable offset; where it is unknown, the log end."""
    log_end, stable = table.ends.log_end[table.end], table.ends.last_stable[table.end]
    return np.where(stable == UNKNOWN, log_end, np.minimum(stable, log_end))


def _left(table: OffsetTable, waiting: Waiting) -> Ints:
    """int64[n]: how many offsets are left where a log was not looked into."""
    left: Ints = _readable_end(table) - np.maximum(table.committed, waiting.passed)
    return left


def _in_order(health: Health, waiting: Waiting) -> Ints:
    """int64[n]: rows with a lag that did not move since the last poll and may be nothing to read.

    First those with a verdict that it would refute; of these, those that failed before come last, because some fail for
    good, as without the ACL to read the topic. Then groups with members, and small lags, which are more often markers.
    """
    snapshot = health.snapshot
    table, now_ms = snapshot.offsets, snapshot.at_ms
    left = _left(table, waiting)
    unmoved = (waiting.unmoved_ms < now_ms) | (waiting.first_ms == now_ms)
    is_open = (table.lag > 0) & (table.problem == 0) & (left > 0) & (waiting.has_records != 1) & unmoved
    is_open &= waiting.failed_ms != now_ms
    rows = np.flatnonzero(is_open)
    calm = ~_in_doubt(health, rows)
    empty = np.array([group.has_no_members for group in snapshot.groups], np.bool_)
    failed_ms = waiting.failed_ms[rows]
    order = np.lexsort((left[rows], empty[group_of_row(table.bounds)[rows]], failed_ms, calm))
    ordered: Ints = rows[order]
    return ordered
