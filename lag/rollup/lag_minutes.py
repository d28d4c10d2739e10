"""Lag of groups on partitions by the minute, from samples (`lag.verdict.window.samples`) and commits."""

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.rules.status_rules import Rules
from lag.verdict.status import STATUS_CODE, Status
from lag.verdict.window import rates
from lag.verdict.window.rates import Floats
from lag.verdict.window.sample_rates import Growth, growths, time_to_loss
from lag.verdict.window.samples import LOOKBACK_US, Commits, LagSamples, LogSamples, lag_samples

MINUTE_US = 60_000_000
QUIET_US = 10 * MINUTE_US
"""A partition with waiting records and no commit for this time has stopped, unless it usually takes longer."""
HABIT_US = LOOKBACK_US - QUIET_US
"""The longest wait in this time is what a partition usually takes; of earlier ones not every run has the beginning."""

UNUSUAL = Rules().commit_gap_factor
"""A wait is unusual from this many times the longest one on, as in the live verdict."""

BEYOND_SAMPLES = 3
"""In how many samples in succession a commit must be beyond the log end. A single one shows that two clocks differ.

One poll is enough for the live verdict: `lag.cluster.reader` reads the log end again after the commit.
"""

Column = TypeVar("Column", Ints, Floats)

_MOST = np.iinfo(np.int64).max
_STATUSES = (
    Status.LOST, Status.TOPIC_DELETED, Status.BEYOND_END, Status.UNKNOWN, Status.OK, Status.STOPPED, Status.REWOUND,
)  # fmt: skip
"""The status of a minute is that of the first of these rules that holds."""


class LagMinutes(NamedTuple):
    """One row for each minute with a sample or a commit, series by series; [n_minutes] each, -1 and NaN = unknown.

    Lags, `lost`, `newly_lost`, `lead_min` and `rewind_records` are records; rates are records per second; `status`
    indexes `URGENCY`. `has_raw`: whether `lag_raw_min` and `lead_min`, which may be negative, are known.
    """

    series: Ints
    minute_us: Ints
    committed_last: Ints
    log_start: Ints
    log_end: Ints
    lag_avg: Floats
    lag_max: Ints
    lag_last: Ints
    has_raw: Flags
    lag_raw_min: Ints
    lag_rc_last: Ints
    lost: Ints
    newly_lost: Ints
    lead_min: Ints
    time_lag_avg_ms: Floats
    time_lag_max_ms: Floats
    time_lag_min_ms: Floats
    time_lag_bounded: Flags
    commits: Ints
    commit_gap_max_ms: Ints
    commit_gap_open_ms: Ints
    rewinds: Ints
    rewind_records: Ints
    consume_rate: Floats
    produce_rate: Floats
    eta_s: Floats
    time_to_loss_s: Floats
    status: NDArray[np.int8]
    samples: Ints
    lag_samples: Ints
    time_lag_samples: Ints


