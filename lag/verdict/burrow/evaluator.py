"""Burrow's rules, exactly: a status for each partition of a group, and for each group. Pure functions on arrays.

The source is `CachingEvaluator` of linkedin/Burrow at commit ced55ba. For each partition of a group Burrow keeps the
last commits (its setting `intervals`, 10) with the lag at the time of each, and as many log ends. A partition is OK if
it has no commit, if too few commits are kept (`minimum-complete`), or if its lag is at most `allowed-lag`. Otherwise
its status is that of the first rule that holds:

1. STOP: the last commit is longer ago than the time from the first kept commit to the last, and the last commit is
   below every kept log end.
2. REWIND: a commit is below the one before it, and no later commit reaches that offset again. Only the first such
   commit counts.
3. OK: the lag at one of the commits was at most `allowed-lag`.
4. STALL: all commits have the same offset.
5. WARN: the lag at no commit is below the lag at the commit before it.
6. OK.

What follows from these rules, and differs from `lag.verdict.rules.status_rules`: one commit spans no time, so it is
STOP after a second; one drop of the lag in the window clears WARN; a window without a known lag is WARN or STALL; the
clock has whole seconds.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.row_index import first_of_groups, group_of_row, reduce_groups

BurrowCodes = NDArray[np.uint8]
"""Values of `BurrowStatus`."""

Shares = NDArray[np.float32]
"""From 0 to 1, in the precision in which Burrow compares them."""


class BurrowStatus(IntEnum):
    """Burrow's `StatusConstant`. STOP, STALL and REWIND are of partitions, NOTFOUND and ERR of groups."""

    NOTFOUND = 0
    OK = 1
    WARN = 2
    ERR = 3
    STOP = 4
    STALL = 5
    REWIND = 6


@dataclass(frozen=True, slots=True)
class BurrowSettings:
    """Burrow's settings and their defaults.

    `intervals`: the commits and log ends that are kept of a partition. `allowed_lag`: records that count as no lag.
    `minimum_complete`: the share of `intervals` that must be filled.
    """

    intervals: int = 10
    allowed_lag: int = 0
    minimum_complete: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class CommitWindows:
    """The last commits of each row, a row being one partition of one group.

    `offset`, `timestamp_ms` and `lag`, int64[intervals, n_rows]: the commits, newest last. A row with fewer commits
    starts with empty slots, which hold -1 in all three. `lag` is that at the time of the commit, -1 = not known
    (Burrow reads older commits at its start). `log_end`, int64[any number, n_rows], in any order, -1 = none: the last
    log ends. `current_lag`, int64[n_rows]: from the last commit to the newest log end, 0 if it is beyond.
    """

    offset: Ints
    timestamp_ms: Ints
    lag: Ints
    log_end: Ints
    current_lag: Ints


class BurrowPartitions(NamedTuple):
    """[n_rows] each: `status` uint8, `complete` float32 (the share of filled slots), `current_lag` int64."""

    status: BurrowCodes
    complete: Shares
    current_lag: Ints


class BurrowGroups(NamedTuple):
    """[n_groups] each.

    status      uint8: the worst status of its partitions, ERR for STOP, STALL and REWIND
    complete    float32: the share of partitions whose slots are all filled; 0 without partitions
    maxlag      int64: the first row with the highest current lag, -1 without partitions. Burrow goes through topics
                in random order, so it takes any topic's first
    totallag    int64: the sum of the current lags
    """

    status: BurrowCodes
    complete: Shares
    maxlag: Ints
    totallag: Ints


def partition_statuses(windows: CommitWindows, now_ms: int, settings: BurrowSettings) -> BurrowPartitions:
    """The status of every row, as Burrow's `evaluatePartitionStatus` gives it at `now_ms`."""
    intervals, rows = windows.offset.shape
    commits = (windows.offset != UNKNOWN).sum(axis=0)
    complete = (commits / intervals).astype(np.float32)
    judged = (commits > 0) & (windows.current_lag > settings.allowed_lag)
    judged &= complete >= np.float32(settings.minimum_complete)
    status = np.full(rows, BurrowStatus.OK, np.uint8)
    status[judged] = _lagging(_take(windows, judged), commits[judged], now_ms, settings.allowed_lag)
    return BurrowPartitions(status, complete, windows.current_lag)


