"""What a visitor sees of a cluster: its groups that their grants cover. The one place where groups are filtered.

Everything else (pages, API, metrics, tools) reads what `VisibleFeed`, `VisibleChanges` and `VisibleControls` return,
and so never learns of another group. Brokers and topics are shown to everybody who sees the cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from lag.errors import ConfigError, EmbeddedError
from lag.lazy_sequence import LazySequence
from lag.merged_problems import merged, of_topics
from lag.model import UNAUTHORIZED, ClusterSnapshot, GroupSnapshot, Problem, Scope
from lag.polling.verdict_changes import ChangesAfter, VerdictChanges

if TYPE_CHECKING:
    from app.server.feed import Feed
    from lag.embedded.workload import Controls, Readiness, Running
    from lag.generations.live_group import TargetPartitions
    from lag.generations.recent import RecentRebalances
    from lag.generations.recorded import FollowStatus, Recording
    from lag.offsets import Codes, EndOffsets, Ints, OffsetTable
    from lag.polling.report import CollectorStatus, Report
    from lag.verdict.health import GroupColumns, Health, Openings
    from lag.verdict.window.sample_window import Window

Sees = Callable[[str], bool]
"""Whether the group with that id may be seen."""

T = TypeVar("T")

POLICY_PROBLEM = ConfigError("What is wrong in it is shown to those who see every group")
"""The line may be about a group that may not be seen."""


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


class VisibleControls:
    """The controls of a demo, for the groups that the visitor may operate: the others are as if they were not there.

    Topics are those of all, as everywhere.
    """

    def __init__(self, controls: "Controls | VisibleControls", operates: Sees) -> None:
        self._whole, self._operates = controls, operates

    def readiness(self) -> "Readiness":
        """Progress of the set-up; why it failed is not said, as it may be about another group."""
        its = self._whole.readiness()
        waiting = tuple(name for name in its.waiting if self._operates(name.rpartition("-")[0]))
        return replace(its, waiting=waiting, failure=None if its.failure is None else "See the log of the server.")

    def running(self) -> "Running":
        """What the visitor can control now."""
        its = self._whole.running()
        members = tuple(member for member in its.members if self._operates(member.group_id))
        return replace(its, groups=tuple(filter(self._operates, its.groups)), members=members)

    def add_member(self, group_id: str) -> str:
        """Start one more member of the group."""
        return self._whole.add_member(self._group(group_id))

    def stop_consuming(self, group_id: str) -> str:
        """Let all members of the group stay in it, but read nothing."""
        return self._whole.stop_consuming(self._group(group_id))

    def resume_consuming(self, group_id: str) -> str:
        """Let its paused members read again."""
        return self._whole.resume_consuming(self._group(group_id))

    def kill_member(self, member: str) -> str:
        """SIGKILL the member."""
        return self._whole.kill_member(self._member(member))

    def freeze_member(self, member: str) -> str:
        """SIGSTOP the member."""
        return self._whole.freeze_member(self._member(member))

    def thaw_member(self, member: str) -> str:
        """SIGCONT the member."""
        return self._whole.thaw_member(self._member(member))

    def burst(self, topic: str, records: int) -> str:
        """Produce that many records to the topic at once."""
        return self._whole.burst(topic, records)

    def open_transaction(self, topic: str) -> str:
        """Open a transaction over all partitions of the topic, and leave it open."""
        return self._whole.open_transaction(topic)

    def commit_transaction(self, topic: str) -> str:
        """Commit the transaction that is open on the topic."""
        return self._whole.commit_transaction(topic)

    def abort_transaction(self, topic: str) -> str:
        """Abort the transaction that is open on the topic."""
        return self._whole.abort_transaction(topic)

    def delete_topic(self, topic: str) -> str:
        """Delete the topic, and produce no more to it."""
        return self._whole.delete_topic(topic)

    def add_partitions(self, topic: str, count: int) -> str:
        """Give the topic `count` more partitions."""
        return self._whole.add_partitions(topic, count)

    def _group(self, group_id: str) -> str:
        if not self._operates(group_id):
            raise EmbeddedError("Your roles do not cover this group", "Ask for the operator role for it.")
        return group_id

    def _member(self, name: str) -> str:
        if name not in {member.name for member in self.running().members}:
            raise EmbeddedError("Your roles do not cover this member", "Ask for the operator role for its group.")
        return name


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
    ends = _end_rows(whole, rows)
    snapshot = _snapshot(whole, numbers, rows, ends)
    return Report(
        snapshot=snapshot,
        health=_health(report.health, snapshot, numbers, rows),
        window=_window(report.window, rows, ends),
        policy_problem=None if report.policy_problem is None else POLICY_PROBLEM,
    )


def _rows(table: "OffsetTable", numbers: Sequence[int]) -> "Ints":
    import numpy as np

    of_groups = (range(table.rows(number).start, table.rows(number).stop) for number in numbers)
    return np.fromiter(chain.from_iterable(of_groups), np.int64)


def _end_rows(whole: ClusterSnapshot, rows: "Ints") -> "Ints":
    """The rows of the end offsets without those of topics that only the commits of other groups name."""
    import numpy as np

    ends = whole.offsets.ends
    is_shown = np.array([name in whole.topics for name in ends.topics], np.bool_)[ends.topic]
    is_shown[whole.offsets.end[rows]] = True
    return np.flatnonzero(is_shown)


def _snapshot(whole: ClusterSnapshot, numbers: Sequence[int], rows: "Ints", ends: "Ints") -> ClusterSnapshot:
    from lag.verdict.rules.status_rules import is_complete

    groups = tuple(whole.groups[number] for number in numbers)
    offsets = _offsets(whole.offsets, numbers, rows, ends)
    problems = _problems(whole, groups, offsets)
    return ClusterSnapshot(
        cluster=whole.cluster,
        cluster_id=whole.cluster_id,
        number=whole.number,
        at_ms=whole.at_ms,
        took_s=whole.took_s,
        complete=whole.complete or is_complete(problems, groups, offsets.ends),
        brokers=whole.brokers,
        controller=whole.controller,
        groups=groups,
        topics=whole.topics,
        offsets=offsets,
        problems=problems,
        offsets_leaders=whole.offsets_leaders,
    )


def _problems(whole: ClusterSnapshot, groups: Sequence[GroupSnapshot], offsets: "OffsetTable") -> tuple[Problem, ...]:
    """Those of brokers and the cluster, of the groups, and of topics that everybody sees or the groups use.

    Topics that may not be described are one problem that names some: it is made again, from those of the groups.
    """
    from lag.offsets import PartitionProblem, problem_code

    ends = offsets.ends
    denied = ends.topic[offsets.end[offsets.problem == problem_code(PartitionProblem.UNAUTHORIZED)]]
    others = [its for its in whole.problems if its.scope is not Scope.GROUP and not _is_denied_topic(its)]
    topics = of_topics({ends.topics[number] for number in denied}) if any(map(_is_denied_topic, whole.problems)) else ()
    return (*others, *topics, *merged(its for one in groups for its in one.problems if its.scope is Scope.GROUP))


def _is_denied_topic(problem: Problem) -> bool:
    return problem.scope is Scope.TOPIC and problem.kind == UNAUTHORIZED


def _ends(ends: "EndOffsets", rows: "Ints") -> "EndOffsets":
    import numpy as np

    from lag.offsets import EndOffsets

    names, topic = np.unique(ends.topic[rows], return_inverse=True)
    return EndOffsets(
        topics=tuple(ends.topics[number] for number in names),
        topic=topic.astype(ends.topic.dtype),
        partition=ends.partition[rows],
        leader=ends.leader[rows],
        log_start=ends.log_start[rows],
        log_end=ends.log_end[rows],
        last_stable=ends.last_stable[rows],
        leader_epoch=ends.leader_epoch[rows],
        problem=ends.problem[rows],
    )


def _offsets(table: "OffsetTable", numbers: Sequence[int], rows: "Ints", ends: "Ints") -> "OffsetTable":
    import numpy as np

    from lag.offsets import OffsetTable

    sizes = [0, *(table.rows(number).stop - table.rows(number).start for number in numbers)]
    return OffsetTable(
        at_ms=table.at_ms,
        ends=_ends(table.ends, ends),
        bounds=np.cumsum(sizes, dtype=np.int64),
        end=_renumbered(table.end[rows], ends),
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


def _renumbered(end: "Codes", ends: "Ints") -> "Codes":
    """Rows of the end offsets, of which those in `ends` are left."""
    return ends.searchsorted(end).astype(end.dtype)


def _window(window: "Window", rows: "Ints", ends: "Ints") -> "Window":
    from lag.verdict.window.sample_window import Window

    return Window(
        times_ms=window.times_ms,
        end=_renumbered(window.end[rows], ends),
        committed=tuple(column[rows] for column in window.committed),
        log_start=tuple(column[ends] for column in window.log_start),
        log_end=tuple(column[ends] for column in window.log_end),
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
