"""How long until Kafka deletes records that a group has not read. Pure functions on arrays.

Two estimates, and the earlier one counts. By age: `retention.ms` minus the age of the oldest unread record; this is a
lower bound, because Kafka deletes whole segments by their newest record. By rate: the distance from the log start to
the group's position, divided by how much faster the log start moves than the group.
"""

from typing import NamedTuple

import numpy as np

from lag.model import FOREVER
from lag.offsets import UNKNOWN, Ints, OffsetTable
from lag.verdict import rates
from lag.verdict.columns import concatenate
from lag.verdict.rates import Floats, TimeLags
from lag.verdict.sample_rates import MIN_DELETIONS
from lag.verdict.sample_window import RowWindow, Window


class TimeToLoss(NamedTuple):
    """float64[n_rows] each: `seconds`, 0 if deletion is due, NEVER if it does not gain on the group; NaN = unknown.

    `at_most_s` is an upper bound of an unknown time: the record is older than the first sample.
    """

    seconds: Floats
    at_most_s: Floats


def of_rows(window: Window, table: OffsetTable, rows: Ints, retention_ms: int | None) -> TimeToLoss:
    """The time to loss of these rows of `table`, whose topics all have that retention (None: unknown)."""
    blocks = [rows[block] for block in window.blocks(len(rows))]
    return concatenate([of_window(window.rows(block), table.lag[block], retention_ms) for block in blocks])


def of_window(window: RowWindow, lag: Ints, retention_ms: int | None) -> TimeToLoss:
    """The earlier estimate, where `lag` (int64[n_rows]) is known.

    Where the age has only a lower bound, an estimate by rate that exceeds the resulting upper bound is ignored.
    """
    committed, log_start = window.committed[-1], window.log_start[-1]
    age = rates.time_lag(np.maximum(committed, log_start), window.log_end, window.times_ms)
    aged, rate_s = by_age(_seconds(retention_ms), age), by_rate(window)
    earlier = np.where(rate_s > aged.at_most_s, np.nan, np.fmin(aged.seconds, rate_s))
    seconds = np.where(committed < log_start, 0.0, earlier)
    known = lag != UNKNOWN
    return TimeToLoss(np.where(known, seconds, np.nan), np.where(known & np.isnan(seconds), aged.at_most_s, np.nan))


def _seconds(retention_ms: int | None) -> float:
    return np.nan if retention_ms is None or retention_ms == FOREVER else retention_ms / 1000


def by_age(retention_s: float, age: TimeLags) -> TimeToLoss:
    """Until the oldest unread record is older than the retention."""
    seconds, at_most = (np.maximum(retention_s - older, 0.0) for older in (age.seconds, age.at_least_s))
    return TimeToLoss(np.where(at_most == 0, 0.0, seconds), np.where(at_most == 0, np.nan, at_most))


def by_rate(window: RowWindow) -> Floats:
    """float64[n_rows]: seconds until the log start reaches the group, at the rates since the first deletion.

    NaN with fewer than MIN_DELETIONS deletions in the window. `sample_rates.time_to_loss` is the same over hours.
    """
    start, committed = rates.forward_fill(window.log_start), rates.forward_fill(window.committed)
    times_ms, lead = window.times_ms, np.maximum(committed[-1] - start[-1], 0)
    deletions = np.zeros_like(start, np.bool_)
    deletions[1:] = (start[1:] > start[:-1]) & (start[:-1] != UNKNOWN) & (committed[1:] != UNKNOWN)
    first, last, rows = np.argmax(deletions, axis=0), rates.last_true(deletions), np.arange(len(lead))
    with np.errstate(invalid="ignore", divide="ignore"):
        deleted = (start[last, rows] - start[first, rows]) * 1000 / (times_ms[last] - times_ms[first])
        consumed = np.maximum(committed[-1] - committed[first, rows], 0) * 1000 / (times_ms[-1] - times_ms[first])
    enough = deletions.sum(axis=0) >= MIN_DELETIONS
    return np.where(enough, rates.drain(lead, deleted, consumed, gain=1.0), np.nan)
