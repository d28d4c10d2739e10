"""How fast a group uses up the error budget of an objective: good, bad and unknown minutes over sliding windows.

A minute is good if the time lag of every partition is known and within the threshold, bad if one is known to exceed it,
else unknown: it counts neither way. Source: Google's SRE workbook, "Alerting on SLOs" (multi-window burn rates).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate

import numpy as np

from lag.offsets import Ints
from lag.rollup.lag_minutes import MINUTE_US
from lag.verdict.window.rates import Floats

WINDOWS_S = (300, 1_800, 3_600, 21_600, 86_400, 2_592_000)
"""5 and 30 minutes, 1, 6 and 24 hours, 30 days."""

STEP_US = 5 * MINUTE_US
"""Windows end at these steps, and at the end of the rolled-up time."""


@dataclass(frozen=True, slots=True)
class Slo:
    """`target` of a group's minutes have a time lag of at most `threshold_s`; `groups` is a shell pattern."""

    slo_id: str = "time-lag"
    threshold_s: float = 60.0
    target: float = 0.99
    groups: str = "*"

    @property
    def threshold_ms(self) -> int:
        """The threshold in milliseconds, as in the tables."""
        return round(self.threshold_s * 1000)

    @property
    def regex(self) -> str:
        """A regular expression for Python and Java that matches the ids of its groups."""
        return f"^{translate(self.groups)}"


DEFAULT = (Slo(),)


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Numbers of minutes, ascending by time: int64[n] each; a tally covers one minute or more from `at_us` on."""

    at_us: Ints
    good: Ints
    bad: Ints
    unknown: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Burns:
    """A row for each end and window with at least one minute; int64[n], float64[n]. NaN: no minute of it is known.

    At `burn` 1 the budget lasts exactly its period. `budget_left` is the share of the window's budget that is left,
    negative if it is overspent.
    """

    at_us: Ints
    window_s: Ints
    good: Ints
    bad: Ints
    unknown: Ints
    burn: Floats
    budget_left: Floats


def ends(since_us: int, until_us: int) -> Ints:
    """int64[n]: the ends of windows in (since, until], in microseconds since 1970."""
    steps = np.arange(since_us // STEP_US + 1, until_us // STEP_US + 1, dtype=np.int64) * STEP_US
    return np.union1d(steps, np.array([until_us], np.int64))


def burns(tallies: Tallies, at_us: Ints, target: float, windows_s: Sequence[int] = WINDOWS_S) -> Burns:
    """Burn rate and budget of one group and objective at each end (`at_us`, int64[n]), over each window.

    A tally counts for the windows in which it begins.
    """
    end = np.repeat(at_us, len(windows_s))
    window = np.tile(np.array(windows_s, np.int64), len(at_us))
    since = np.searchsorted(tallies.at_us, end - window * 1_000_000)
    until = np.searchsorted(tallies.at_us, end)
    good, bad, unknown = (_between(column, since, until) for column in (tallies.good, tallies.bad, tallies.unknown))
    there = good + bad + unknown > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        burn = bad / (good + bad) / (1 - target)
    left = np.where(good + bad > 0, 1 - bad / ((1 - target) * window / 60), np.nan)
    return Burns(end[there], window[there], good[there], bad[there], unknown[there], burn[there], left[there])


def _between(column: Ints, since: Ints, until: Ints) -> Ints:
    sums = np.concatenate(([0], np.cumsum(column)))
    return sums[until] - sums[since]
