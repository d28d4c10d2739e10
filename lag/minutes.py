"""Lag minute by minute, of groups on partitions: commits and samples of the log's ends, put together by time.

The rule: lag is computed at sample times, with the last commit at or before each (the as-of rule). So a commit is never
compared with a log end of another moment. Pure functions on columns; -1 is "not known", as in `lag.offsets`.

A series is one group on one partition. Many are computed at once, for NumPy takes longer to be called than for a
thousand samples: one comes after the other on a single line of time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lag import rates
from lag.health import Status
from lag.offsets import UNKNOWN, Ints
from lag.rates import Flags, Floats
from lag.status import CODE

MINUTE_US = 60_000_000
CARRIED_POLLS = 2
"""An end that a poll could not read is taken to be that of the poll before, so many times in a row."""

PAIR_US = 5 * MINUTE_US
"""Two samples further apart than this tell no rate."""

DRAIN_US, DRAIN_LEAST_US = 15 * MINUTE_US, 5 * MINUTE_US
"""A drain time is told by the rates of so long before, and not by less: a group commits by fits and starts."""

QUIET_US = 10 * MINUTE_US
"""With records waiting and no commit for so long, the partition has stopped."""

Column = TypeVar("Column", Ints, Floats)

LOOKBACK_US = 120 * MINUTE_US
"""Time lags are read off the samples of so long before; a longer one is only known to be longer."""

ROLLS = 3
"""So many times the log's beginning must have moved before it has a rate: it moves by whole segments."""

_MOST = np.iinfo(np.int64).max


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
    """As `lag.rates.held`, for series one after the other instead of side by side."""
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


def time_to_loss(at: Samples, judged: Ints) -> Floats:
    """Seconds until the log's beginning, at its pace, reaches the group, at hers; infinite when it does not gain.

    Both paces are those since the first of the log's last ROLLS or more deletions within the look-back; NaN with fewer.
    0: it is there already. spec/offsets-pipeline.md §2, for a moving consumer: lead / (deleted - consumed a second).
    """
    rolls = _rolls(at)
    newest = np.searchsorted(rolls, judged, "right") - 1
    oldest = np.maximum(
        np.searchsorted(at.at_us[rolls], at.at_us[judged] - LOOKBACK_US),
        np.searchsorted(rolls, np.searchsorted(at.life, at.life[judged])),
    )
    left = np.full(len(judged), np.nan)
    told = np.flatnonzero(newest - oldest + 1 >= ROLLS)
    first, last, now = rolls[oldest[told]], rolls[newest[told]], judged[told]
    deleted = (at.log_start[last] - at.log_start[first]) / (at.at_us[last] - at.at_us[first])
    read = np.maximum(at.committed[now] - at.committed[first], 0) / np.maximum(at.at_us[now] - at.at_us[first], 1)
    lead = np.maximum(at.committed[now] - at.log_start[now], 0)
    gains = deleted > read
    seconds = lead / np.where(gains, deleted - read, 1.0) / 1e6
    left[told] = np.where(lead == 0, 0.0, np.where(gains, seconds, np.inf))
    return left


def _rolls(at: Samples) -> Ints:
    """The samples that found the log's beginning moved on."""
    known = np.flatnonzero((at.log_start != UNKNOWN) & (_places(at) != UNKNOWN))
    moved = (np.diff(at.log_start[known]) > 0) & (np.diff(at.life[known]) == 0)
    rolls: Ints = known[1:][moved]
    return rolls


def _places(at: Samples) -> Ints:
    """Where the group was in the log of each sample: a commit to another topic of this name does not tell."""
    return np.where(at.stale, UNKNOWN, at.committed)


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """From the sample before to each one: increases, and the time that they took; 0 and 0 where that is not known."""

    records: Ints
    took_us: Ints

    def recent_rate(self, at: Samples, judged: Ints) -> Floats:
        """Per second, over DRAIN_US up to each judged sample; NaN if of its log less than DRAIN_LEAST_US are known."""
        since = np.maximum(
            np.searchsorted(at.at_us, at.at_us[judged] - DRAIN_US),
            np.searchsorted(at.life, at.life[judged]),
        )
        records, took_us = (total[judged] - total[since] for total in map(np.cumsum, (self.records, self.took_us)))
        return np.where(took_us >= DRAIN_LEAST_US, records * 1e6 / np.maximum(took_us, 1), np.nan)


def growths(at: Samples) -> tuple[Growth, Growth]:
    """What was consumed and what was produced, in one log and between samples at most PAIR_US apart."""
    span = np.diff(at.at_us, prepend=at.at_us[:1])
    pair = (span > 0) & (span <= PAIR_US) & (np.diff(at.life, prepend=at.life[:1]) == 0)
    return _growth(_places(at), span, pair), _growth(at.log_end, span, pair)


