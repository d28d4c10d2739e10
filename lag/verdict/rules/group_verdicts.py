"""Judged rows -> one verdict per group. Pure functions on arrays; group i has the rows `bounds[i]:bounds[i + 1]`."""

from typing import NamedTuple

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.row_index import first_of_groups, group_of_row, reduce_groups
from lag.verdict.rules.row_verdicts import RowVerdicts
from lag.verdict.rules.status_rules import MARKERS_ONLY
from lag.verdict.status import STATUS_CODE, URGENCY, Status, StatusCodes
from lag.verdict.window.rates import NEVER, Floats, TimeLags


class GroupVerdicts(NamedTuple):
    """[n_groups] each, NaN = unknown.

    status         uint8, the most urgent status of its rows, or one of the group alone
    worst          int64, the row with that status and the most records waiting or lost; -1 = no rows
    counts         int64[n_groups, n_statuses], rows by status
    consume_rate, produce_rate   float64, records per second
    drain_s        float64, of the slowest row
    lag_trend      float64[n_groups, n_samples], records
    maybe_markers  int64, rows whose lag may consist of transaction markers only
    waiting        int64, rows with records to read, or with an unknown lag; not those without records and commits
    behind         int64, rows with a higher lag than a group that keeps up may have
    undecided      int64, rows of which nothing tells yet whether they are silent
    samples        int64, the most polls that know the lag of a row with records to read, the first at `first_ms`;
                   -1 = no such row
    """

    status: StatusCodes
    worst: Ints
    counts: Ints
    consume_rate: Floats
    produce_rate: Floats
    drain_s: Floats
    lag_trend: Floats
    maybe_markers: Ints
    waiting: Ints
    behind: Ints
    undecided: Ints
    samples: Ints
    first_ms: Ints


def judge_groups(rows: RowVerdicts, bounds: Ints, unread: Flags, idle: StatusCodes | None = None) -> GroupVerdicts:
    """`unread` is bool[n_groups]: not everything of the group was read; without rows, its status is unknown.

    `idle` is uint8[n_groups]: the status of a group that has no partition to read, else OK. UNKNOWN counts only without
    rows.
    """
    group, current = group_of_row(bounds), rows.current
    codes = reduce_groups(np.minimum, rows.status, bounds, STATUS_CODE[Status.OK])
    worst = _worst(rows, codes, group, bounds)
    is_empty = bounds[1:] == bounds[:-1]
    if idle is not None:
        codes = np.where(is_empty | (idle != STATUS_CODE[Status.UNKNOWN]), np.minimum(codes, idle), codes)
    codes[unread & is_empty] = STATUS_CODE[Status.UNKNOWN]
    samples, first_ms = _samples(rows, bounds)
    return GroupVerdicts(
        status=codes,
        worst=worst,
        counts=_counts(rows.status, group, len(codes)),
        consume_rate=_sum(rows.stats.consume, bounds),
        produce_rate=_sum(rows.stats.produce, bounds),
        drain_s=_drain(rows, bounds),
        lag_trend=_lag_trend(rows.lag, bounds).T,
        maybe_markers=_count(rows.maybe_markers, bounds),
        waiting=_count(_waiting(rows), bounds),
        behind=_count((current.lag > rows.stats.jitter) & (current.remainder != MARKERS_ONLY), bounds),
        undecided=_count(rows.stats.undecided & (current.remainder != MARKERS_ONLY) & ~rows.maybe_markers, bounds),
        samples=samples,
        first_ms=first_ms,
    )


def _waiting(rows: RowVerdicts) -> Flags:
    current = rows.current
    unknown = (current.lag == UNKNOWN) & (rows.status != STATUS_CODE[Status.OK])
    waits: Flags = ((current.lag > 0) | unknown) & (current.remainder != MARKERS_ONLY)
    return waits


