"""Rates, time lag and drain time from samples of offsets: pure functions on columns.

Arrays are (samples, rows), oldest sample first, -1 where an offset was not known; times are epoch milliseconds in
ascending order. Results have one value per row; NaN is "not known". Rates are records per second.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Ints
from lag.verdict.health import NEVER
from lag.verdict.sample_window import RowWindow

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

GAIN = 1.02
"""A group gains on its producers only if it commits at least this many times as fast as they write."""


@dataclass(frozen=True, slots=True, eq=False)
class TimeLags:
    """Per row: `seconds` with its `bound_s`, or `at_least_s` where the record is older than our first sample."""

    seconds: Floats
    bound_s: Floats
    at_least_s: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """Both rates, as columns (rows,). `unsettled`: they still count a burst that the lag has begun to fall after."""

    consume: Floats
    produce: Floats
    unsettled: Flags


def lags(committed: Ints, log_start: Ints, log_end: Ints) -> Ints:
    """Records between what is committed and the log end; deleted ones do not count. -1 where either is unknown."""
    behind = np.maximum(log_end - np.maximum(committed, log_start), 0)
    return np.where((committed == UNKNOWN) | (log_end == UNKNOWN), UNKNOWN, behind)


def held(values: Ints) -> Ints:
    """Unknown samples take the last known value before them; they stay unknown before the first one."""
    known = values != UNKNOWN
    if known.all():
        return values
    samples = np.arange(len(values))[:, None]
    last = np.maximum.accumulate(np.where(known, samples, 0), axis=0)
    return np.take_along_axis(values, last, axis=0)


def rate(values: Ints, times_ms: Ints) -> Floats:
    """Sum of the increases over the time between the first and the last known sample; NaN with fewer than two."""
    filled = held(values)
    steps = np.where(filled[:-1] == UNKNOWN, 0, np.maximum(filled[1:] - filled[:-1], 0))
    span_ms = _span_ms(values != UNKNOWN, times_ms)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(span_ms > 0, steps.sum(axis=0) * 1000 / span_ms, np.nan)


def pace(window: RowWindow, lag: Ints, noise: Floats, min_samples: int, min_s: float) -> Pace:
    """The rates over the window; where the lag has fallen from a burst's height, those since it was first up there.

    A burst in the average says "never drains" of a lag that is being worked off. `lag` (samples, rows) has fallen if it
    is more than `noise` (rows,) below its highest sample; what lies within that of the highest is up there too. A burst
    rises by more than that within `min_samples` samples, which the teeth of a level lag, made by commits that come
    seldom, do not. It must have been falling for so many samples and for `min_s`, else the average stays, unsettled.
    """
    times_ms, rows = window.times_ms, np.arange(len(noise))
    high = lag.max(axis=0) - noise
    start = np.argmax(lag >= high, axis=0)
    rise = lag[start, rows] - lag[np.maximum(start - min_samples, 0), rows]
    falls = (lag[-1] != UNKNOWN) & (lag[-1] < high) & (rise > noise)
    tells = falls & (len(lag) - start >= min_samples) & (times_ms[-1] - times_ms[start] >= min_s * 1000)
    consume, produce = rate(window.committed, times_ms), rate(window.log_end, times_ms)
    chosen = np.flatnonzero(tells)
    earlier = np.arange(len(lag))[:, None] < start[chosen]
    consume[chosen] = rate(np.where(earlier, UNKNOWN, window.committed[:, chosen]), times_ms)
    produce[chosen] = rate(np.where(earlier, UNKNOWN, window.log_end[:, chosen]), times_ms)
    return Pace(consume, produce, falls & ~tells)


def time_lag(position: Ints, log_end: Ints, times_ms: Ints) -> TimeLags:
    """How long ago the record at `position` was written, read off our own samples of the log end.

    The record lies between the last sample whose log end was at or below the position and the next one; inside, the
    producer is taken to be steady, so the error is at most the time between the two. Never extrapolated: if all
    samples lie above, only a lower bound is known. 0 if the position is at the newest log end. `position` (rows,).
    """
    rows = np.arange(len(position))
    known, now_ms = log_end != UNKNOWN, int(times_ms[-1])
    below = known & (log_end <= position)
    before, bracketed = last(below), below.any(axis=0)
    after = np.argmax(known & ~below, axis=0)
    caught_up = below[-1]
    judged = known[-1] & (position != UNKNOWN)
    low, high = log_end[before, rows], log_end[after, rows]
    width_ms = times_ms[after] - times_ms[before]
    with np.errstate(invalid="ignore", divide="ignore"):
        written_ms = times_ms[before] + (position - low) * width_ms / (high - low)
    seconds = np.where(caught_up, 0.0, np.where(bracketed, (now_ms - written_ms) / 1000, np.nan))
    bound = np.where(caught_up, 0.0, np.where(bracketed, width_ms / 1000, np.nan))
    oldest = np.where(bracketed, np.nan, (now_ms - times_ms[np.argmax(known, axis=0)]) / 1000)
    return TimeLags(*(np.where(judged, value, np.nan) for value in (seconds, bound, oldest)))


def drain(lag: Ints, consume: Floats, produce: Floats, gain: float = GAIN) -> Floats:
    """Seconds until the lag is gone if both rates last: NEVER if the group does not gain, NaN if a rate is unknown."""
    gains = consume > produce * gain
    with np.errstate(invalid="ignore", divide="ignore"):
        seconds = np.where(gains, lag / (consume - produce), NEVER)
    unknown = (lag == UNKNOWN) | np.isnan(consume) | np.isnan(produce)
    return np.where(lag == 0, 0.0, np.where(unknown, np.nan, seconds))


def _span_ms(known: Flags, times_ms: Ints) -> Ints:
    """Between the first and the last known sample; 0 where there are none."""
    span_ms: Ints = times_ms[last(known)] - times_ms[np.argmax(known, axis=0)]
    return np.where(known.any(axis=0), span_ms, 0)


def last(flags: Flags) -> Ints:
    """The last sample where the flag is set; the newest one if it never is."""
    newest: Ints = len(flags) - 1 - np.argmax(flags[::-1], axis=0)
    return newest
