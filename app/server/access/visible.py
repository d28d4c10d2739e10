"""What a visitor sees of a cluster: its groups that their grants cover. The one place where groups are filtered.

Everything else (pages, API, metrics, tools) reads what `VisibleFeed` and `VisibleChanges` return, and so never learns
of another group. Brokers and topics are shown to everybody who sees the cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from lag.lazy_sequence import LazySequence
from lag.merged_problems import merged
from lag.model import ClusterSnapshot, Scope
from lag.polling.verdict_changes import ChangesAfter, VerdictChanges

if TYPE_CHECKING:
    from app.server.feed import Feed
    from lag.generations.live_group import TargetPartitions
    from lag.generations.recent import RecentRebalances
    from lag.generations.recorded import FollowStatus, Recording
    from lag.offsets import Ints, OffsetTable
    from lag.polling.report import CollectorStatus, Report
    from lag.verdict.health import GroupColumns, Health
    from lag.verdict.window.sample_window import Window

Sees = Callable[[str], bool]
"""Whether the group with that id may be seen."""

T = TypeVar("T")


class VisibleFeed:
    """A feed of the groups that may be seen. The last report is filtered once."""

    def __init__(self, feed: "Feed", sees: Sees) -> None:
        self._feed, self._sees = feed, sees
        self._last: tuple[Report, Report] | None = None

    def latest(self) -> "Report | None":
        """The last good report."""
        whole, last = self._feed.latest(), self._last
        if whole is None:
            return None
        if last is None or last[0] is not whole:
            last = self._last = whole, visible_report(whole, self._sees)
        return last[1]

    def status(self) -> "CollectorStatus":
        """The state of polling."""
        return self._feed.status()

    def poll_now(self) -> None:
        """Poll now instead of at the next interval."""
        self._feed.poll_now()

    def recording(self, group_id: str) -> "Recording":
        """The generations of a group; none for one that may not be seen."""
        from lag.generations.recorded import Origin, Recording

        return self._feed.recording(group_id) if self._sees(group_id) else Recording(Origin.INFERRED)

    def recent_rebalances(self, until_ms: int | None = None) -> "RecentRebalances":
        """The last rebalances of the groups that may be seen, or the last up to that time."""
        return visible_rebalances(self._feed.recent_rebalances(until_ms), self._sees)

    def rebalance_counts(self, since_ms: int) -> "Mapping[str, int]":
        """How many rebalances of each group that may be seen are known from that time on."""
        counts = self._feed.rebalance_counts(since_ms)
        return {group_id: count for group_id, count in counts.items() if self._sees(group_id)}

    def share_targets(self, group_id: str) -> "Mapping[str, TargetPartitions]":
        """The target assignments of a share group; none for one that may not be seen."""
        return self._feed.share_targets(group_id) if self._sees(group_id) else {}

    def following(self) -> "FollowStatus | None":
        """The state of reading `__consumer_offsets`."""
        return self._feed.following()


class VisibleChanges(VerdictChanges):
    """The changes of verdicts of the groups that may be seen."""

    def __init__(self, changes: VerdictChanges, sees: Sees) -> None:
        super().__init__()
        self._whole, self._sees = changes, sees

    def after(self, change_id: int, wanted: Sees = lambda _group_id: True) -> ChangesAfter:
        """What is new to somebody who has read up to that id; ids do not count the changes of others."""
        return self._whole.after(change_id, lambda group_id: self._sees(group_id) and wanted(group_id))

    def last_id(self) -> int:
        """The id up to which there is nothing to look for."""
        return self._whole.last_id()


def visible_rebalances(its: "RecentRebalances", sees: Sees) -> "RecentRebalances":
    """The rebalances of the groups that may be seen."""
    return replace(its, rebalances=tuple(one for one in its.rebalances if sees(one.group_id)))


def visible_report(report: "Report", sees: Sees) -> "Report":
    """The report as if the cluster had only the groups that may be seen."""
    snapshot = report.snapshot
    numbers = [number for number, group in enumerate(snapshot.groups) if sees(group.group_id)]
    rows = _rows(snapshot.offsets, numbers)
    seen = _snapshot(snapshot, numbers, rows)
    health = _health(report.health, seen, numbers, rows)
    return replace(report, snapshot=seen, health=health, window=_window(report.window, rows))


def _rows(table: "OffsetTable", numbers: Sequence[int]) -> "Ints":
    import numpy as np

    of_groups = (range(table.rows(number).start, table.rows(number).stop) for number in numbers)
    return np.fromiter(chain.from_iterable(of_groups), np.int64)


def _snapshot(snapshot: ClusterSnapshot, numbers: Sequence[int], rows: "Ints") -> ClusterSnapshot:
    groups = tuple(snapshot.groups[number] for number in numbers)
    others = tuple(problem for problem in snapshot.problems if problem.scope is not Scope.GROUP)
    own = merged(problem for group in groups for problem in group.problems if problem.scope is Scope.GROUP)
    offsets = _offsets(snapshot.offsets, numbers, rows)
    return replace(snapshot, groups=groups, offsets=offsets, problems=(*others, *own))


def _offsets(table: "OffsetTable", numbers: Sequence[int], rows: "Ints") -> "OffsetTable":
    import numpy as np

    sizes = [0, *(table.rows(number).stop - table.rows(number).start for number in numbers)]
    return replace(
        table,
        bounds=np.cumsum(sizes, dtype=np.int64),
        end=table.end[rows],
        committed=table.committed[rows],
        lag=table.lag[rows],
        lost=table.lost[rows],
        problem=table.problem[rows],
        member=table.member[rows],
    )


def _health(health: "Health", snapshot: ClusterSnapshot, numbers: Sequence[int], rows: "Ints") -> "Health":
    import numpy as np

    return replace(
        health,
        snapshot=snapshot,
        groups=Picked(health.groups, numbers),
        group_partitions=lambda number: health.group_partitions(numbers[number]),
        needs_marker_check=np.empty(0, np.int64),
        columns=_columns(health.columns, numbers),
        onsets=None,
        remainders=None if health.remainders is None else health.remainders[rows],
    )


def _columns(columns: "GroupColumns", numbers: Sequence[int]) -> "GroupColumns":
    import numpy as np

    chosen = np.array(numbers, np.int64)
    return replace(
        columns,
        status=columns.status[chosen],
        time_lag_s=columns.time_lag_s[chosen],
        drain_s=columns.drain_s[chosen],
        markers=columns.markers[chosen],
        onsets=columns.onsets.of_rows(chosen),
    )


def _window(window: "Window", rows: "Ints") -> "Window":
    return replace(
        window,
        end=window.end[rows],
        committed=tuple(column[rows] for column in window.committed),
        waiting=None if window.waiting is None else window.waiting.of_rows(rows),
    )


class Picked(LazySequence[T]):
    """Some entries of a sequence, each made when it is read."""

    __slots__ = ("_numbers", "_whole")

    def __init__(self, whole: Sequence[T], numbers: Sequence[int]) -> None:
        self._whole, self._numbers = whole, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def _entry(self, at: int) -> T:
        return self._whole[self._numbers[at]]