def minutes(ends: LogSamples, commits: Commits, since_us: int, until_us: int) -> LagMinutes:
    """The minutes of [since, until), both full minutes; earlier samples and commits count for status and time lag."""
    line = _Line.of(ends.at_us, commits.at_us)
    inside = (ends.at_us >= since_us) & (ends.at_us < until_us)
    known = commits.offset != UNKNOWN
    news = known & ~commits.bootstrap & (commits.at_us >= since_us) & (commits.at_us < until_us)
    commits = replace(commits, at_us=line.on(commits.series, commits.at_us))
    at = lag_samples(replace(ends, at_us=line.on(ends.series, ends.at_us)), commits)
    sampled = at.at_us[inside] // MINUTE_US
    every = np.union1d(sampled[~_follows(sampled)], commits.at_us[news] // MINUTE_US)
    return _Fold(at, inside, commits, news, every, line).minutes()


@dataclass(frozen=True, slots=True)
class _Line:
    """A time line with all series one after the other, each `length_us` long, in full minutes."""

    begin_us: int
    length_us: int

    @classmethod
    def of(cls, *times_us: Ints) -> "_Line":
        """Long enough for all of these times."""
        known = [column for column in times_us if len(column)]
        begin = min((int(column.min()) for column in known), default=0)
        end = max((int(column.max()) for column in known), default=0)
        begin -= begin % MINUTE_US
        return cls(begin, (end - begin) // MINUTE_US * MINUTE_US + MINUTE_US)

    def on(self, series: Ints, at_us: Ints) -> Ints:
        """int64[n]: the position of each time on the line."""
        return at_us - self.begin_us + series * self.length_us

    def off(self, places_us: Ints) -> tuple[Ints, Ints]:
        """int64[n] each: series and time of each position."""
        return places_us // self.length_us, places_us % self.length_us + self.begin_us


class _Fold:
    """Aggregates samples and commits by minute."""

    def __init__(self, at: LagSamples, inside: Flags, commits: Commits, news: Flags, every: Ints, line: _Line) -> None:
        self._line = line
        self._at, self._inside, self._commits, self._news, self._every = at, inside, commits, news, every
        self._row = np.searchsorted(every, at.at_us // MINUTE_US)
        self._commit_row = np.searchsorted(every, commits.at_us // MINUTE_US)
        self._known = inside & (at.lag != UNKNOWN)

    def minutes(self) -> LagMinutes:
        at, known = self._at, self._known
        consumed, produced = growths(at)
        lag_last, (raw_min, has_raw) = self._last(at.lag), self._least(at.lag_raw, known)
        open_gap = self._open_gap()
        gap, rewinds, rewound = self._moves(open_gap)
        timed = known & ~np.isnan(at.time_lag_us)
        lost = self._most(at.lost, known, UNKNOWN)
        series, minute_us = self._line.off(self._every * MINUTE_US)
        return LagMinutes(
            series=series,
            minute_us=minute_us,
            committed_last=self._last(at.committed),
            log_start=self._last(at.log_start),
            log_end=self._last(at.log_end),
            lag_avg=self._mean(at.lag, known),
            lag_max=self._most(at.lag, known, UNKNOWN),
            lag_last=lag_last,
            has_raw=has_raw,
            lag_raw_min=raw_min,
            lag_rc_last=self._last(at.lag_read_committed),
            lost=lost,
            newly_lost=self._total(at.newly_lost, known),
            lead_min=self._least(at.committed - at.log_start, known)[0],
            time_lag_avg_ms=self._mean(at.time_lag_us / 1000, timed),
            time_lag_max_ms=self._most(np.nan_to_num(at.time_lag_us) / 1000, timed, np.nan),
            time_lag_min_ms=self._most(np.nan_to_num(at.at_least_us) / 1000, known & ~timed, np.nan),
            time_lag_bounded=self._count(timed) == self._count(known),
            commits=np.bincount(self._commit_row[self._news], minlength=len(self._every)),
            commit_gap_max_ms=gap,
            commit_gap_open_ms=open_gap,
            rewinds=rewinds,
            rewind_records=rewound,
            consume_rate=self._rate(consumed),
            produce_rate=self._rate(produced),
            eta_s=self._drains(consumed, produced),
            time_to_loss_s=self._time_to_loss(),
            status=self._status(lag_last, lost, rewinds),
            samples=self._count(self._inside),
            lag_samples=self._count(known),
            time_lag_samples=self._count(timed),
        )

    def _count(self, chosen: Flags) -> Ints:
        return np.bincount(self._row[chosen], minlength=len(self._every))

    def _sum(self, values: Ints | Floats, chosen: Flags) -> Floats:
        return np.bincount(self._row[chosen], values[chosen], len(self._every)).astype(np.float64)

    def _total(self, values: Ints, chosen: Flags) -> Ints:
        """The sum of whole numbers; -1 = none is chosen."""
        return np.where(self._count(chosen) > 0, self._sum(values, chosen), UNKNOWN).astype(np.int64)

    def _mean(self, values: Ints | Floats, chosen: Flags) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = self._sum(values, chosen) / self._count(chosen)
        return mean

    def _most(self, values: Column, chosen: Flags, without: float) -> Column:
        """The maximum of non-negative values."""
        most = np.zeros(len(self._every), values.dtype)
        np.maximum.at(most, self._row[chosen], values[chosen])
        most[self._count(chosen) == 0] = without
        return most

    def _least(self, values: Ints, chosen: Flags) -> tuple[Ints, Flags]:
        least = np.full(len(self._every), _MOST)
        np.minimum.at(least, self._row[chosen], values[chosen])
        has = least != _MOST
        return np.where(has, least, 0), has

    def _last(self, values: Ints) -> Ints:
        """The last known value of each minute."""
        last = np.full(len(self._every), UNKNOWN)
        chosen = self._inside & (values != UNKNOWN)
        last[self._row[chosen]] = values[chosen]
        return last

    def _rate(self, growth: Growth) -> Floats:
        """float64[n_minutes]: records per second; NaN without two samples of one log."""
        with np.errstate(invalid="ignore", divide="ignore"):
            rate: Floats = self._sum(growth.records, self._inside) * 1e6 / self._sum(growth.took_us, self._inside)
        return rate

    def _drains(self, consumed: Growth, produced: Growth) -> Floats:
        """Seconds until the lag at the end of each minute is 0, at the rates of DRAIN_US before."""
        left = np.full(len(self._every), np.nan)
        judged = self._newest(self._known)
        consume, produce = (growth.recent_rate(self._at, judged) for growth in (consumed, produced))
        left[self._row[judged]] = rates.drain(self._at.lag[judged], consume, produce)
        return left

    def _newest(self, chosen: Flags) -> Ints:
        """int64[n]: the newest chosen sample of each minute that has one."""
        number = np.flatnonzero(chosen)
        return number[np.diff(self._row[number], append=len(self._every)) > 0]

    def _time_to_loss(self) -> Floats:
        """Seconds until deletion reaches the group's position, at the end of each minute (`time_to_loss`)."""
        left = np.full(len(self._every), np.nan)
        judged = self._newest(self._known & (self._at.log_start != UNKNOWN))
        left[self._row[judged]] = time_to_loss(self._at, judged)
        return left

    def _moves(self, open_gap: Ints) -> tuple[Ints, Ints, Ints]:
        """int64[n_minutes] each: longest time without a commit (ms), number of rewinds, and their records."""
        commits, row = self._commits, self._commit_row
        step, gap = np.diff(commits.offset, prepend=commits.offset[:1]), np.diff(commits.at_us, prepend=0) // 1000
        later = self._news & _goes_on(commits)
        longest = open_gap.copy()
        np.maximum.at(longest, row[later], gap[later])
        back = later & (step < 0)
        rewinds = np.bincount(row[back], minlength=len(self._every))
        rewound = np.bincount(row[back], -step[back], len(self._every)).astype(np.int64)
        return longest, rewinds, rewound

    def _open_gap(self) -> Ints:
        """Milliseconds from the last commit to the last sample of each minute."""
        at = self._at
        judged = self._newest(self._inside & (at.committed != UNKNOWN) & ~at.other_topic)
        gap = np.full(len(self._every), UNKNOWN)
        gap[self._row[judged]] = (at.at_us[judged] - at.committed_us[judged]) // 1000
        return gap

    def _status(self, lag: Ints, lost: Ints, rewinds: Ints) -> NDArray[np.int8]:
        is_stale = self._count(self._inside & self._at.other_topic) > 0
        codes = np.select(
            [lost > 0, is_stale, self._beyond_end(), lag == UNKNOWN, lag == 0, self._quiet(), rewinds > 0],
            [STATUS_CODE[status] for status in _STATUSES],
            STATUS_CODE[Status.OK],
        )
        return codes.astype(np.int8)

    def _beyond_end(self) -> Flags:
        """At the end of the minute, the log end has not reached the commits at the last BEYOND_SAMPLES samples."""
        at, judged = self._at, self._newest(self._known)
        committed = np.where(at.lag == UNKNOWN, UNKNOWN, at.committed)
        held = [np.maximum(judged - back, 0) for back in range(BEYOND_SAMPLES)]
        least = np.min([committed[rows] for rows in held], axis=0)
        beyond = np.zeros(len(self._every), bool)
        beyond[self._row[judged]] = (
            (least > at.log_end[judged]) & (judged >= BEYOND_SAMPLES - 1) & (at.series[held[-1]] == at.series[judged])
        )
        return beyond

    def _quiet(self) -> Flags:
        """At the end of the minute, records have waited for QUIET_US without a commit."""
        at = self._at
        waits = (at.lag > 0) & (np.diff(at.committed, prepend=at.committed[:1]) == 0) & _follows(at.series)
        since = np.maximum.accumulate(np.where(waits, UNKNOWN, at.at_us))
        long = waits & (at.at_us - since >= QUIET_US)
        doubtful = np.flatnonzero(long & self._inside)
        usual_us = _longest_waits(at, waits, since, doubtful)
        long[doubtful] = at.at_us[doubtful] - since[doubtful] >= UNUSUAL * usual_us
        quiet = np.zeros(len(self._every), bool)
        quiet[self._row[self._inside]] = long[self._inside]
        return quiet


def _longest_waits(at: LagSamples, waits: Flags, since_us: Ints, rows: Ints) -> Ints:
    """int64[n]: the longest time of the HABIT_US before each of these samples for which records waited for a commit.

    `waits` and `since_us` are of every sample: whether records wait under the commit of the sample before, and from
    which sample on. 0 where no wait has begun and ended in that time.
    """
    follows, waited = _follows(at.series), np.concatenate((np.zeros(1, bool), waits[:-1]))[: len(waits)]
    ends = np.flatnonzero(follows & ~waits & waited)
    ends = ends[follows[np.searchsorted(at.at_us, since_us[ends - 1])]]  # one that begins with a series began before it
    began_us, lasted_us = since_us[ends - 1], at.at_us[ends] - since_us[ends - 1]
    low = np.searchsorted(began_us, at.at_us[rows] - HABIT_US)
    low = np.maximum(low, np.searchsorted(at.series[ends], at.series[rows]))
    high = np.searchsorted(at.at_us[ends], at.at_us[rows], side="right")
    longest = np.zeros(len(rows), np.int64)
    some = low < high
    if some.any():
        bounds = np.stack([low[some], high[some]], axis=1).ravel()
        longest[some] = np.maximum.reduceat(np.append(lasted_us, 0), bounds)[::2]
    return longest


def _goes_on(commits: Commits) -> Flags:
    """bool[n]: the commit continues the one before, which is not a tombstone nor known to be of another topic id."""
    before, named = commits.topic[:-1], commits.topic[1:]
    other_topic = (before != named) & (before != UNKNOWN) & (named != UNKNOWN)
    goes_on = _follows(commits.series)
    goes_on[1:] &= (commits.offset[:-1] != UNKNOWN) & ~other_topic
    return goes_on


def _follows(column: Ints) -> Flags:
    """bool[n]: the row before has the same number."""
    return np.concatenate((np.zeros(min(len(column), 1), bool), column[1:] == column[:-1]))
