"""Rates, bursts, time lag and drain time from samples of offsets. Pure functions on arrays.

Arrays are [n_samples, n_rows], oldest sample first; offsets are int64, -1 = unknown. `times_ms` is int64[n_samples],
ascending epoch milliseconds. Results are float64[n_rows], NaN = unknown. Rates are records per second.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Codes, Flags, Ints
from lag.verdict.window.sample_window import RowWindow

Floats = NDArray[np.float64]
Samples = Ints | Sequence[Ints]

NEVER = float("inf")
"""The drain time of a group that does not read faster than producers write."""

GAIN = 1.02
"""A lag drains only if the group consumes at least this many times as fast as producers write."""


MIN_SPAN_MS = 5_000
"""A rate over a shorter time is noise: brokers are read one after the other, and producers write in batches."""

JUMP_RECORDS, JUMP_TIMES = 1_000, 3
"""A lag jumps if it rises by this number of records, and this many times the highest rise before."""


class TimeLags(NamedTuple):
    """float64[n_rows] each: `seconds` with its error bound, or `at_least_s` if the record is older than the samples."""

    seconds: Floats
    error_bound_s: Floats
    at_least_s: Floats


class Rates(NamedTuple):
    """float64[n_rows] each, and bool[n_rows]: `after_burst` marks rates that still include a burst that now drains."""

    consume: Floats
    produce: Floats
    after_burst: Flags


def lags(committed: Ints, log_start: Ints, log_end: Ints) -> Ints:
    """int64, shape of the arguments: records from the committed offset to the log end, without deleted ones.

    -1 where the committed offset or the log end is unknown.
    """
    behind = np.maximum(log_end - np.maximum(committed, log_start), 0)
    return np.where((committed == UNKNOWN) | (log_end == UNKNOWN), UNKNOWN, behind)


def forward_fill(values: Ints) -> Ints:
    """int64[n_samples, n_rows]: unknown samples take the last known value before them, if there is one."""
    known = values != UNKNOWN
    if known.all():
        return values
    samples = np.arange(len(values))[:, None]
    newest = np.maximum.accumulate(np.where(known, samples, 0), axis=0)
    return np.take_along_axis(values, newest, axis=0)


def rate(values: Ints, times_ms: Ints) -> Floats:
    """Sum of the increases over the time from the first known sample to the newest one.

    NaN if the newest one is unknown, as that of a deleted topic, or if that time is shorter than MIN_SPAN_MS.
    """
    filled, known = forward_fill(values), values != UNKNOWN
    steps = np.where(filled[:-1] == UNKNOWN, 0, np.maximum(filled[1:] - filled[:-1], 0))
    span_ms = times_ms[-1] - times_ms[np.argmax(known, axis=0)]
    enough = known[-1] & (span_ms >= MIN_SPAN_MS)
    return np.where(enough, steps.sum(axis=0) * 1000 / np.maximum(span_ms, MIN_SPAN_MS), np.nan)


def rates_after_burst(window: RowWindow, lag: Ints, noise: Floats, min_samples: int, min_s: float) -> Rates:
    """The rates over the window; where the lag falls after a burst, the rates since the peak of the burst.

    A burst in the average would report "never drains" for a lag that is shrinking. The lag falls if it is more than
    `noise` (float64[n_rows], records) below its highest sample. A burst is a rise of more than `noise` within
    `min_samples` samples before the peak; the saw tooth of rare commits is not. The rates since the peak need
    `min_samples` samples and `min_s` seconds; until then the average stays and `after_burst` is set.
    """
    times_ms, rows = window.times_ms, np.arange(len(noise))
    high = lag.max(axis=0) - noise
    peak = np.argmax(lag >= high, axis=0)
    rise = lag[peak, rows] - lag[np.maximum(peak - min_samples, 0), rows]
    falls = (lag[-1] != UNKNOWN) & (lag[-1] < high) & (rise > noise)
    enough = falls & (len(lag) - peak >= min_samples) & (times_ms[-1] - times_ms[peak] >= min_s * 1000)
    consume, produce = rate(window.committed, times_ms), rate(window.log_end, times_ms)
    chosen = np.flatnonzero(enough)
    earlier = np.arange(len(lag))[:, None] < peak[chosen]
    consume[chosen] = rate(np.where(earlier, UNKNOWN, window.committed[:, chosen]), times_ms)
    produce[chosen] = rate(np.where(earlier, UNKNOWN, window.log_end[:, chosen]), times_ms)
    return Rates(consume, produce, falls & ~enough)


def jumped(committed: Ints, lag: Ints, may_be: Floats, noise: Floats, samples: int) -> Flags:
    """bool[n_rows]: with the newest sample the lag rose much more than at any before it, and is above `may_be`.

    `may_be` and `noise` are float64[n_rows], in records. Needs this number of `samples`. A commit that went back is no
    jump.
    """
    jumps = np.zeros(lag.shape[1], np.bool_)
    if len(lag) < samples:
        return jumps
    newest, before = lag[-1], lag[-2]
    may = (before != UNKNOWN) & (newest - before > JUMP_RECORDS) & (newest > may_be) & (committed[-1] >= committed[-2])
    rows = np.flatnonzero(may)
    its = lag[:, rows]
    known = (its[1:] != UNKNOWN) & (its[:-1] != UNKNOWN)
    rise = np.where(known, its[1:] - its[:-1], 0)
    highest = np.maximum(rise[:-1].max(axis=0), 0)
    enough = known[:-1].sum(axis=0) >= samples - 2
    jumps[rows] = enough & (rise[-1] > JUMP_TIMES * highest + noise[rows])
    return jumps


def falls(lag: Ints, times_ms: Ints, jitter: Floats, noise: Floats, min_s: float) -> Flags:
    """bool[n_rows]: the lag is the lowest since its peak, and takes at least `min_s` from there to 0 at this speed.

    `jitter` and `noise` are float64[n_rows], in records: it must be above the first, and by the second below the peak.
    """
    falling = np.zeros(lag.shape[1], np.bool_)
    newest, highest = lag[-1], lag.max(axis=0)
    rows = np.flatnonzero((newest > jitter) & (newest < highest - noise))
    its, highest = lag[:, rows], highest[rows]
    peak = len(its) - 1 - np.argmax(its[::-1], axis=0)
    fell_s = (times_ms[-1] - times_ms[peak]) / 1000
    after = (np.arange(len(its))[:, None] >= peak) & (its != UNKNOWN)
    lowest = np.where(after, its, np.iinfo(np.int64).max).min(axis=0)
    takes_long = highest * fell_s >= min_s * (highest - its[-1])
    falling[rows] = (its[-1] <= lowest + jitter[rows]) & takes_long
    return falling


def time_lag(position: Ints, log_end: Samples, times_ms: Ints, end: Ints | Codes | None = None) -> TimeLags:
    """How long ago the record at `position` (int64[n_rows]) was written, from the samples of the log end.

    `log_end` has one int64[n_ends] per sample, oldest first; `end`, int64[n_rows], is where each row has its log in
    them; None: row i at i. The record was written between the last sample with a log end at or below the position and
    the next sample. Within that interval the produce rate is taken as constant, so the error is at most the interval.
    If all samples are above the position, only a lower bound is known: nothing is extrapolated. 0 if the position is at
    the newest log end.
    """
    end = np.arange(len(position)) if end is None else end
    newest, now_ms = log_end[-1][end], int(times_ms[-1])
    valid = (newest != UNKNOWN) & (position != UNKNOWN)
    seconds, bound = (np.where(valid & (newest <= position), 0.0, np.nan) for _ in range(2))
    at_least = np.full(len(position), np.nan)
    rows = np.flatnonzero(valid & (newest > position))  # above the position in all samples so far, newest first
    after_ms, high = np.full(len(rows), now_ms), newest[rows]
    for at_ms, column in zip(times_ms[-2::-1].tolist(), reversed(log_end[:-1]), strict=True):
        if not len(rows):
            break
        low, wanted = column[end[rows]], position[rows]
        known = low != UNKNOWN
        below = known & (low <= wanted)
        if below.any():
            found, width_ms = rows[below], after_ms[below] - at_ms
            written_ms = at_ms + (wanted - low)[below] * width_ms / (high - low)[below]
            seconds[found], bound[found] = (now_ms - written_ms) / 1000, width_ms / 1000
            rows, after_ms, high, low, known = (values[~below] for values in (rows, after_ms, high, low, known))
        after_ms, high = np.where(known, at_ms, after_ms), np.where(known, low, high)
    at_least[rows] = (now_ms - after_ms) / 1000
    return TimeLags(seconds, bound, at_least)


def drain(lag: Ints, consume: Floats, produce: Floats, gain: float = GAIN) -> Floats:
    """Seconds until the lag is 0 at these rates; NEVER if the group does not gain, NaN if a rate is unknown.

    `lag` is int64[n_rows], in records.
    """
    gains = consume > produce * gain
    with np.errstate(invalid="ignore", divide="ignore"):
        seconds = np.where(gains, lag / (consume - produce), NEVER)
    unknown = (lag == UNKNOWN) | np.isnan(consume) | np.isnan(produce)
    return np.where(lag == 0, 0.0, np.where(unknown, np.nan, seconds))


def last_true(flags: Flags) -> Ints:
    """int64[n_rows]: the last sample with the flag set; the newest sample if there is none."""
    newest: Ints = len(flags) - 1 - np.argmax(flags[::-1], axis=0)
    return newest
