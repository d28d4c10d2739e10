"""Lags that rise at once, and that fall from a peak. Pure functions on int64[n_samples, n_rows], -1 = unknown."""

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.window.rates import Floats

JUMP_RECORDS, JUMP_TIMES = 1_000, 3
"""A lag jumps if it rises by this number of records, and this many times the highest rise before."""


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
