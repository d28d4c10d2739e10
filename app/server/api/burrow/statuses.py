"""The statuses that Burrow's endpoints answer: Burrow's rules on the commits that the polls saw."""

from collections.abc import Sequence
from dataclasses import dataclass

from lag.offsets import UNKNOWN
from lag.polling.report import Report
from lag.verdict.burrow.evaluator import BurrowSettings, BurrowStatus, CommitWindows
from lag.verdict.burrow.evaluator import partition_statuses as burrow_partitions
from lag.verdict.burrow.poll_windows import commit_windows

SETTINGS = BurrowSettings()
INTERVALS = SETTINGS.intervals
OK, ERR, NOT_FOUND = BurrowStatus.OK.name, BurrowStatus.ERR.name, BurrowStatus.NOTFOUND.name
URGENCY = tuple(status.name for status in BurrowStatus)


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
    windows = commit_windows(report.window.rows(report.snapshot.offsets.rows(number)), INTERVALS)
    judged = burrow_partitions(windows, report.snapshot.at_ms, SETTINGS)
    pairs = zip(judged.status.tolist(), judged.current_lag.tolist(), strict=True)
    return [
        PartitionStatus(BurrowStatus(status).name, _commits(windows, at), lag) for at, (status, lag) in enumerate(pairs)
    ]


def _commits(windows: CommitWindows, at: int) -> list[Commit]:
    columns = (column[:, at].tolist() for column in (windows.offset, windows.timestamp_ms, windows.lag))
    return [
        Commit(offset, at_ms, None if lag == UNKNOWN else lag)
        for offset, at_ms, lag in zip(*columns, strict=True)
        if offset != UNKNOWN
    ]
