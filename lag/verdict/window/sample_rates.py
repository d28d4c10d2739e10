"""Consume rate, produce rate and time to loss from samples (`lag.verdict.window.samples`). Pure functions on arrays."""

from typing import NamedTuple

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.window.rates import Floats
from lag.verdict.window.samples import LOOKBACK_US, LagSamples

MAX_GAP_US = 5 * 60_000_000
"""Two samples that are further apart do not count for a rate."""

DRAIN_US, DRAIN_MIN_US = 15 * 60_000_000, 5 * 60_000_000
"""A drain time uses the rates of this time before it, and needs at least the second: groups commit in bursts."""

MIN_DELETIONS = 3
"""How often the log start must have moved before it has a rate: Kafka deletes whole segments."""


def time_to_loss(samples: LagSamples, rows: Ints) -> Floats:
    """float64[len(rows)]: seconds until the log start reaches the group's position; infinite if it does not gain.

    lead / (deleted - consumed per second), both rates since the first of the last MIN_DELETIONS or more deletions
    within LOOKBACK_US; NaN with fewer. 0: the position is already deleted. `rows` indexes the samples.
    """
    deletions = _deletions(samples)
    newest = np.searchsorted(deletions, rows, "right") - 1
    oldest = np.maximum(
        np.searchsorted(samples.at_us[deletions], samples.at_us[rows] - LOOKBACK_US),
        np.searchsorted(deletions, np.searchsorted(samples.log, samples.log[rows])),
    )
    seconds = np.full(len(rows), np.nan)
    enough = np.flatnonzero(newest - oldest + 1 >= MIN_DELETIONS)
    first, last, now = deletions[oldest[enough]], deletions[newest[enough]], rows[enough]
    at_us, start, committed = samples.at_us, samples.log_start, samples.committed
    deleted = (start[last] - start[first]) / (at_us[last] - at_us[first])
    consumed = np.maximum(committed[now] - committed[first], 0) / np.maximum(at_us[now] - at_us[first], 1)
    lead, gains = np.maximum(committed[now] - start[now], 0), deleted > consumed
    until_loss = lead / np.where(gains, deleted - consumed, 1.0) / 1e6
    seconds[enough] = np.where(lead == 0, 0.0, np.where(gains, until_loss, np.inf))
    return seconds


def _deletions(samples: LagSamples) -> Ints:
    """int64[n]: the samples at which the log start had moved."""
    known = np.flatnonzero((samples.log_start != UNKNOWN) & (_positions(samples) != UNKNOWN))
    moved = (np.diff(samples.log_start[known]) > 0) & (np.diff(samples.log[known]) == 0)
    deletions: Ints = known[1:][moved]
    return deletions


def _positions(samples: LagSamples) -> Ints:
    """The committed offset; unknown if it is for another topic id of the same name."""
    return np.where(samples.other_topic, UNKNOWN, samples.committed)


class Growth(NamedTuple):
    """The increase in records and the time since the sample before; 0 and 0 where unknown.

    int64[n_samples] each.
    """

    records: Ints
    took_us: Ints

    def recent_rate(self, samples: LagSamples, rows: Ints) -> Floats:
        """float64[len(rows)]: records per second over DRAIN_US; NaN if less than DRAIN_MIN_US of the log is known."""
        since = np.maximum(
            np.searchsorted(samples.at_us, samples.at_us[rows] - DRAIN_US),
            np.searchsorted(samples.log, samples.log[rows]),
        )
        records, took_us = (total[rows] - total[since] for total in map(np.cumsum, self))
        return np.where(took_us >= DRAIN_MIN_US, records * 1e6 / np.maximum(took_us, 1), np.nan)


def growths(samples: LagSamples) -> tuple[Growth, Growth]:
    """Records consumed and produced, within one log and between samples at most MAX_GAP_US apart."""
    span = np.diff(samples.at_us, prepend=samples.at_us[:1])
    pair = (span > 0) & (span <= MAX_GAP_US) & (np.diff(samples.log, prepend=samples.log[:1]) == 0)
    return _growth(_positions(samples), span, pair), _growth(samples.log_end, span, pair)


def _growth(values: Ints, span: Ints, pair: Flags) -> Growth:
    before = np.concatenate((values[:1], values[:-1]))
    known = pair & (values != UNKNOWN) & (before != UNKNOWN)
    return Growth(np.where(known, np.maximum(values - before, 0), 0), np.where(known, span, 0))
