"""Stored polls of a group joined with those that this process still holds: its lag, and which verdict held when.

Pure functions. Times are in ms since 1970. A gap is a time without a poll that is longer than usual between two polls.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from lag.offsets import Ints
from lag.verdict.health import Finding
from lag.verdict.status import STATUS_CODE, URGENCY, Status
from lag.verdict.window.rates import Floats

_UNKNOWN = STATUS_CODE[Status.UNKNOWN]
_NOTHING_WRONG = (_UNKNOWN, STATUS_CODE[Status.OK])

GAP_POLLS = 3
"""Two polls that are further apart than this many intervals have a gap between them."""

MIN_INTERVALS = 5
"""The usual time between two polls is not known from fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class LagPolls:
    """The lag of a group at its polls, oldest first.

    `at_ms`: int64[n_polls]; `lag_records`: float64[n_polls], NaN where unknown.
    """

    at_ms: Ints
    lag_records: Floats

    def within(self, since_ms: int, until_ms: int) -> "LagPolls":
        """The polls of [since, until]."""
        chosen = slice(*np.searchsorted(self.at_ms, (since_ms, until_ms + 1)))
        return LagPolls(self.at_ms[chosen], self.lag_records[chosen])

    def gaps(self, interval_ms: int) -> list[tuple[int, int]]:
        """The polls before and after each gap. `interval_ms` is the time between two polls now.

        Where most polls are further apart than that, the interval was longer before.
        """
        apart = np.diff(self.at_ms)
        usual_ms = max(interval_ms, int(np.median(apart))) if len(apart) >= MIN_INTERVALS else interval_ms
        return [(int(self.at_ms[at]), int(self.at_ms[at + 1])) for at in np.flatnonzero(apart > GAP_POLLS * usual_ms)]

    def with_breaks(self, gaps: Sequence[tuple[int, int]]) -> "LagPolls":
        """An unknown lag in the middle of each gap, so that no line crosses it."""
        at = np.searchsorted(self.at_ms, [since for since, _ in gaps], side="right")
        middle = [(since + until) // 2 for since, until in gaps]
        return LagPolls(np.insert(self.at_ms, at, middle), np.insert(self.lag_records, at, np.nan))


@dataclass(frozen=True, slots=True)
class VerdictPeriod:
    """A verdict, from `since_ms` to `until_ms`."""

    since_ms: int
    until_ms: int
    status: Status


def stored_lag(polls: pd.DataFrame) -> LagPolls:
    """The lag in rows of `frames.POLLS`.

    It is unknown where fewer partitions are known than before and at the end: their sum would be a dip of the line.
    """
    known = polls["known"].to_numpy(np.int64)
    lag = polls["lag_records"].to_numpy(np.float64)
    usual = np.minimum(np.maximum.accumulate(known), known[-1:])
    return LagPolls(polls["at_us"].to_numpy(np.int64) // 1000, np.where((known > 0) & (known >= usual), lag, np.nan))


def join(stored: LagPolls, live: LagPolls) -> LagPolls:
    """The stored polls before the first live one, then the live ones."""
    older = stored.at_ms < live.at_ms[0] if len(live.at_ms) else np.ones(len(stored.at_ms), np.bool_)
    return LagPolls(
        np.concatenate([stored.at_ms[older], live.at_ms]), np.concatenate([stored.lag_records[older], live.lag_records])
    )


def verdict_periods(
    polls: pd.DataFrame, finding: Finding, now_ms: int, gaps: Sequence[tuple[int, int]]
) -> list[VerdictPeriod]:
    """The verdicts in rows of `frames.POLLS` and the present one, which ends at `now_ms`; oldest first.

    A verdict begins at its onset where that is known, and ends where the next one begins or where polls are missing.
    The onset of the present verdict counts more than what polls said at the time. Without an onset, as OK has none, it
    only continues from the last stored poll.
    """
    before_gaps = [since for since, _ in gaps]
    found: list[VerdictPeriod] = []
    if finding.onset is not None:
        found.append(VerdictPeriod(finding.onset.at_ms, now_ms, finding.status))
    for run in reversed(list(_runs(polls, before_gaps))):
        last_ms = now_ms if run.status is finding.status else run.until_ms
        next_ms = found[-1].since_ms if found else last_ms
        until_ms = min([next_ms, *(at for at in before_gaps if at >= run.until_ms)])
        if run.since_ms < until_ms:
            found.append(replace(run, until_ms=until_ms))
    return found[::-1]


def _runs(polls: pd.DataFrame, before_gaps: Sequence[int]) -> Iterator[VerdictPeriod]:
    """Runs of polls with the same verdict and no gap, each from its onset or first poll to its last poll.

    An onset is known only later, so a run takes back the time in which polls found nothing wrong, but not another
    verdict.
    """
    at_ms, ranks = polls["at_us"].to_numpy(np.int64) // 1000, polls["rank"].fillna(_UNKNOWN).to_numpy(np.int64)
    onset_ms = polls["onset_us"].where(polls["onset_is_exact"]).fillna(polls["at_us"]).to_numpy(np.int64) // 1000
    segment = np.searchsorted(before_gaps, at_ms)
    begins = np.flatnonzero(np.diff(ranks, prepend=-1) | np.diff(segment, prepend=0))
    found_ms = np.maximum.accumulate(np.where(np.isin(ranks, _NOTHING_WRONG), 0, at_ms))
    for first, end in pairwise([*begins.tolist(), len(at_ms)]):
        other_ms = int(found_ms[first - 1]) if first else 0
        since_ms = min(int(at_ms[first]), max(other_ms, int(onset_ms[end - 1])))
        yield VerdictPeriod(since_ms, int(at_ms[end - 1]), URGENCY[ranks[first]])
