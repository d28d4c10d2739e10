"""Simulated consumer groups, many at once: what they commit, what arrives, and what polls see of them.

Each group reads everything soon after it arrives and commits at its own intervals. A fault changes that from a time on.
Arrays have one element for each partition of each group; group i has the partitions `i * partitions` and following.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.waiting import FADES_BY, LONGEST_WAIT_MS

Floats = NDArray[np.float64]

STEP_S = 1.0
BEFORE_S = 3 * 3600.0


class Arrivals(IntEnum):
    """How records arrive at the partitions of a group."""

    STEADY = 0
    BURSTY = 1  # some hundred records at once, every few minutes
    DAILY = 2  # for a few minutes of an hour, then nothing


class Fault(IntEnum):
    """What goes wrong at `Population.fault_s`."""

    NONE = 0
    STOP = 1  # nothing is committed any more
    STUCK = 2  # the first partition is not read any more
    SLOW = 3  # reads 5 % less than arrives
    CRASH_LOOP = 4  # of two minutes, one is spent restarting, at just the rate of arrivals otherwise
    HELD = 5  # an open transaction holds the first partition


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """n groups: [n] each. `jitter` is the share by which a commit may be early or late."""

    interval_s: Floats
    arrivals: Ints
    memberless: Flags
    fault: Ints
    rate_per_s: Floats
    fault_s: float = np.inf
    partitions: int = 2
    jitter: float = 0.1

    def __len__(self) -> int:
        return len(self.interval_s)


class Seen(NamedTuple):
    """What one poll sees. int64[n_rows]; `interval_ms` is what commit records tell (`RowCommits`)."""

    at_ms: int
    committed: Ints
    log_end: Ints
    last_stable: Ints
    interval_ms: Ints


def polls(of: Population, every_s: float, hours: float, seed: int) -> Iterator[Seen]:
    """What polls see after `BEFORE_S`, in which the groups have run without being polled."""
    its = _Groups(of, np.random.default_rng(seed))
    next_s, end_s = BEFORE_S, BEFORE_S + 3600.0 * hours
    while its.now_s < end_s:
        its.step()
        if its.now_s >= next_s:
            next_s += every_s
            yield its.seen()


class _Groups:
    def __init__(self, of: Population, random: np.random.Generator) -> None:
        self._of, self._random = of, random
        rows = len(of) * of.partitions
        self._group = np.repeat(np.arange(len(of)), of.partitions)
        self._is_first = np.arange(rows) % of.partitions == 0
        self.now_s = 0.0
        self._end = np.zeros(rows)
        self._position = np.zeros(rows)
        self._committed = np.zeros(rows, np.int64)
        self._held_at = np.full(rows, np.inf)
        self._next_commit_s = random.random(len(of)) * of.interval_s
        self._moved_s = np.full(rows, -1.0)
        self._interval_ms = np.full(rows, float(UNKNOWN))
        self._phase = random.random(len(of))

    def step(self) -> None:
        """One second."""
        self.now_s += STEP_S
        self._arrive()
        self._read()
        self._commit()

    def _arrive(self) -> None:
        of, n, rate = self._of, len(self._end), self._of.rate_per_s[self._group]
        steady = self._random.poisson(rate, n)
        bursts = (self._random.random(len(of)) < STEP_S / 180)[self._group]
        minute = (self.now_s / 3600 + self._phase) % 1.0 < 0.1
        kind = of.arrivals[self._group]
        self._end += np.where(
            kind == Arrivals.STEADY,
            steady,
            np.where(kind == Arrivals.BURSTY, bursts * rate * 60, minute[self._group] * steady),
        )

    def _read(self) -> None:
        of = self._of
        fault = np.where(self.now_s >= of.fault_s, of.fault, Fault.NONE)[self._group]
        most = np.full(len(self._end), np.inf)
        rate = of.rate_per_s[self._group]
        most[fault == Fault.STOP] = 0
        most[(fault == Fault.STUCK) & self._is_first] = 0
        most = np.where(fault == Fault.SLOW, 0.95 * rate, most)
        restarting = (self.now_s / 120) % 1.0 < 0.5
        most = np.where(fault == Fault.CRASH_LOOP, 0.0 if restarting else 1.2 * rate, most)
        held = (fault == Fault.HELD) & self._is_first
        self._held_at = np.where(held & np.isinf(self._held_at), self._end, np.where(held, self._held_at, np.inf))
        until = np.minimum(self._end, self._held_at)
        self._position = np.maximum(self._position, np.minimum(self._position + most, until))

    def _commit(self) -> None:
        of = self._of
        due = self._next_commit_s <= self.now_s
        stopped = (of.fault == Fault.STOP) & (self.now_s >= of.fault_s)
        moves = (due & ~stopped)[self._group] & (self._position.astype(np.int64) > self._committed)
        spread = 1 + of.jitter * (2 * self._random.random(len(of)) - 1)
        self._next_commit_s = np.where(due, self.now_s + of.interval_s * spread, self._next_commit_s)
        lasted = np.where(moves & (self._moved_s >= 0), (self.now_s - self._moved_s) * 1000, 0)
        counts = (lasted > 0) & (lasted <= LONGEST_WAIT_MS)
        self._interval_ms = np.where(counts, np.maximum(lasted, self._interval_ms * FADES_BY), self._interval_ms)
        self._moved_s = np.where(moves, self.now_s, self._moved_s)
        self._committed = np.where(moves, self._position.astype(np.int64), self._committed)

    def seen(self) -> Seen:
        """The poll of now."""
        end = self._end.astype(np.int64)
        stable = np.minimum(end, np.where(np.isinf(self._held_at), end, self._held_at).astype(np.int64))
        return Seen(int(self.now_s * 1000), self._committed.copy(), end, stable, self._interval_ms.astype(np.int64))