def _growth(values: Ints, span: Ints, pair: Flags) -> Growth:
    before = np.concatenate((values[:1], values[:-1]))
    told = pair & (values != UNKNOWN) & (before != UNKNOWN)
    return Growth(np.where(told, np.maximum(values - before, 0), 0), np.where(told, span, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Minutes:
    """One row for each minute with a sample or a commit, series by series; -1 and NaN are "not known".

    Lags, `lost`, `lead_min` and `rewind_records` are records; rates records a second; `status` indexes `URGENCY`.
    `has_raw`: whether `lag_raw_min` and `lead_min`, which may be below 0, are known.
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
    lead_min: Ints
    time_lag_avg_ms: Floats
    time_lag_max_ms: Floats
    time_lag_min_ms: Floats
    time_lag_bounded: Flags
    commits: Ints
    commit_gap_max_ms: Ints
    rewinds: Ints
    rewind_records: Ints
    consume_rate: Floats
    produce_rate: Floats
    eta_s: Floats
    time_to_loss_s: Floats
    status: NDArray[np.int8]
    samples: Ints


def minutes(ends: Ends, commits: Commits, since_us: int, until_us: int) -> Minutes:
    """The minutes of [since, until), both whole minutes; earlier samples and commits help to judge them."""
    line = _Line.of(ends.at_us, commits.at_us)
    inside = (ends.at_us >= since_us) & (ends.at_us < until_us)
    told = commits.offset != UNKNOWN
    news = told & ~commits.bootstrap & (commits.at_us >= since_us) & (commits.at_us < until_us)
    commits = replace(commits, at_us=line.on(commits.series, commits.at_us))
    at = samples(replace(ends, at_us=line.on(ends.series, ends.at_us)), commits)
    every = np.union1d(_unique(at.at_us[inside] // MINUTE_US), commits.at_us[news] // MINUTE_US)
    return _Fold(at, inside, commits, news, every, line).minutes()


def _unique(ascending: Ints) -> Ints:
    different: Ints = ascending[~_follows(ascending)]
    return different


@dataclass(frozen=True, slots=True)
class _Line:
    """All series one after the other: from `begin_us` on each has a `length_us` of its own, in whole minutes."""

    begin_us: int
    length_us: int

    @classmethod
    def of(cls, *times_us: Ints) -> "_Line":
        """As long as all of these times need."""
        known = [column for column in times_us if len(column)]
        begin = min((int(column.min()) for column in known), default=0)
        end = max((int(column.max()) for column in known), default=0)
        begin -= begin % MINUTE_US
        return cls(begin, (end - begin) // MINUTE_US * MINUTE_US + MINUTE_US)

    def on(self, series: Ints, at_us: Ints) -> Ints:
        """The place of each time."""
        return at_us - self.begin_us + series * self.length_us

    def off(self, places_us: Ints) -> tuple[Ints, Ints]:
        """The series and the time of each place."""
        return places_us // self.length_us, places_us % self.length_us + self.begin_us


class _Fold:
    """Sums samples and commits up by minute."""

    def __init__(self, at: Samples, inside: Flags, commits: Commits, news: Flags, every: Ints, line: _Line) -> None:
        self._line = line
        self._at, self._inside, self._commits, self._news, self._every = at, inside, commits, news, every
        self._row = np.searchsorted(every, at.at_us // MINUTE_US)
        self._commit_row = np.searchsorted(every, commits.at_us // MINUTE_US)
        self._known = inside & (at.lag != UNKNOWN)

    def minutes(self) -> Minutes:
        at, known = self._at, self._known
        consumed, produced = growths(at)
        lag_last, (raw_min, has_raw) = self._last(at.lag), self._least(at.raw, known)
        gap, rewinds, rewound = self._moves()
        timed = known & ~np.isnan(at.time_lag_us)
        lost = self._most(at.lost, known, UNKNOWN)
        series, minute_us = self._line.off(self._every * MINUTE_US)
        return Minutes(
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
            lag_rc_last=self._last(at.lag_rc),
            lost=lost,
            lead_min=self._least(at.committed - at.log_start, known)[0],
            time_lag_avg_ms=self._mean(at.time_lag_us / 1000, timed),
            time_lag_max_ms=self._most(np.nan_to_num(at.time_lag_us) / 1000, timed, np.nan),
            time_lag_min_ms=self._most(np.nan_to_num(at.at_least_us) / 1000, known & ~timed, np.nan),
            time_lag_bounded=self._count(timed) == self._count(known),
            commits=np.bincount(self._commit_row[self._news], minlength=len(self._every)),
            commit_gap_max_ms=gap,
            rewinds=rewinds,
            rewind_records=rewound,
            consume_rate=self._rate(consumed),
            produce_rate=self._rate(produced),
            eta_s=self._drains(consumed, produced),
            time_to_loss_s=self._time_to_loss(),
            status=self._status(lag_last, raw_min, lost, rewinds),
            samples=self._count(self._inside),
        )

    def _count(self, chosen: Flags) -> Ints:
        return np.bincount(self._row[chosen], minlength=len(self._every))

    def _sum(self, values: Ints | Floats, chosen: Flags) -> Floats:
        sums: Floats = np.bincount(self._row[chosen], values[chosen], len(self._every)).astype(np.float64)
        return sums

    def _mean(self, values: Ints | Floats, chosen: Flags) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = self._sum(values, chosen) / self._count(chosen)
        return mean

    def _most(self, values: Column, chosen: Flags, without: float) -> Column:
        """The greatest of values that are not below 0."""
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
        """Of each minute; NaN where there are no two samples of one log."""
        with np.errstate(invalid="ignore", divide="ignore"):
            rate: Floats = self._sum(growth.records, self._inside) * 1e6 / self._sum(growth.took_us, self._inside)
        return rate

    def _drains(self, consumed: Growth, produced: Growth) -> Floats:
        """Seconds until what is left at the end of each minute is read, at the rates of DRAIN_US before."""
        left = np.full(len(self._every), np.nan)
        judged = self._newest(self._known)
        consume, produce = (growth.recent_rate(self._at, judged) for growth in (consumed, produced))
        left[self._row[judged]] = rates.drain(self._at.lag[judged], consume, produce)
        return left

    def _newest(self, chosen: Flags) -> Ints:
        """The number of the newest of these samples of each minute that has any."""
        number = np.flatnonzero(chosen)
        newest: Ints = number[np.diff(self._row[number], append=len(self._every)) > 0]
        return newest

    def _time_to_loss(self) -> Floats:
        """Seconds until deletion reaches the group's place, at the end of each minute (`time_to_loss`)."""
        left = np.full(len(self._every), np.nan)
        judged = self._newest(self._known & (self._at.log_start != UNKNOWN))
        left[self._row[judged]] = time_to_loss(self._at, judged)
        return left

    def _moves(self) -> tuple[Ints, Ints, Ints]:
        """Per minute: the longest time between two commits (ms), how many went back, and by how many records."""
        commits, row = self._commits, self._commit_row
        step, gap = np.diff(commits.offset, prepend=commits.offset[:1]), np.diff(commits.at_us, prepend=0) // 1000
        later = self._news & _goes_on(commits)
        longest = np.full(len(self._every), UNKNOWN)
        np.maximum.at(longest, row[later], gap[later])
        back = later & (step < 0)
        rewinds = np.bincount(row[back], minlength=len(self._every))
        rewound = np.bincount(row[back], -step[back], len(self._every)).astype(np.int64)
        return longest, rewinds, rewound

    def _status(self, lag: Ints, raw: Ints, lost: Ints, rewinds: Ints) -> NDArray[np.int8]:
        codes = np.select(
            [lost > 0, self._stale(), raw < 0, lag == UNKNOWN, lag == 0, self._quiet(), rewinds > 0],
            [
                CODE[status]
                for status in (
                    Status.LOST,
                    Status.TOPIC_DELETED,
                    Status.BEYOND_END,
                    Status.UNKNOWN,
                    Status.OK,
                    Status.STOPPED,
                    Status.REWOUND,
                )
            ],
            CODE[Status.OK],
        )
        return codes.astype(np.int8)

    def _stale(self) -> Flags:
        return self._count(self._inside & self._at.stale) > 0

    def _quiet(self) -> Flags:
        """Records have waited under one commit for QUIET_US at the end of the minute."""
        at = self._at
        waits = (at.lag > 0) & (np.diff(at.committed, prepend=at.committed[:1]) == 0) & _follows(at.series)
        since = np.maximum.accumulate(np.where(waits, UNKNOWN, at.at_us))
        quiet = np.zeros(len(self._every), bool)
        quiet[self._row[self._inside]] = (waits & (at.at_us - since >= QUIET_US))[self._inside]
        return quiet


def _goes_on(commits: Commits) -> Flags:
    """Whether each commit goes on from the row before: no tombstone, and not known to be of another topic."""
    before, named = commits.topic[:-1], commits.topic[1:]
    other_topic = (before != named) & (before != UNKNOWN) & (named != UNKNOWN)
    goes_on = _follows(commits.series)
    goes_on[1:] &= (commits.offset[:-1] != UNKNOWN) & ~other_topic
    return goes_on


def _follows(column: Ints) -> Flags:
    """Whether the row before has the same number."""
    return np.concatenate((np.zeros(min(len(column), 1), bool), column[1:] == column[:-1]))
