"""What is known of lag at each sample of a log's ends: commits and samples put together by time.

The rule: lag is computed at sample times, with the last commit at or before each (the as-of rule). So a commit is never
compared with a log end of another moment. Pure functions on columns; -1 is "not known", as in `lag.offsets`.

A series is one group on one partition. Many are computed at once, for NumPy takes longer to be called than for a
thousand samples: one comes after the other on a single line of time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lag.offsets import UNKNOWN, Ints
from lag.verdict.rates import Flags, Floats

CARRIED_POLLS = 2
"""An end that a poll could not read is taken to be that of the poll before, so many times in a row."""

LOOKBACK_US = 2 * 3_600_000_000
"""Time lags are read off the samples of so long before; a longer one is only known to be longer."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Samples of a series' partition, ascending by series and time. `topic` numbers the topic's ids, -1: not known."""

    series: Ints
    at_us: Ints
    log_start: Ints
    log_end: Ints
    last_stable: Ints
    topic: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Commits:
    """Commits, ascending by series and time; a tombstone's offset is -1.

    `topic` is the number of the topic id that the commit names, -1: it names none. `bootstrap` commits were there
    before anyone looked: what came before them is not known, so they are no news.
    """

    series: Ints
    at_us: Ints
    offset: Ints
    topic: Ints
    bootstrap: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """What is known at each sample; -1 and NaN are "not known". Times in us on the line of all, lags in records.

    `raw` is log end - committed and may be below 0; `time_lag_us` is NaN where the record at the commit is older than
    our samples, then `at_least_us` bounds it from below. `life` counts the logs, each of one series.
    """

    series: Ints
    at_us: Ints
    life: Ints
    committed: Ints
    log_start: Ints
    log_end: Ints
    lag: Ints
    raw: Ints
    lost: Ints
    lag_rc: Ints
    stale: Flags
    time_lag_us: Floats
    at_least_us: Floats


def samples(ends: Ends, commits: Commits) -> Samples:
    """Put the commits beside the samples."""
    life = lives(ends)
    start, end, stable = (carried(column, life) for column in (ends.log_start, ends.log_end, ends.last_stable))
    at = _last_commits(ends, commits)
    committed, named = _as_of(commits.offset, at), _as_of(commits.topic, at)
    stale = (committed != UNKNOWN) & (named != UNKNOWN) & (ends.topic != UNKNOWN) & (named != ends.topic)
    known = (committed != UNKNOWN) & (end != UNKNOWN) & ~stale
    position = np.maximum(committed, start)
    time_lag, at_least = _time_lags(ends, life, position, end, known)
    return Samples(
        series=ends.series,
        at_us=ends.at_us,
        life=life,
        committed=committed,
        log_start=start,
        log_end=end,
        lag=np.where(known, np.maximum(end - position, 0), UNKNOWN),
        raw=np.where(known, end - committed, 0),
        lost=np.where(known, np.maximum(start - committed, 0), 0),
        lag_rc=np.where(known & (stable != UNKNOWN), np.maximum(stable - position, 0), UNKNOWN),
        stale=stale,
        time_lag_us=time_lag,
        at_least_us=at_least,
    )


def lives(ends: Ends) -> Ints:
    """A number for each sample that goes up when the log begins anew: another topic id, or an end that fell."""
    topic, end = _held(ends.topic, ends.series), _held(ends.log_end, ends.series)
    anew = (topic[1:] != topic[:-1]) & (topic[:-1] != UNKNOWN)
    fell = (end[1:] < end[:-1]) & (ends.log_end[1:] != UNKNOWN)
    other = ends.series[1:] != ends.series[:-1]
    return np.concatenate(([0], np.cumsum(anew | fell | other))) if len(topic) else np.zeros(0, np.int64)


def _held(column: Ints, series: Ints) -> Ints:
    """As `lag.verdict.rates.forward_fill`, for series one after the other instead of side by side."""
    known = column != UNKNOWN
    if known.all():
        return column
    last = np.maximum.accumulate(np.where(known, np.arange(len(column)), 0))
    return np.where(series[last] == series, column[last], UNKNOWN)


def carried(column: Ints, life: Ints) -> Ints:
    """Unknown samples take the value of at most CARRIED_POLLS samples before, of the same log."""
    number = np.arange(len(column))
    last = np.maximum.accumulate(np.where(column != UNKNOWN, number, UNKNOWN)) if len(column) else number
    fresh = (last != UNKNOWN) & (number - last <= CARRIED_POLLS) & (life[last] == life)
    return np.where(fresh, column[last], UNKNOWN)


def _last_commits(ends: Ends, commits: Commits) -> Ints:
    """The number of the last commit at or before each sample; -1 without one."""
    at = np.searchsorted(commits.at_us, ends.at_us, "right") - 1
    return np.where(_as_of(commits.series, at) == ends.series, at, UNKNOWN)


def _as_of(column: Ints, at: Ints) -> Ints:
    return np.where(at >= 0, column[at], UNKNOWN) if len(column) else np.full(len(at), UNKNOWN)


def _time_lags(ends: Ends, life: Ints, position: Ints, end: Ints, known: Flags) -> tuple[Floats, Floats]:
    """How long ago the record at `position` was written, read off the samples of the log's end (never extrapolated)."""
    time_lag, at_least = np.full(len(position), np.nan), np.full(len(position), np.nan)
    for log in _logs(life):
        read = np.flatnonzero(ends.log_end[log] != UNKNOWN) + log.start
        if not len(read):
            continue
        mine = np.flatnonzero(known[log]) + log.start
        below = np.searchsorted(ends.log_end[read], position[mine], "right") - 1
        low, high = read[np.maximum(below, 0)], read[np.minimum(below + 1, len(read) - 1)]
        width = ends.at_us[high] - ends.at_us[low]
        steps = np.maximum(ends.log_end[high] - ends.log_end[low], 1)
        later = (position[mine] - ends.log_end[low]) * width / steps
        near = ends.at_us[low] >= ends.at_us[mine] - LOOKBACK_US
        caught_up, bracketed = position[mine] >= end[mine], (below >= 0) & near
        time_lag[mine] = np.where(caught_up, 0, np.where(bracketed, ends.at_us[mine] - ends.at_us[low] - later, np.nan))
        seen = np.minimum(ends.at_us[mine] - ends.at_us[read[0]], LOOKBACK_US)
        at_least[mine] = np.where(caught_up | bracketed, np.nan, seen)
    return time_lag, at_least


def _logs(life: Ints) -> Iterator[slice]:
    """The samples of each log."""
    bounds = [0, *(np.flatnonzero(np.diff(life)) + 1).tolist(), len(life)]
    return (slice(since, until) for since, until in pairwise(bounds))
