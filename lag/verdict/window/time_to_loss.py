"""How long until Kafka deletes records that a group has not read. Pure functions on arrays.

Two estimates, and the earlier one counts. By age: `retention.ms` minus the age of the oldest unread record; this is a
lower bound, because Kafka deletes whole segments by their newest record. By rate: the distance from the log start to
the group's position, divided by how much faster the log start moves than the group.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from math import isnan
from typing import NamedTuple

import numpy as np

from lag.model import FOREVER, ClusterSnapshot
from lag.offsets import UNKNOWN, Codes, Flags, Ints
from lag.verdict.columns import concatenate, take
from lag.verdict.window import rates
from lag.verdict.window.rates import NEVER, Floats, TimeLags
from lag.verdict.window.sample_rates import MIN_DELETIONS
from lag.verdict.window.sample_window import Window

BLOCK_ROWS = 100_000


class TimeToLoss(NamedTuple):
    """float64[n] each: `seconds`, 0 if deletion is due, NEVER if it does not gain on the group; NaN = unknown.

    `at_most_s` is an upper bound of an unknown time: the record is older than the first sample.
    """

    seconds: Floats
    at_most_s: Floats


class LeastTime(NamedTuple):
    """The least time to loss of one group of rows, as in `TimeToLoss`, and its row of the offset table; -1 = none."""

    seconds: float
    at_most_s: float
    row: int


class Least(NamedTuple):
    """The least time to loss of some groups of rows: [n] each; `row` int64, the row of the offset table, -1 = none."""

    time: TimeToLoss
    row: Ints

    def of(self, number: int) -> LeastTime:
        """The least time of one of the groups."""
        seconds, at_most_s = (float(column[number]) for column in self.time)
        return LeastTime(seconds, at_most_s, int(self.row[number]))


class NoTime(StrEnum):
    """Why there is no time until deletion."""

    NO_OFFSETS = "no_offsets"
    NEVER_REACHED = "never_reached"  # deletion does not gain on the group
    LAG_UNKNOWN = "lag_unknown"
    NOTHING_UNREAD = "nothing_unread"
    OLDER_THAN_SAMPLES = "older_than_samples"  # an upper bound is known
    NO_DELETION_BY_AGE = "no_deletion_by_age"
    RETENTION_UNKNOWN = "retention_unknown"


def of_groups(snapshot: ClusterSnapshot, window: Window) -> Least:
    """The least time to loss of the unread records of every group; `window` ends with the snapshot."""
    filled = np.flatnonzero(np.diff(snapshot.offsets.bounds))
    time, row = of_segments(snapshot, window, snapshot.offsets.bounds[filled])
    rows = np.full(len(snapshot.groups), -1, np.int64)
    rows[filled] = row
    return Least(_spread(time, filled, len(rows)), rows)


def of_group(snapshot: ClusterSnapshot, window: Window, number: int) -> Least:
    """The same as `of_groups`, for the group with that number alone."""
    bounds = snapshot.offsets.bounds[number : number + 2]
    if bounds[0] == bounds[1]:
        return Least(TimeToLoss(np.full(1, np.nan), np.full(1, np.nan)), np.full(1, -1))
    return _of_block(snapshot, window, bounds)


def of_segments(snapshot: ClusterSnapshot, window: Window, starts: Ints) -> Least:
    """The least time to loss of each segment of the offset table; `starts`: int64[n], the first row of each.

    In blocks of segments, so that memory does not depend on the size of the table.
    """
    bounds, first = np.append(starts, len(snapshot.offsets)), 0
    parts = [Least(TimeToLoss(np.zeros(0), np.zeros(0)), np.zeros(0, np.int64))]
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + BLOCK_ROWS, side="right")) - 1)
        parts.append(_of_block(snapshot, window, bounds[first : last + 1]))
        first = last
    return concatenate(parts)


def _of_block(snapshot: ClusterSnapshot, window: Window, bounds: Ints) -> Least:
    """Segment i has the rows `bounds[i]:bounds[i + 1]`, at least one."""
    table, first = snapshot.offsets, bounds[0]
    lag = table.lag[first : bounds[-1]]
    unread = np.flatnonzero((lag > 0) | (table.lost[first : bounds[-1]] > 0))
    left = _spread(of_rows(snapshot, window, first + unread), unread, len(lag))
    worst = worst_rows(left, bounds[:-1] - first, lag)
    return Least(take(left, worst), first + worst)


def _spread(times: TimeToLoss, at: Ints, n: int) -> TimeToLoss:
    """float64[n] each: the times at these places (int64[len(times)]), elsewhere NaN."""
    columns = np.full((len(times), n), np.nan)
    columns[:, at] = times
    return TimeToLoss(*columns)


def of_rows(snapshot: ClusterSnapshot, window: Window, rows: Ints) -> TimeToLoss:
    """The time to loss of these rows (int64[n]) of the offset table, also where nothing is unread."""
    table = snapshot.offsets
    retention_s = np.array([_retention_s(snapshot, topic) for topic in table.ends.topics], np.float64)
    return estimate(window, rows, table.lag[rows], retention_s[table.ends.topic[table.end[rows]]])


def estimate(window: Window, rows: Ints, lag: Ints, retention_s: Floats) -> TimeToLoss:
    """The earlier estimate for these rows of the window, where their `lag` (int64[n]) is known.

    `retention_s`: float64[n], NaN = none or unknown. Where the age has only a lower bound, an estimate by rate that
    exceeds the resulting upper bound is ignored. A group that has lost records loses more at once, if any are deleted.
    """
    end, position = window.end[rows], window.passed(rows)
    log_start = window.log_start[-1][end]
    age = rates.time_lag(np.maximum(position, log_start), window.log_end, window.times_ms, end)
    aged, rate_s = _by_age(retention_s, age), _by_rate(window, rows)
    earlier = np.where(rate_s > aged.at_most_s, np.nan, np.fmin(aged.seconds, rate_s))
    deletes = ~(np.isnan(earlier) & np.isnan(aged.at_most_s))
    seconds = np.where((position < log_start) & deletes, 0.0, earlier)
    known = lag != UNKNOWN
    return TimeToLoss(np.where(known, seconds, np.nan), np.where(known & np.isnan(seconds), aged.at_most_s, np.nan))


def retention_ms(snapshot: ClusterSnapshot, topic: str) -> int | None:
    """FOREVER if nothing is deleted by age, None if it is not known."""
    known = snapshot.topics.get(topic)
    return known.retention_ms if known else None


def _retention_s(snapshot: ClusterSnapshot, topic: str) -> float:
    known = retention_ms(snapshot, topic)
    return np.nan if known is None or known == FOREVER else known / 1000


def _by_age(retention_s: Floats, age: TimeLags) -> TimeToLoss:
    """Until the oldest unread record is older than the retention."""
    seconds, at_most = (np.maximum(retention_s - older, 0.0) for older in (age.seconds, age.at_least_s))
    return TimeToLoss(np.where(at_most == 0, 0.0, seconds), np.where(at_most == 0, np.nan, at_most))


def _by_rate(window: Window, rows: Ints) -> Floats:
    """float64[n_rows]: seconds until the log start reaches the group, at the rates since the first deletion.

    NaN with fewer than MIN_DELETIONS deletions in the window, counted from the first known commit on.
    `sample_rates.time_to_loss` is the same over hours.
    """
    end, count = window.end[rows], np.zeros(len(rows), np.int64)
    first, last = (np.zeros((3, len(rows)), np.int64) for _ in range(2))  # time, log start and committed offset
    for sample, moved in _deletions(window.log_start):
        committed = _last_known(window.committed[: sample + 1], rows)
        hit = np.flatnonzero(moved[end] & (committed != UNKNOWN))
        last[:, hit] = np.full(len(hit), window.times_ms[sample]), window.log_start[sample][end[hit]], committed[hit]
        new = hit[count[hit] == 0]
        first[:, new] = last[:, new]
        count[hit] += 1
    committed, log_start = _last_known(window.committed, rows), _last_known(window.log_start, end)
    with np.errstate(invalid="ignore", divide="ignore"):
        deleted = (last[1] - first[1]) * 1000 / (last[0] - first[0])
        consumed = np.maximum(committed - first[2], 0) * 1000 / (window.times_ms[-1] - first[0])
    seconds = rates.drain(np.maximum(committed - log_start, 0), deleted, consumed, gain=1.0)
    return np.where(count >= MIN_DELETIONS, seconds, np.nan)


def _deletions(log_start: Sequence[Ints]) -> Iterator[tuple[int, Flags]]:
    """The samples at which a log start had moved, with bool[n_ends]: which ones."""
    before = log_start[0]
    for sample, column in enumerate(log_start[1:], 1):
        moved = (column > before) & (before != UNKNOWN)
        if moved.any():
            yield sample, moved
        before = np.maximum(before, column)


def _last_known(columns: Sequence[Ints], rows: Ints | Codes) -> Ints:
    """int64[len(rows)]: the newest known value of these rows; `columns` has one int64[n] per sample, oldest first."""
    values = columns[-1][rows]
    for column in reversed(columns[:-1]):
        unknown = np.flatnonzero(values == UNKNOWN)
        if not len(unknown):
            break
        values[unknown] = column[rows[unknown]]
    return values


def worst_rows(left: TimeToLoss, starts: Ints, lag: Ints) -> Ints:
    """int64[n_segments]: the row of each segment with the least time left, or the lowest upper bound.

    If neither is known of any row, one with unread records, else one with an unknown lag. `starts`: int64[n_segments],
    the first row of each segment; `lag`: int64[n_rows].
    """
    segment = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(lag))))
    calm = np.select([lag > 0, lag == UNKNOWN], [0, 1], 2)
    order: Ints = np.lexsort((calm, np.fmin(left.seconds, left.at_most_s), segment))
    return order[starts]


def why_none(snapshot: ClusterSnapshot, row: int, seconds: float, at_most_s: float) -> NoTime | None:
    """Why a row of the offset table (-1: none) has no time until deletion; None: it has one."""
    if row < 0:
        return NoTime.NO_OFFSETS
    if not isnan(seconds):
        return NoTime.NEVER_REACHED if seconds == NEVER else None
    lag = snapshot.offsets.lag[row]
    if lag <= 0:
        return NoTime.LAG_UNKNOWN if lag == UNKNOWN else NoTime.NOTHING_UNREAD
    if not isnan(at_most_s):
        return NoTime.OLDER_THAN_SAMPLES
    topic = snapshot.offsets.ends.tp(int(snapshot.offsets.end[row])).topic
    is_known = retention_ms(snapshot, topic) == FOREVER
    return NoTime.NO_DELETION_BY_AGE if is_known else NoTime.RETENTION_UNKNOWN
