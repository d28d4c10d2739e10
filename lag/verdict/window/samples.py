"""Lag at each sample of a log's offsets: samples and commits joined by time. Pure functions on arrays.

Lag is computed at sample times from the last commit at or before the sample (an as-of join), so a commit is never
compared with a log end of another moment.

A series is one group on one partition. Many series are computed at once, because calling NumPy costs more than a
thousand samples: the caller places them one after the other on a single time line. Arrays are [n_samples] or
[n_commits], int64 with -1 = unknown unless stated otherwise.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.window.rates import Floats

MAX_FILLED_SAMPLES = 2
"""An offset that a poll could not read takes the value of the poll before, at most this many times in a row."""

LOOKBACK_US = 2 * 3_600_000_000
"""Time lags are computed from the samples of this time; of a longer time lag, only this lower bound is known."""


@dataclass(frozen=True, slots=True, eq=False)
class LogSamples:
    """Samples of the partition of each series, ascending by series and time; `topic` numbers its topic ids."""

    series: Ints
    at_us: Ints
    log_start: Ints
    log_end: Ints
    last_stable: Ints
    topic: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Commits:
    """Commits, ascending by series and time; the offset of a tombstone is -1.

    `topic` is the number of the topic id in the commit; -1 = none. `bootstrap` (bool) marks commits from before the
    recording began: the topic is compacted, so they do not count as commits of their time.
    """

    series: Ints
    at_us: Ints
    offset: Ints
    topic: Ints
    bootstrap: Flags


@dataclass(frozen=True, slots=True, eq=False)
class LagSamples:
    """The lag at each sample. Times in microseconds on the common time line, lags in records.

    log           the number of the log: each series has its own, and a recreated or truncated topic is a new log
    committed_us  the time of that commit
    lag_raw       log end - committed offset, may be negative
    lost          records that were deleted before they were read
    newly_lost    those of them that were not lost at the sample before, at most LOOKBACK_US ago
    lag_read_committed   lag of a read_committed consumer
    other_topic   bool: the commit is for another topic id of the same name
    time_lag_us   float64; NaN where the record is older than the samples, then `at_least_us` (float64) is a lower bound
    """

    series: Ints
    at_us: Ints
    log: Ints
    committed: Ints
    committed_us: Ints
    log_start: Ints
    log_end: Ints
    lag: Ints
    lag_raw: Ints
    lost: Ints
    newly_lost: Ints
    lag_read_committed: Ints
    other_topic: Flags
    time_lag_us: Floats
    at_least_us: Floats


def lag_samples(samples: LogSamples, commits: Commits) -> LagSamples:
    """The lag at each sample, from the last commit at or before it."""
    samples = in_order(samples)
    log = log_numbers(samples)
    start, end, stable = (
        fill_gaps(column, log) for column in (samples.log_start, samples.log_end, samples.last_stable)
    )
    at = _last_commits(samples, commits)
    committed, topic = _as_of(commits.offset, at), _as_of(commits.topic, at)
    both_named = (committed != UNKNOWN) & (topic != UNKNOWN) & (samples.topic != UNKNOWN)
    other_topic = both_named & (topic != samples.topic)
    known = (committed != UNKNOWN) & (end != UNKNOWN) & ~other_topic
    position = np.maximum(committed, start)
    lost = np.where(known, np.maximum(start - committed, 0), 0)
    time_lag, at_least = _time_lags(samples, log, position, end, known)
    return LagSamples(
        series=samples.series,
        at_us=samples.at_us,
        log=log,
        committed=committed,
        committed_us=_as_of(commits.at_us, at),
        log_start=start,
        log_end=end,
        lag=np.where(known, np.maximum(end - position, 0), UNKNOWN),
        lag_raw=np.where(known, end - committed, 0),
        lost=lost,
        newly_lost=lost - _lost_before(samples, committed, start, known),
        lag_read_committed=np.where(known & (stable != UNKNOWN), np.maximum(stable - position, 0), UNKNOWN),
        other_topic=other_topic,
        time_lag_us=time_lag,
        at_least_us=at_least,
    )


def in_order(samples: LogSamples) -> LogSamples:
    """Samples with a log end between those of the two before it, under one topic id, have the offsets of the last one.

    Two servers whose clocks differ record such samples; a log that was truncated falls further, or does not rise again.
    """
    known = np.flatnonzero(samples.log_end != UNKNOWN)
    end, topic, series = samples.log_end[known], samples.topic[known], samples.series[known]
    same = (topic[1:] == topic[:-1]) & (topic[1:] != UNKNOWN) & (series[1:] == series[:-1])
    late = np.flatnonzero(same[1:] & same[:-1] & (end[2:] < end[1:-1]) & (end[2:] >= end[:-2])) + 2
    taken = np.arange(len(samples.log_end))
    taken[known[late]] = known[late - 1]
    columns = (samples.log_start, samples.log_end, samples.last_stable)
    start, log_end, stable = (column[taken] for column in columns)
    return replace(samples, log_start=start, log_end=log_end, last_stable=stable)


def log_numbers(samples: LogSamples) -> Ints:
    """int64[n_samples]: rises by 1 where a new log begins: another series, another topic id, or a lower log end."""
    topic, end = (_forward_fill(column, samples.series) for column in (samples.topic, samples.log_end))
    new_id = (topic[1:] != topic[:-1]) & (topic[:-1] != UNKNOWN)
    fell = (end[1:] < end[:-1]) & (samples.log_end[1:] != UNKNOWN)
    other = samples.series[1:] != samples.series[:-1]
    return np.concatenate(([0], np.cumsum(new_id | fell | other))) if len(topic) else np.zeros(0, np.int64)


def _forward_fill(column: Ints, series: Ints) -> Ints:
    """Unknown samples take the last known value of their series."""
    known = column != UNKNOWN
    if known.all():
        return column
    last = np.maximum.accumulate(np.where(known, np.arange(len(column)), 0))
    return np.where(series[last] == series, column[last], UNKNOWN)


def fill_gaps(column: Ints, log: Ints) -> Ints:
    """Unknown samples take the last known value of their log, from at most MAX_FILLED_SAMPLES before."""
    number = np.arange(len(column))
    last = np.maximum.accumulate(np.where(column != UNKNOWN, number, UNKNOWN)) if len(column) else number
    fresh = (last != UNKNOWN) & (number - last <= MAX_FILLED_SAMPLES) & (log[last] == log)
    return np.where(fresh, column[last], UNKNOWN)


def _last_commits(samples: LogSamples, commits: Commits) -> Ints:
    """int64[n_samples]: the index of the last commit at or before each sample; -1 = none."""
    at = np.searchsorted(commits.at_us, samples.at_us, "right") - 1
    return np.where(_as_of(commits.series, at) == samples.series, at, UNKNOWN)


def _as_of(column: Ints, at: Ints) -> Ints:
    return np.where(at >= 0, column[at], UNKNOWN) if len(column) else np.full(len(at), UNKNOWN)


def _lost_before(samples: LogSamples, committed: Ints, start: Ints, known: Flags) -> Ints:
    """int64[n_samples]: how many of the lost records, from the committed offset to the log start, were lost before.

    The samples of one topic id are compared: a truncated log keeps its start. Only those within LOOKBACK_US, because a
    minute must be the same in every run, and a run has no earlier samples.
    """
    rows = np.flatnonzero(known & (start != UNKNOWN))
    now, before = rows[1:], rows[:-1]
    same = (samples.series[now] == samples.series[before]) & (samples.topic[now] == samples.topic[before])
    same &= samples.at_us[now] - samples.at_us[before] <= LOOKBACK_US
    until, since = np.minimum(start[now], start[before]), np.maximum(committed[now], committed[before])
    both = np.zeros(len(known), np.int64)
    both[now] = np.where(same, np.maximum(until - since, 0), 0)
    return both


def _time_lags(samples: LogSamples, log: Ints, position: Ints, end: Ints, known: Flags) -> tuple[Floats, Floats]:
    """float64[n_samples] each: time lag and lower bound, interpolated between samples of the log end."""
    time_lag, at_least = np.full(len(position), np.nan), np.full(len(position), np.nan)
    at_us, log_end = samples.at_us, samples.log_end
    for part in _logs(log):
        read = np.flatnonzero(log_end[part] != UNKNOWN) + part.start
        if not len(read):
            continue
        rows = np.flatnonzero(known[part]) + part.start
        below = np.searchsorted(log_end[read], position[rows], "right") - 1
        low, high = read[np.maximum(below, 0)], read[np.minimum(below + 1, len(read) - 1)]
        step_us, step = at_us[high] - at_us[low], np.maximum(log_end[high] - log_end[low], 1)
        after_low_us = (position[rows] - log_end[low]) * step_us / step
        caught_up = position[rows] >= end[rows]
        bracketed = (below >= 0) & (at_us[low] >= at_us[rows] - LOOKBACK_US)
        age_us = np.where(bracketed, at_us[rows] - at_us[low] - after_low_us, np.nan)
        time_lag[rows] = np.where(caught_up, 0, age_us)
        sampled_us = np.minimum(at_us[rows] - at_us[read[0]], LOOKBACK_US)
        at_least[rows] = np.where(caught_up | bracketed, np.nan, sampled_us)
    return time_lag, at_least


def _logs(log: Ints) -> Iterator[slice]:
    """The samples of each log."""
    bounds = [0, *(np.flatnonzero(np.diff(log)) + 1).tolist(), len(log)]
    return (slice(first, after) for first, after in pairwise(bounds))
