"""The verdict on each partition and group: its status, the rule that fired and the evidence. Types only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.lazy_sequence import MadeOnce
from lag.model import ClusterSnapshot, GroupSnapshot, LagTotal, Remainder
from lag.verdict.onset import Onset, OnsetColumns
from lag.verdict.rules.group_onsets import GroupOnsets
from lag.verdict.status import Status, StatusCodes


@dataclass(frozen=True, slots=True)
class Finding:
    """A status, the rule that fired, the evidence (the numbers and polls that it fired on), and since when it holds."""

    status: Status
    rule: str
    evidence: str
    onset: Onset | None = None


@dataclass(frozen=True, slots=True)
class TimeLag:
    """The age of the oldest record that the group has not committed.

    `seconds` is interpolated between samples, with an error of at most `error_bound_s`. It is None if the record is
    older than the samples; `at_least_s` is then a lower bound, and `reason` explains it.
    """

    seconds: float | None
    error_bound_s: float | None = None
    at_least_s: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionHealth:
    """One partition of one group. Rates are records per second over the last minutes, None with fewer than two samples.

    `drain_s` is None if unknown and NEVER if the lag does not shrink; for a partition that keeps up, it is lag /
    consume rate. `last_moved_ms` is the first poll that saw the newest committed offset, None if it did not change in
    the window. `lag_trend` is float64[n_samples], the lag at `Health.times_ms`, NaN where unknown. `remainder` is what
    a check of the log found.
    """

    finding: Finding
    consume_rate: float | None
    produce_rate: float | None
    time_lag: TimeLag
    drain_s: float | None
    last_moved_ms: int | None
    lag_trend: NDArray[np.float64]
    remainder: Remainder = Remainder.UNKNOWN


class PartitionHealths(MadeOnce[PartitionHealth]):
    """The partitions of one group: `make` makes the entry of a row when it is read first.

    `status` is uint8[n_partitions], indexes into URGENCY, and known without making an entry.
    """

    __slots__ = ("status",)

    def __init__(self, status: StatusCodes, make: Callable[[int], PartitionHealth]) -> None:
        super().__init__(len(status), make)
        self.status = status


@dataclass(frozen=True, slots=True)
class GroupHealth:
    """A group: the most urgent finding, sums over its partitions, the longest time lag and drain time.

    `unhealthy` counts the partitions of each status but OK. `worst` is the index in `GroupSnapshot.partitions` of the
    partition that the finding is about, None if it is about the whole group. Partitions whose lag may consist of
    transaction markers only do not count for the time lag and the drain time. `is_markers_only`: a check of the log
    found these and aborted records in the whole lag, and nothing else, so that the time lag is 0.
    """

    finding: Finding
    lag: LagTotal
    consume_rate: float | None
    produce_rate: float | None
    time_lag: TimeLag
    drain_s: float | None
    unhealthy: dict[Status, int]
    worst: int | None
    lag_trend: NDArray[np.float64]
    is_markers_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumns:
    """What the history stores of every group: [n_groups] each.

    `status` is an index into URGENCY, or TOO_EARLY. `markers` counts the partitions whose lag may consist of
    transaction markers only. `time_lag_s` is without these; NaN = unknown, 0 if nothing waits. `drain_s` is that of
    `GroupHealth`, NaN = unknown. `onsets` are those of the findings.
    """

    status: NDArray[np.int8]
    time_lag_s: NDArray[np.float64]
    drain_s: NDArray[np.float64]
    markers: NDArray[np.int64]
    onsets: OnsetColumns


class Openings(NamedTuple):
    """What opened at a poll, by the number of the group.

    `opened`: the groups with a verdict that opened. `hidden`: the open verdict of each group that is shown as flapping,
    OK if none is open.
    """

    opened: frozenset[int]
    hidden: Mapping[int, Status]


def _no_columns() -> GroupColumns:
    return GroupColumns(np.empty(0, np.int8), np.empty(0), np.empty(0), np.empty(0, np.int64), OnsetColumns.none(0))


@dataclass(frozen=True, slots=True, eq=False)
class Health:
    """The verdicts on one snapshot. `groups` has the order of `snapshot.groups`; `times_ms` is int64[n_samples].

    `group_partitions` returns the partitions of a group by its number; pages call `partitions`. `needs_marker_check` is
    int64[n], rows of the offset table whose verdict a check of the log may refute. `columns` has the numbers of all
    groups. `onsets` is what the next verdicts need of these; None if the health was made without them. `openings` is
    None if every poll is shown as it is. `remainders` is uint8[n_rows of the offset table], what checks of the log
    found; None: no log was checked.
    """

    snapshot: ClusterSnapshot
    times_ms: NDArray[np.int64]
    groups: Sequence[GroupHealth]
    group_partitions: Callable[[int], PartitionHealths] = field(repr=False)
    needs_marker_check: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    columns: GroupColumns = field(default_factory=_no_columns, repr=False)
    onsets: GroupOnsets | None = field(default=None, repr=False)
    openings: Openings | None = field(default=None, repr=False)
    remainders: NDArray[np.uint8] | None = field(default=None, repr=False)

    def group(self, group_id: str) -> GroupHealth | None:
        """The health of this group; None if the snapshot does not have it."""
        at = self.snapshot.by_group.get(group_id)
        return None if at is None else self.groups[at]

    def partitions(self, group: GroupSnapshot) -> PartitionHealths:
        """One entry per entry of `group.partitions`. Raises KeyError if the snapshot does not have the group."""
        return self.group_partitions(self.snapshot.by_group[group.group_id])