def group_statuses(partitions: BurrowPartitions, bounds: Ints) -> BurrowGroups:
    """Group statuses, as by Burrow's `evaluateConsumerStatus`; group i has the rows `bounds[i]:bounds[i + 1]`."""
    worst = reduce_groups(np.maximum, partitions.status, bounds, BurrowStatus.OK)
    full = reduce_groups(np.add, (partitions.complete == 1).astype(np.int64), bounds, 0)
    return BurrowGroups(
        status=np.minimum(worst, np.uint8(BurrowStatus.ERR)),
        complete=(full / np.maximum(np.diff(bounds), 1)).astype(np.float32),
        maxlag=_first_highest(partitions.current_lag, bounds),
        totallag=reduce_groups(np.add, partitions.current_lag, bounds, 0),
    )


def _take(windows: CommitWindows, rows: Flags) -> CommitWindows:
    return CommitWindows(
        windows.offset[:, rows],
        windows.timestamp_ms[:, rows],
        windows.lag[:, rows],
        windows.log_end[:, rows],
        windows.current_lag[rows],
    )


def _lagging(windows: CommitWindows, commits: Ints, now_ms: int, allowed_lag: int) -> BurrowCodes:
    """uint8[n_rows]: the statuses of rows with `commits` (int64[n_rows]) commits each, at least one."""
    lag_was_allowed = ((windows.lag != UNKNOWN) & (windows.lag <= allowed_lag)).any(axis=0)
    cases = (
        (_is_stopped(windows, commits, now_ms), BurrowStatus.STOP),
        (_is_rewound(windows.offset), BurrowStatus.REWIND),
        (lag_was_allowed, BurrowStatus.OK),
        (_is_constant(windows.offset), BurrowStatus.STALL),
        (_never_falls(windows.lag), BurrowStatus.WARN),
    )
    codes = np.select([flags for flags, _ in cases], [np.uint8(status) for _, status in cases], BurrowStatus.OK)
    return codes.astype(np.uint8)


def _is_stopped(windows: CommitWindows, commits: Ints, now_ms: int) -> Flags:
    """Burrow's clock has whole seconds, commits have milliseconds."""
    first_ms = windows.timestamp_ms[len(windows.offset) - commits, np.arange(len(commits))]
    last_ms, last = windows.timestamp_ms[-1], windows.offset[-1]
    silent = now_ms // 1000 * 1000 - last_ms > last_ms - first_ms
    was_at_end = ((windows.log_end != UNKNOWN) & (windows.log_end <= last)).any(axis=0)
    stopped: Flags = silent & ~was_at_end
    return stopped


def _is_rewound(offset: Ints) -> Flags:
    """Empty slots hold -1, below every offset: the first commit after them is not a rewind."""
    back = offset[1:] < offset[:-1]
    before = np.argmax(back, axis=0) if len(back) else np.zeros(offset.shape[1], np.int64)
    lost = offset[before, np.arange(offset.shape[1])]
    later = np.arange(len(offset))[:, None] > before
    rewound: Flags = back.any(axis=0) & ~(later & (offset >= lost)).any(axis=0)
    return rewound


def _is_constant(offset: Ints) -> Flags:
    constant: Flags = ((offset == offset[-1]) | (offset == UNKNOWN)).all(axis=0)
    return constant


def _never_falls(lag: Ints) -> Flags:
    """No known lag is below the known lag before it."""
    falls, last = np.zeros(lag.shape[1], np.bool_), lag[0]
    for one in lag[1:]:
        known = one != UNKNOWN
        falls |= known & (one < last)
        last = np.where(known, one, last)
    return ~falls


def _first_highest(lag: Ints, bounds: Ints) -> Ints:
    """int64[n_groups]: the first row of each group with its highest lag; -1 for a group without rows."""
    group = group_of_row(bounds)
    return first_of_groups(lag == reduce_groups(np.maximum, lag, bounds, 0)[group], group, len(bounds) - 1)
