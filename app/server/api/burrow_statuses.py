"""The statuses that Burrow's endpoints answer, until Burrow's own rules are here: from our verdicts and the last polls.

A commit is a poll that saw another committed offset than the poll before it. Where the log end is not known there is
none, as in Burrow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lag.offsets import UNKNOWN, Ints
from lag.polling.report import Report
from lag.verdict.status import Status

INTERVALS = 10
"""How many commits Burrow keeps of each partition, by default."""

NOT_FOUND, OK, WARN, ERR, STOP, STALL, REWIND = "NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"
URGENCY = (OK, WARN, ERR, STOP, STALL, REWIND)
STATUSES: Mapping[Status, str] = {
    Status.STOPPED: STOP,
    Status.NO_MEMBERS: STOP,
    Status.STALLED: STALL,
    Status.REWOUND: REWIND,
    Status.FALLING_BEHIND: WARN,
}
"""All others are OK."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A committed offset, the poll that saw it first, and the lag then; None: not known."""

    offset: int
    at_ms: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """One partition of a group: its last commits, oldest first, at most INTERVALS."""

    status: str
    commits: Sequence[Commit]
    current_lag: int


def partition_statuses(report: Report, number: int) -> list[PartitionStatus]:
    """Of the rows of the group of that number in the snapshot, in their order."""
    table = report.snapshot.offsets
    window, health = report.window.rows(table.rows(number)), report.health.partitions(report.snapshot.groups[number])
    lags = table.lag[table.rows(number)].tolist()
    return [
        PartitionStatus(
            STATUSES.get(its.finding.status, OK) if lag > 0 else OK,
            _commits(window.times_ms, window.committed[:, at], window.log_end[:, at]),
            max(0, lag),
        )
        for at, (its, lag) in enumerate(zip(health, lags, strict=True))
    ]


def _commits(times_ms: Ints, committed: Ints, log_end: Ints) -> list[Commit]:
    """The last commits of one row; all arguments are int64[n_samples]."""
    seen = np.flatnonzero((committed != UNKNOWN) & (log_end != UNKNOWN)).tolist()
    firsts = [*seen[:1], *(at for before, at in pairwise(seen) if committed[at] != committed[before])]
    return [
        Commit(int(committed[at]), int(times_ms[at]), max(0, int(log_end[at] - committed[at])))
        for at in firsts[-INTERVALS:]
    ]