def _samples(rows: RowVerdicts, bounds: Ints) -> tuple[Ints, Ints]:
    waits, never = rows.current.lag > 0, np.iinfo(np.int64).max
    samples = reduce_groups(np.maximum, np.where(waits, rows.stats.samples, UNKNOWN), bounds, UNKNOWN)
    first_ms = reduce_groups(np.minimum, np.where(waits, rows.stats.first_ms, never), bounds, never)
    return samples, np.where(samples == UNKNOWN, UNKNOWN, first_ms)


def _worst(rows: RowVerdicts, group_codes: StatusCodes, group: Ints, bounds: Ints) -> Ints:
    current = rows.current
    unread = np.where(current.committed == UNKNOWN, np.maximum(current.log_end - current.log_start, 0), 0)
    lost = np.where(rows.status == STATUS_CODE[Status.LOST], current.log_start - current.committed, 0)
    records = np.where(current.lag == UNKNOWN, unread, current.lag) + lost
    known_first = 2 * records + (current.lag != UNKNOWN)  # of equal rows, one whose polls tell something
    score = np.where(rows.status == group_codes[group], known_first, -1)
    return first_of_groups(score == reduce_groups(np.maximum, score, bounds, -1)[group], group, len(group_codes))


def _counts(codes: StatusCodes, group: Ints, groups: int) -> Ints:
    width = len(URGENCY)
    return np.bincount(group * width + codes, minlength=groups * width).reshape(groups, width)


def _count(chosen: Flags, bounds: Ints) -> Ints:
    return reduce_groups(np.add, chosen.astype(np.int64), bounds, 0)


def _sum(rate: Floats, bounds: Ints) -> Floats:
    """Sum of the known rates; NaN if none is known."""
    known = ~np.isnan(rate)
    total = reduce_groups(np.add, np.where(known, rate, 0.0), bounds, np.nan)
    return np.where(reduce_groups(np.logical_or, known, bounds, False), total, np.nan)


def group_time_lag(rows: RowVerdicts, bounds: Ints) -> TimeLags:
    """float64[n_groups] each: the longest of its rows; one with only a lower bound gives the group a lower bound."""
    time_lag, group = rows.time_lag, group_of_row(bounds)
    unclear = rows.maybe_markers & (rows.current.remainder != MARKERS_ONLY)
    seconds = np.where(unclear, np.nan, time_lag.seconds)
    at_least = reduce_groups(np.fmax, np.where(unclear, np.nan, time_lag.at_least_s), bounds, np.nan)
    longest = reduce_groups(np.fmax, seconds, bounds, np.nan)
    bounds_s = np.where(seconds == longest[group], time_lag.error_bound_s, np.nan)
    bounded_below = ~np.isnan(at_least)
    return TimeLags(
        np.where(bounded_below, np.nan, longest),
        np.where(bounded_below, np.nan, reduce_groups(np.fmax, bounds_s, bounds, np.nan)),
        np.where(bounded_below, np.fmax(at_least, longest), np.nan),
    )


def _drain(rows: RowVerdicts, bounds: Ints) -> Floats:
    """The drain time of the slowest row with a known lag: NEVER if one never drains, else NaN if one is unknown."""
    seconds = np.where((rows.current.lag == UNKNOWN) | rows.maybe_markers, -np.inf, rows.drain_s)
    never = reduce_groups(np.logical_or, seconds == NEVER, bounds, False)
    slowest = np.where(never, NEVER, reduce_groups(np.maximum, seconds, bounds, np.nan))
    return np.where(slowest == -np.inf, np.nan, slowest)


def _lag_trend(lag: Ints, bounds: Ints) -> Floats:
    """float64[n_samples, n_groups]: sum of the known lags; NaN if none is known, or if one is missing in between."""
    known = lag != UNKNOWN
    total = reduce_groups(np.add, np.where(known, lag, 0), bounds, 0)
    shown = reduce_groups(np.logical_or, known, bounds, False)
    if not known.all():
        gap = np.logical_or.accumulate(known, axis=0) & ~known & known[-1]
        shown &= ~reduce_groups(np.logical_or, gap, bounds, False)
    return np.where(shown, total, np.nan)
