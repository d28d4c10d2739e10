"""How fast groups read, producers write and deletion goes, off what is known at samples (`lag.verdict.samples`)."""

from dataclasses import dataclass

import numpy as np

from lag.offsets import UNKNOWN, Ints
from lag.verdict.rates import Flags, Floats
from lag.verdict.samples import LOOKBACK_US, Samples

PAIR_US = 5 * 60_000_000
"""Two samples further apart than this tell no rate."""

DRAIN_US, DRAIN_LEAST_US = 15 * 60_000_000, 5 * 60_000_000
"""A drain time is told by the rates of so long before, and not by less: a group commits by fits and starts."""

ROLLS = 3
"""So many times the log's beginning must have moved before it has a rate: it moves by whole segments."""


def time_to_loss(at: Samples, judged: Ints) -> Floats:
    """Seconds until the log's beginning, at its pace, reaches the group, at hers; infinite when it does not gain.

    Both paces are those since the first of the log's last ROLLS or more deletions within the look-back; NaN with fewer.
    0: it is there already. For a moving consumer: lead / (deleted - consumed a second).
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
