"""How long until deletion reaches what a group has not read: the data-loss countdown. Pure functions on columns.

Two things are known of it, and the earlier counts. By age: `retention.ms` less the age of the oldest unread record, at
the earliest, for Kafka deletes whole segments, by their newest record. By pace: the distance from the log start to the
position, over what deletion gains on the group a second.
"""

from dataclasses import dataclass

import numpy as np

from lag.model import FOREVER
from lag.offsets import UNKNOWN, Ints, OffsetTable
from lag.verdict import rates
from lag.verdict.rates import Floats, TimeLags
from lag.verdict.sample_rates import ROLLS
from lag.verdict.sample_window import RowWindow, Window


@dataclass(frozen=True, slots=True, eq=False)
class TimeToLoss:
    """Per row: `seconds`, 0 if deletion is there or due, NEVER if it does not gain on the group; NaN is not known.

    `at_most_s` bounds a time that is not known, where the record is only known to be older than our first sample.
    """

    seconds: Floats
    at_most_s: Floats


def of_rows(window: Window, table: OffsetTable, rows: Ints, retention_ms: int | None) -> TimeToLoss:
    """The countdown of those rows of `table`, all of topics with that retention."""
    blocks = [rows[block] for block in window.blocks(len(rows))]
    parts = [left(window.rows(block), table.lag[block], retention_ms) for block in blocks]
    return TimeToLoss(
        np.concatenate([part.seconds for part in parts]), np.concatenate([part.at_most_s for part in parts])
    )


def left(window: RowWindow, lag: Ints, retention_ms: int | None) -> TimeToLoss:
    """The earlier of the two, where the lag is known; `retention_ms` None: not known.

    Where the age is only bounded, a pace that would take longer is not believed.
    """
    committed, log_start = window.committed[-1], window.log_start[-1]
    age = rates.time_lag(np.maximum(committed, log_start), window.log_end, window.times_ms)
    aged, pace = by_age(_seconds(retention_ms), age), by_pace(window)
    earlier = np.where(pace > aged.at_most_s, np.nan, np.fmin(aged.seconds, pace))
    seconds = np.where(committed < log_start, 0.0, earlier)
    known = lag != UNKNOWN
    return TimeToLoss(np.where(known, seconds, np.nan), np.where(known & np.isnan(seconds), aged.at_most_s, np.nan))


def _seconds(retention_ms: int | None) -> float:
    return np.nan if retention_ms is None or retention_ms == FOREVER else retention_ms / 1000


def by_age(retention_s: float, age: TimeLags) -> TimeToLoss:
    """Until the oldest unread record has its retention behind it."""
    seconds, at_most = (np.maximum(retention_s - older, 0.0) for older in (age.seconds, age.at_least_s))
    return TimeToLoss(np.where(at_most == 0, 0.0, seconds), np.where(at_most == 0, np.nan, at_most))


def by_pace(window: RowWindow) -> Floats:
    """Until the log start, at its pace, reaches the group, at hers, both since the first deletion in the window.

    NaN with fewer than ROLLS deletions: they take whole segments. So `sample_rates.time_to_loss` has it, over hours.
    """
    start, committed, times_ms = (
        rates.forward_fill(window.log_start),
        rates.forward_fill(window.committed),
        window.times_ms,
    )
    lead = np.maximum(committed[-1] - start[-1], 0)
    rolls = np.zeros_like(start, np.bool_)
    rolls[1:] = (start[1:] > start[:-1]) & (start[:-1] != UNKNOWN) & (committed[1:] != UNKNOWN)
    first, last, rows = np.argmax(rolls, axis=0), rates.last_true(rolls), np.arange(len(lead))
    with np.errstate(invalid="ignore", divide="ignore"):
        deleted = (start[last, rows] - start[first, rows]) * 1000 / (times_ms[last] - times_ms[first])
        read = np.maximum(committed[-1] - committed[first, rows], 0) * 1000 / (times_ms[-1] - times_ms[first])
    return np.where(rolls.sum(axis=0) >= ROLLS, rates.drain(lead, deleted, read, gain=1.0), np.nan)
