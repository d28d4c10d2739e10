"""What a visitor sees of a cluster: its groups that their grants cover. The one place where groups are filtered.

Everything else (pages, API, metrics, tools) reads what `VisibleFeed` and `VisibleChanges` return, and so never learns
of another group. Brokers and topics are shown to everybody who sees the cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from lag.errors import ConfigError
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
    from lag.verdict.health import GroupColumns, Health, Openings
    from lag.verdict.window.sample_window import Window

Sees = Callable[[str], bool]
"""Whether the group with that id may be seen."""

T = TypeVar("T")

POLICY_PROBLEM = ConfigError("The policy file is invalid; its last valid version remains in effect")
"""What is wrong in it may be in a line about a group that may not be seen."""


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
    """The report as if the cluster had only the groups that may be seen.

    Each part is made of fields that are named here, none is copied with `replace`: a column that is added later and
    forgotten here is not handed out at all, and the test of all fields says so.
    """
    from lag.polling.report import Report

    whole = report.snapshot
    numbers = [number for number, group in enumerate(whole.groups) if sees(group.group_id)]
    rows = _rows(whole.offsets, numbers)
    snapshot = _snapshot(whole, numbers, rows)
    return Report(
        snapshot=snapshot,
        health=_health(report.health, snapshot, numbers, rows),
        window=_window(report.window, rows),
        policy_problem=None if report.policy_problem is None else POLICY_PROBLEM,
    )


def _rows(table: "OffsetTable", numbers: Sequence[int]) -> "Ints":
    import numpy as np

    of_groups = (range(table.rows(number).start, table.rows(number).stop) for number in numbers)
    return np.fromiter(chain.from_iterable(of_groups), np.int64)


def _snapshot(whole: ClusterSnapshot, numbers: Sequence[int], rows: "Ints") -> ClusterSnapshot:
    from lag.cluster.assemble import is_complete

    groups = tuple(whole.groups[number] for number in numbers)
    others = tuple(problem for problem in whole.problems if problem.scope is not Scope.GROUP)
    own = merged(problem for group in groups for problem in group.problems if problem.scope is Scope.GROUP)
    problems = (*others, *own)
    return ClusterSnapshot(
        cluster=whole.cluster,
        cluster_id=whole.cluster_id,
        number=whole.number,
        at_ms=whole.at_ms,
        took_s=whole.took_s,
        complete=whole.complete or is_complete(problems, groups, whole.offsets.ends),
        brokers=whole.brokers,
        controller=whole.controller,
        groups=groups,
        topics=whole.topics,
        offsets=_offsets(whole.offsets, numbers, rows),
        problems=problems,
        offsets_leaders=whole.offsets_leaders,
    )


def _offsets(table: "OffsetTable", numbers: Sequence[int], rows: "Ints") -> "OffsetTable":
    import numpy as np

    from lag.offsets import OffsetTable

    sizes = [0, *(table.rows(number).stop - table.rows(number).start for number in numbers)]
    return OffsetTable(
        at_ms=table.at_ms,
        ends=table.ends,
        bounds=np.cumsum(sizes, dtype=np.int64),
        end=table.end[rows],
        committed=table.committed[rows],
        lag=table.lag[rows],
        lost=table.lost[rows],
        problem=table.problem[rows],
        member=table.member[rows],
    )


def _health(health: "Health", snapshot: ClusterSnapshot, numbers: Sequence[int], rows: "Ints") -> "Health":
    """Without `needs_marker_check` and `onsets`: only the next poll needs them."""
    from lag.verdict.health import Health

    return Health(
        snapshot=snapshot,
        times_ms=health.times_ms,
        groups=Picked(health.groups, numbers),
        group_partitions=lambda number: health.group_partitions(numbers[number]),
        columns=_columns(health.columns, numbers),
        openings=None if health.openings is None else _openings(health.openings, numbers),
        remainders=None if health.remainders is None else health.remainders[rows],
    )


def _columns(columns: "GroupColumns", numbers: Sequence[int]) -> "GroupColumns":
    import numpy as np

    from lag.verdict.health import GroupColumns

    chosen = np.array(numbers, np.int64)
    return GroupColumns(
        status=columns.status[chosen],
        time_lag_s=columns.time_lag_s[chosen],
        drain_s=columns.drain_s[chosen],
        markers=columns.markers[chosen],
        onsets=columns.onsets.of_rows(chosen),
    )


def _openings(openings: "Openings", numbers: Sequence[int]) -> "Openings":
    from lag.verdict.health import Openings

    now = {number: at for at, number in enumerate(numbers)}
    return Openings(
        opened=frozenset(now[number] for number in openings.opened if number in now),
        hidden={now[number]: status for number, status in openings.hidden.items() if number in now},
    )


def _window(window: "Window", rows: "Ints") -> "Window":
    from lag.verdict.window.sample_window import Window

    return Window(
        times_ms=window.times_ms,
        end=window.end[rows],
        committed=tuple(column[rows] for column in window.committed),
        log_start=window.log_start,
        log_end=window.log_end,
        held=tuple(column[rows] for column in window.held),
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
