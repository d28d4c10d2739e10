"""The numbers of one scraped cluster, computed once for all families that need them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from app.metrics.options import Granularity
from app.metrics.rows import (
    GroupTopics,
    GroupTotals,
    TableRows,
    group_blocks,
    group_topics,
    group_totals,
    ranges,
    table_rows,
)
from app.metrics.selection import Part, Selection
from lag.model import ClusterSnapshot, GroupSnapshot, Topic, is_described
from lag.offsets import UNKNOWN, EndOffsets, Flags, Ints, OffsetTable
from lag.polling.report import CollectorStatus, Report
from lag.verdict.burrow.evaluator import BurrowCodes, Shares
from lag.verdict.burrow.poll_windows import burrow_statuses
from lag.verdict.columns import concatenate, no_rows
from lag.verdict.health import GroupColumns
from lag.verdict.rules.row_verdicts import time_lags
from lag.verdict.window import time_to_loss
from lag.verdict.window.rates import Floats


@dataclass(frozen=True, slots=True)
class Polled:
    """A cluster as it was last polled: no report before the first good poll. `now_ms` is the time of the scrape.

    `records_read`: of `__consumer_offsets` since the start, 0 if it is not followed. `commits_read`: those of each
    group among them.
    """

    name: str
    report: Report | None
    status: CollectorStatus
    now_ms: int
    records_read: int = 0
    commits_read: Mapping[str, int] = field(default_factory=dict)


class TopicAssignments(NamedTuple):
    """int64[n] each, one row per group and topic: members with partitions of the topic, and these partitions."""

    members: Ints
    partitions: Ints


class BurrowColumns(NamedTuple):
    """Burrow's status of each group (uint8[n_groups]) and of each row (uint8[n_rows]).

    `complete`: float32[n_rows], the share of its last 10 commits that are known.
    """

    group_status: BurrowCodes
    row_status: BurrowCodes
    complete: Shares


class View:
    """A cluster that was read, and what of it is served. Arrays follow the order of `groups`, `topics` and `rows`."""

    def __init__(self, polled: Polled, report: Report, selection: Selection) -> None:
        self.polled, self.report, self.selection = polled, report, selection
        self.snapshot: ClusterSnapshot = report.snapshot
        self.table: OffsetTable = report.snapshot.offsets
        self.ends: EndOffsets = report.snapshot.offsets.ends
        self.columns: GroupColumns = report.health.columns
        self.groups: Ints = _chosen(selection.groups, Granularity.GROUP)
        """int64[n]: the numbers of the groups."""
        self.topics: Ints = _chosen(selection.topics, Granularity.TOPIC)
        """int64[n]: the numbers of the topics."""

    @cached_property
    def group_list(self) -> list[GroupSnapshot]:
        """The groups."""
        return [self.snapshot.groups[number] for number in self.groups.tolist()]

    @cached_property
    def topic_list(self) -> list[Topic]:
        """The topics."""
        return [self.snapshot.topics[self.ends.topics[number]] for number in self.topics.tolist()]

    @cached_property
    def totals(self) -> GroupTotals:
        """Of the groups."""
        return GroupTotals(*(column[self.groups] for column in group_totals(self.table)))

    @cached_property
    def is_described(self) -> Flags:
        """bool[n_groups]: state and members are those of this poll, not of an earlier one, and could be read."""
        return np.array([is_described(group, self.snapshot.at_ms) for group in self.group_list], np.bool_)

    @cached_property
    def members(self) -> Ints:
        """int64[n_groups]: the members of each group."""
        return np.array([len(group.members) for group in self.group_list], np.int64)

    @cached_property
    def is_read(self) -> Flags:
        """bool[n_groups]: not so if the group could not be read at all, and has no partitions for that reason."""
        complete = np.array([group.complete for group in self.group_list], np.bool_)
        return complete | (self.totals.partitions > 0)

    @cached_property
    def has_lag(self) -> Flags:
        """bool[n_groups]: not so if the group could not be read, or has members and no partitions."""
        reads_nothing: Flags = (self.totals.partitions == 0) & (self.members > 0)
        return self.is_read & ~reads_nothing

    @cached_property
    def group_topics(self) -> GroupTopics:
        """The pairs of a group and a topic."""
        return group_topics(self.table, _chosen(self.selection.groups, Granularity.TOPIC), self.selection.is_topic)

    @cached_property
    def assignments(self) -> TopicAssignments:
        """Of the pairs of a group and a topic."""
        pairs = self.group_topics
        members, partitions = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
        for number in np.unique(pairs.group).tolist():
            group = self.snapshot.groups[number]
            for member in group.members if is_described(group, self.snapshot.at_ms) else ():
                topics = Counter(tp.topic for tp in member.assigned)
                members.update((number, topic) for topic in topics)
                partitions.update({(number, topic): count for topic, count in topics.items()})
        keys = [(g, self.ends.topics[t]) for g, t in zip(pairs.group.tolist(), pairs.topic.tolist(), strict=True)]
        return TopicAssignments(*(np.array([found[key] for key in keys], np.int64) for found in (members, partitions)))

    @cached_property
    def rows(self) -> TableRows:
        """The rows of the offset table."""
        return table_rows(self.table, _chosen(self.selection.groups, Granularity.PARTITION), self.selection.is_topic)

    @cached_property
    def time_lag_s(self) -> Floats:
        """float64[n_rows]: the time lag of each row; NaN = unknown."""
        return time_lags(self.report.window, self.table, self.rows.row, self.report.health.remainders).seconds

    @cached_property
    def time_to_loss_s(self) -> Floats:
        """float64[n_groups]: until retention deletes unread records; NaN = unknown, or nothing is unread."""
        return time_to_loss.of_groups(self.snapshot, self.report.window).time.seconds[self.groups]

    @cached_property
    def burrow(self) -> BurrowColumns:
        """Burrow's statuses of the groups and rows, computed in blocks so that memory is bounded."""
        bounds, parts = self.table.bounds, list[BurrowColumns]()
        for first, last in group_blocks(np.diff(bounds)):
            groups = _between(self.groups, first, last) - first
            rows = _between(self.rows.row, bounds[first], bounds[last]) - bounds[first]
            if len(groups) or len(rows):
                partitions, found = burrow_statuses(self.snapshot, self.report.window, groups=range(first, last))
                parts.append(BurrowColumns(found.status[groups], partitions.status[rows], partitions.complete[rows]))
        return concatenate(parts) if parts else no_rows(BurrowColumns)

    @cached_property
    def partitions(self) -> Ints:
        """int64[n]: the rows of EndOffsets that are partitions of existing topics."""
        topics = _chosen(self.selection.topics, Granularity.PARTITION)
        first, last = self.partition_bounds(topics)
        return ranges(first, last - first)

    def partition_bounds(self, topics: Ints) -> tuple[Ints, Ints]:
        """int64[n] each: the existing partitions of these topics (int64[n] numbers) are the rows `first:last` of
        EndOffsets. Rows of partitions that only commits name follow them.
        """
        names, found = self.ends.topics, self.snapshot.topics
        counts = np.array([found[names[number]].partitions for number in topics.tolist()], np.int64)
        bounds = np.searchsorted(self.ends.topic, np.arange(len(names) + 1))
        first = bounds[topics].astype(np.int64)
        return first, np.minimum(first + counts, bounds[topics + 1])

    @cached_property
    def topics_with_known_ends(self) -> Ints:
        """int64[n_topics]: how many partitions of each topic have a known log end."""
        return np.bincount(self.ends.topic[self.ends.log_end != UNKNOWN], minlength=len(self.ends.topics))


def _chosen(parts: Mapping[Granularity, Part], granularity: Granularity) -> Ints:
    return parts[granularity].chosen if granularity in parts else np.zeros(0, np.int64)


def _between(ascending: Ints, first: int, last: int) -> Ints:
    """Those from `first` to before `last`."""
    start, stop = np.searchsorted(ascending, (first, last))
    return ascending[start:stop]
