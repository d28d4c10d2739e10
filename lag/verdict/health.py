"""What the numbers mean: a status per partition and per group, with the rule that fired and its evidence.

Types only; `rates` computes the rates, `status` applies the rules, `judge` puts both together and
`lag.polling.collector` publishes the result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from lag.model import ClusterSnapshot, GroupSnapshot, LagTotal, Remainder

TOO_EARLY = -1
NEVER = float("inf")
"""A drain time of "never": the group does not gain on the producers."""


class Status(StrEnum):
    """What is the matter with a partition or a group, most urgent first (the order of `URGENCY`)."""

    STOPPED = "stopped"  # the whole group has lag and made no commit in the window
    STALLED = "stalled"  # this partition has lag and its commit did not move, while others of the group did
    LOST = "lost"  # committed lies below the log start: records were deleted before they were read
    BEYOND_END = "beyond_end"  # committed lies beyond the log end: the topic was recreated or truncated
    REWOUND = "rewound"  # the commit moved backwards in the window
    FALLING_BEHIND = "falling_behind"
    NEVER_COMMITTED = "never_committed"
    HELD = "held"  # an open transaction holds the last stable offset, and the group has read up to it
    NO_MEMBERS = "no_members"  # nobody is there to read the records that wait
    CATCHING_UP = "catching_up"
    TOPIC_DELETED = "topic_deleted"
    UNKNOWN = "unknown"
    OK = "ok"


URGENCY: tuple[Status, ...] = tuple(Status)


@dataclass(frozen=True, slots=True)
class Finding:
    """A status with its reason: `rule` says what was tested, `evidence` the numbers and the window it fired on."""

    status: Status
    rule: str
    evidence: str
    since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TimeLag:
    """How old the oldest record is that the group has not committed.

    `seconds` is None when it lies outside our own samples; `reason` then says so and `at_least_s` bounds it from
    below. `error_bound_s` is the error bound of an interpolated value.
    """

    seconds: float | None
    error_bound_s: float | None = None
    at_least_s: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PartitionHealth:
    """One partition of one group. Rates are records per second of the last minutes, None with fewer than two samples.

    `drain_s` is None when unknown and NEVER when the lag does not shrink; a partition that keeps up with what arrives
    has its few records committed after lag / consume rate. `last_moved_ms` is the first poll that saw the newest
    commit, None if it did not change in the window. `lag_trend` holds the lag at the sample times of `Health.times_ms`,
    NaN where it was unknown.
    """

    finding: Finding
    consume_rate: float | None
    produce_rate: float | None
    time_lag: TimeLag
    drain_s: float | None
    last_moved_ms: int | None
    lag_trend: NDArray[np.float64]
    remainder: Remainder = Remainder.UNKNOWN


@dataclass(frozen=True, slots=True)
class GroupHealth:
    """A whole group over the window: the worst finding, sums that say what they cover, the worst partition's times.

    `unhealthy` counts partitions by status (OK left out). `worst` is the row (in `GroupSnapshot.partitions`) that the
    finding is about, None if it is about the group as such. Partitions with nothing but what may be a transaction
    marker count neither for the time lag nor for the drain time.
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


@dataclass(frozen=True, slots=True, eq=False)
class GroupColumns:
    """What a history keeps of every group, as columns (groups,).

    `status` is a place in URGENCY, `TOO_EARLY` while nothing is the matter but the window is too short to tell.
    `markers` counts partitions with nothing left but what may be transaction markers; `time_lag_s` is without them: NaN
    where not known, 0 where nothing waits.
    """

    status: NDArray[np.int8]
    time_lag_s: NDArray[np.float64]
    markers: NDArray[np.int64]


def _no_columns() -> GroupColumns:
    return GroupColumns(np.empty(0, np.int8), np.empty(0), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Health:
    """The judgement of one snapshot. `groups` runs parallel to `snapshot.groups`; `times_ms` are the sample times.

    `needs_marker_check` lists rows of the offset table whose small lag does not move: records, or transaction markers?
    `columns` are of all groups at once what `groups` says one by one. `open_group` makes the per-partition part of the
    group of that number; pages call `partitions` instead.
    """

    snapshot: ClusterSnapshot
    times_ms: NDArray[np.int64]
    groups: Sequence[GroupHealth]
    open_group: Callable[[int], Sequence[PartitionHealth]] = field(repr=False)
    needs_marker_check: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    columns: GroupColumns = field(default_factory=_no_columns, repr=False)

    def group(self, group_id: str) -> GroupHealth | None:
        """The health of the group of that id, or None."""
        at = self.snapshot.by_group.get(group_id)
        return None if at is None else self.groups[at]

    def partitions(self, group: GroupSnapshot) -> Sequence[PartitionHealth]:
        """One entry per row of `group.partitions`, made when asked for. KeyError if the snapshot has no such group."""
        return self.open_group(self.snapshot.by_group[group.group_id])
