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
    if len(lag) < samples:
        return np.zeros(lag.shape[1], np.bool_)
    known = (lag[1:] != UNKNOWN) & (lag[:-1] != UNKNOWN)
    rise = np.where(known, lag[1:] - lag[:-1], 0)
    highest = np.maximum(rise[:-1].max(axis=0), 0)
    jumps: Flags = (rise[-1] > np.maximum(JUMP_RECORDS, JUMP_TIMES * highest + noise)) & (lag[-1] > may_be)
    jumps &= (known[:-1].sum(axis=0) >= samples - 2) & (committed[-1] >= committed[-2])
    return jumps


def falls(lag: Ints, times_ms: Ints, jitter: Floats, noise: Floats, min_s: float) -> Flags:
    """bool[n_rows]: the lag is the lowest since its peak, and takes at least `min_s` from there to 0 at this speed.

    `jitter` and `noise` are float64[n_rows], in records: by the second it must be below the peak.
    """
    rows = np.arange(lag.shape[1])
    peak = len(lag) - 1 - np.argmax(lag[::-1], axis=0)
    highest, fell_s = lag[peak, rows], (times_ms[-1] - times_ms[peak]) / 1000
    after = np.arange(len(lag))[:, None] >= peak
    lowest = np.where(after & (lag != UNKNOWN), lag, np.iinfo(np.int64).max).min(axis=0)
    falling: Flags = (lag[-1] != UNKNOWN) & (lag[-1] < highest - noise) & (lag[-1] <= lowest + jitter)
    falling &= highest * fell_s >= min_s * (highest - lag[-1])
    return falling
