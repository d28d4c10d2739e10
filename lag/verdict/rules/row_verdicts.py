"""Offsets over time -> status, time lag and drain time of each row of the offset table. Pure functions on arrays."""

from typing import NamedTuple

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints, OffsetTable
from lag.verdict.columns import concatenate
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource
from lag.verdict.row_index import group_of_row, reduce_groups
from lag.verdict.rules import status_rules
from lag.verdict.rules.status_rules import CurrentRows, RemainderCodes, Rules, WindowStats
from lag.verdict.status import STATUS_CODE, Status, StatusCodes
from lag.verdict.window import rates
from lag.verdict.window.rates import NEVER, Floats, TimeLags
from lag.verdict.window.sample_window import RowWindow, Window


class RowVerdicts(NamedTuple):
    """Judged rows: [n_rows] each, but `lag` is int64[n_samples, n_rows].

    `maybe_markers`: the lag may consist of transaction markers only. `onsets`: since when records wait under the
    present committed offset.
    """

    lag: Ints
    current: CurrentRows
    stats: WindowStats
    status: StatusCodes
    onsets: OnsetColumns
    time_lag: TimeLags
    drain_s: Floats
    maybe_markers: Flags
    needs_marker_check: Flags


class GroupFlags(NamedTuple):
    """bool[n_groups] each: groups without members, and share groups."""

    memberless: Flags
    shared: Flags


def judge_rows(window: RowWindow, current: CurrentRows, bounds: Ints, groups: GroupFlags, rules: Rules) -> RowVerdicts:
    """The rows of some groups: group i has the rows `bounds[i]:bounds[i + 1]`."""
    group = group_of_row(bounds)
    lag = rates.lags(window.committed, window.log_start, window.log_end)
    positions = window.positions()
    readable = lag if positions is window.committed else rates.lags(positions, window.log_start, window.log_end)
    at_most = np.where(readable[-1] == UNKNOWN, current.lag, readable[-1])
    to_read = current._replace(lag=np.minimum(current.lag, at_most))
    stats = status_rules.window_stats(window, readable, to_read, bounds, rules)
    group_moved_ms = reduce_groups(np.maximum, stats.moved_ms, bounds, UNKNOWN)[group]
    no_members = groups.memberless[group]
    codes = status_rules.row_status(stats, to_read, group_moved_ms, no_members, groups.shared[group], rules)
    still = stats.quiet | no_members | (stats.moved_ms == UNKNOWN)
    small = (codes == STATUS_CODE[Status.OK]) & still & status_rules.maybe_markers(to_read, rules)
    maybe_markers = small | (current.remainder == status_rules.MARKERS_ONLY)
    return RowVerdicts(
        lag=np.where(window.committed > window.log_end, UNKNOWN, lag),  # beyond the end it is not 0
        current=current,
        stats=stats,
        status=codes,
        onsets=_onsets(window, stats),
        time_lag=_time_lag(window, current),
        drain_s=np.where(maybe_markers, np.nan, _drain(current, stats, codes, rules)),
        maybe_markers=maybe_markers,
        needs_marker_check=(current.remainder == 0) & (small | np.isin(codes, status_rules.WAITS)),
    )


def time_lags(window: Window, table: OffsetTable, rows: Ints, remainders: RemainderCodes | None) -> TimeLags:
    """The time lag of these rows of `table`, whose last sample `window` ends with.

    `remainders` is that of `Health`, for all rows of the table.
    """
    blocks = [rows[block] for block in window.blocks(len(rows))]
    found = np.zeros(len(table), np.uint8) if remainders is None else remainders
    return concatenate([_time_lag(window.rows(b), status_rules.current_rows(table, b, found)) for b in blocks])


def _onsets(window: RowWindow, stats: WindowStats) -> OnsetColumns:
    """The onset of each row's run; a run that fills the window began at the poll that the memory of polls has."""
    waiting, since_ms, whole = window.waiting, stats.run_since_ms, stats.run_is_whole
    if waiting is None:
        source = np.full(len(since_ms), SOURCE_CODE[OnsetSource.WINDOW], np.uint8)
        return OnsetColumns(since_ms, ~whole & (since_ms != UNKNOWN), source)
    run_ms = waiting.run_since(since_ms, whole)
    return waiting.onsets(run_ms, ~whole | (run_ms > waiting.first_ms))


def _time_lag(window: RowWindow, current: CurrentRows) -> TimeLags:
    """The time lag, from the oldest unread record that is still stored; 0 if no record waits, NaN if it is unknown.

    No consumer can read transaction markers, so none waits where only these are left.
    """
    passed = np.maximum(window.passed(), current.log_start)
    position = np.where(current.committed == UNKNOWN, UNKNOWN, np.maximum(current.committed, passed))
    found = _by_record(window, current, rates.time_lag(position, window.log_end, window.times_ms))
    unknown = current.lag == UNKNOWN
    none = (current.lag == 0) | (current.remainder == status_rules.MARKERS_ONLY)
    return TimeLags(
        np.where(unknown, np.nan, np.where(none, 0.0, found.seconds)),
        np.where(unknown, np.nan, np.where(none, 0.0, found.error_bound_s)),
        np.where(unknown | none, np.nan, found.at_least_s),
    )


def _by_record(window: RowWindow, current: CurrentRows, found: TimeLags) -> TimeLags:
    """The same with the age of the first unread record, where its timestamp was read, and none was deleted before it.

    A clock of a producer that is ahead makes no record younger than 0 s.
    """
    if window.waiting is None:
        return found
    record_ms = window.waiting.record_ms
    is_read = (record_ms != UNKNOWN) & (current.log_start <= current.committed)
    age_s = np.maximum(window.times_ms[-1] - record_ms, 0) / 1000
    return TimeLags(
        np.where(is_read, age_s, found.seconds),
        np.where(is_read, 0.0, found.error_bound_s),
        np.where(is_read, np.nan, found.at_least_s),
    )


def _drain(current: CurrentRows, stats: WindowStats, codes: StatusCodes, rules: Rules) -> Floats:
    """As `rates.drain`, but lag / consume rate for a partition that keeps up, and NaN for "never" after a burst.

    NaN also where an open transaction holds the records: the rates do not tell when it ends.

    Where a group keeps up, the difference of the rates is noise: a few records would take "never" or a long time.
    """
    ok = codes == STATUS_CODE[Status.OK]
    keeps_up = ok & (current.lag > 0) & (current.lag <= stats.jitter) & (stats.consume > 0)
    seconds = rates.drain(current.lag, stats.consume, stats.produce, rules.gain)
    seconds = np.where(stats.held | (stats.after_burst & (seconds == NEVER)), np.nan, seconds)
    return np.where(keeps_up, current.lag / np.where(keeps_up, stats.consume, 1.0), seconds)
