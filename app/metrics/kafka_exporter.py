"""The names of kafka_exporter (github.com/danielqsj/kafka_exporter, kafka_exporter.go), as it serves them by default.

As there: a group has every partition of the topics on which it has committed anything, and no other topic; a partition
without a commit has offset and lag -1, of which the offset counts in `current_offset_sum` and the lag does not in
`lag_sum`; a partition without a known log end, and what could not be read, has no series.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.metrics.family import Family, NameSet
from app.metrics.labels import LabelNames, Labels
from app.metrics.rows import NO_COMMIT as NO_COMMIT_CODE
from app.metrics.rows import ranges
from app.metrics.selection import Level
from app.metrics.text_format import Samples, extended, numbers, series
from app.metrics.view import View
from lag.model import Topic
from lag.offsets import UNKNOWN, EndOffsets, Flags, Ints
from lag.verdict.row_index import sorted_indexer

NO_COMMIT = -1
"""Offset and lag of a partition without a commit."""

GROUP, TOPIC, ROW = "consumergroup", "consumergroup, topic", "consumergroup, topic, partition"
PARTITION = "topic, partition"


class SpannedRows(NamedTuple):
    """int64[n] each: group number, row of EndOffsets, and row of the offset table, -1 where it has none."""

    group: Ints
    end: Ints
    row: Ints


def spanned_rows(view: View) -> SpannedRows:
    """Every partition with a known log end of the topics on which a group has committed."""
    rows, width = view.rows, max(1, len(view.ends.topics))
    committed = (view.table.committed[rows.row] != UNKNOWN) & (view.ends.log_end[rows.end] != UNKNOWN)
    group, topic = np.divmod(np.unique((rows.group * width + rows.topic)[committed]), width)
    bounds = np.searchsorted(view.ends.topic, np.arange(width + 1)).astype(np.int64)
    sizes = bounds[topic + 1] - bounds[topic]
    end, group = ranges(bounds[topic], sizes), np.repeat(group, sizes)
    known = view.ends.log_end[end] != UNKNOWN
    end, group = end[known], group[known]
    at = sorted_indexer(rows.group * len(view.ends) + rows.end, group * len(view.ends) + end)
    return SpannedRows(group, end, np.where(at < 0, UNKNOWN, rows.row[at]) if len(at) else at)


class Positions(NamedTuple):
    """[n] each: the label pairs of each spanned row that could be read, and int64 offset and lag, NO_COMMIT as there.

    `has_lag` is bool[n]: not so where the lag is unknown although there is a commit.
    """

    labels: list[str]
    offset: Ints
    lag: Ints
    has_lag: Flags


def _positions(view: View, labels: Labels) -> Positions:
    rows = spanned_rows(view)
    is_row, table = rows.row >= 0, view.table
    committed = np.where(is_row, table.committed[rows.row], NO_COMMIT)
    uncommitted = np.where(is_row, table.problem[rows.row] == NO_COMMIT_CODE, _has_all_offsets(view)[rows.group])
    read = (committed != UNKNOWN) | uncommitted
    rows, committed, uncommitted = SpannedRows(*(c[read] for c in rows)), committed[read], uncommitted[read]
    ends = view.ends
    found = (rows.group.tolist(), ends.topic[rows.end].tolist(), ends.partition[rows.end].tolist())
    lag = np.where(uncommitted, NO_COMMIT, table.lag[rows.row])
    return Positions(labels.of_group_partitions(*found), committed, lag, uncommitted | (lag != UNKNOWN))


def _has_all_offsets(view: View) -> Flags:
    """bool[n of all groups]: every committed offset of the group could be read."""
    return np.array([group.has_all_offsets for group in view.snapshot.groups], np.bool_)


def _current_offset(view: View, labels: Labels) -> Samples:
    found = _positions(view, labels)
    return zip(found.labels, numbers(found.offset), strict=True)


def _lag(view: View, labels: Labels) -> Samples:
    found = _positions(view, labels)
    return series(found.labels, found.lag, found.has_lag)


def _offset_sum(view: View, labels: Labels) -> Samples:
    pairs = view.group_topics
    others = view.topics_with_known_ends[pairs.topic] - pairs.commits - pairs.unread
    uncommitted = np.where(_has_all_offsets(view)[pairs.group], others, pairs.no_commits)
    return series(labels.group_topics, pairs.committed + NO_COMMIT * uncommitted, pairs.commits > 0)


def _lag_sum(view: View, labels: Labels) -> Samples:
    return series(labels.group_topics, view.group_topics.lag)


def _brokers(view: View, labels: Labels) -> Samples:
    return [(labels.cluster, str(len(view.snapshot.brokers)))]


def _broker_info(view: View, labels: Labels) -> Samples:
    for broker in view.snapshot.brokers:
        found = (("id", str(broker.node_id)), ("address", f"{broker.host}:{broker.port}"))
        yield extended(labels.cluster, *found), "1"


def _topic_partitions(view: View, labels: Labels) -> Samples:
    return series(labels.topics, np.array([topic.partitions for topic in view.topic_list], np.int64))


def _replicas(view: View, labels: Labels) -> Samples:
    return series(labels.partitions, _of_partitions(view, lambda topic, p: _count(topic.replicas, p)))


def _in_sync(view: View, labels: Labels) -> Samples:
    return series(labels.partitions, _of_partitions(view, lambda topic, p: _count(topic.in_sync, p)))


def _under_replicated(view: View, labels: Labels) -> Samples:
    replicas = _of_partitions(view, lambda topic, partition: _count(topic.replicas, partition))
    in_sync = _of_partitions(view, lambda topic, partition: _count(topic.in_sync, partition))
    known = (replicas != UNKNOWN) & (in_sync != UNKNOWN)
    return series(labels.partitions, in_sync < replicas, known)


def _leader_is_preferred(view: View, labels: Labels) -> Samples:
    preferred = _of_partitions(view, _preferred_leader)
    is_preferred = view.ends.leader[view.partitions] == preferred
    return series(labels.partitions, is_preferred, preferred != UNKNOWN)


def _preferred_leader(topic: Topic, partition: int) -> int:
    return topic.replicas[partition][0] if topic.replicas and topic.replicas[partition] else UNKNOWN


def _of_partitions(view: View, value: Callable[[Topic, int], int]) -> Ints:
    """int64[n]: a number of each partition, by its topic and partition number."""
    topics = [view.snapshot.topics.get(name) for name in view.ends.topics]
    rows = view.partitions
    found = zip(view.ends.topic[rows].tolist(), view.ends.partition[rows].tolist(), strict=True)
    return np.array([UNKNOWN if (topic := topics[t]) is None else value(topic, p) for t, p in found], np.int64)


def _count(nodes: tuple[tuple[int, ...], ...] | None, partition: int) -> int:
    return UNKNOWN if nodes is None else len(nodes[partition])


def _of_ends(column: Callable[[EndOffsets], NDArray[Any]]) -> Callable[[View, Labels], Samples]:
    return lambda view, labels: series(labels.partitions, column(view.ends)[view.partitions])


FAMILIES = (
    Family("kafka_brokers", Level.CLUSTER, "", "Brokers of the cluster", _brokers),
    Family("kafka_broker_info", Level.CLUSTER, "id, address", "Always 1; one series for each broker", _broker_info),
    Family("kafka_topic_partitions", Level.TOPIC, "topic", "Partitions of the topic", _topic_partitions),
    Family(
        "kafka_topic_partition_current_offset",
        Level.PARTITION,
        PARTITION,
        "High watermark",
        _of_ends(lambda ends: ends.log_end),
    ),
    Family(
        "kafka_topic_partition_oldest_offset",
        Level.PARTITION,
        PARTITION,
        "First offset of the log",
        _of_ends(lambda ends: ends.log_start),
    ),
    Family(
        "kafka_topic_partition_leader",
        Level.PARTITION,
        PARTITION,
        "Node id of the leader",
        _of_ends(lambda ends: ends.leader),
    ),
    Family(
        "kafka_topic_partition_leader_is_preferred",
        Level.PARTITION,
        PARTITION,
        "1 if the leader is the first replica, else 0",
        _leader_is_preferred,
    ),
    Family("kafka_topic_partition_replicas", Level.PARTITION, PARTITION, "Replicas of the partition", _replicas),
    Family(
        "kafka_topic_partition_in_sync_replica",
        Level.PARTITION,
        PARTITION,
        "In-sync replicas of the partition",
        _in_sync,
    ),
    Family(
        "kafka_topic_partition_under_replicated_partition",
        Level.PARTITION,
        PARTITION,
        "1 if not all replicas are in sync, else 0",
        _under_replicated,
    ),
    Family(
        "kafka_consumergroup_current_offset",
        Level.SPANNED_PARTITION,
        ROW,
        "Committed offset",
        _current_offset,
        "-1 without a commit, absent if it could not be read",
    ),
    Family(
        "kafka_consumergroup_lag",
        Level.SPANNED_PARTITION,
        ROW,
        "Lag of the partition in records",
        _lag,
        "-1 without a commit, absent if it could not be read",
    ),
    Family(
        "kafka_consumergroup_current_offset_sum",
        Level.GROUP_TOPIC,
        TOPIC,
        "Sum of the offsets, -1 for each partition without a commit",
        _offset_sum,
    ),
    Family("kafka_consumergroup_lag_sum", Level.GROUP_TOPIC, TOPIC, "Sum of the known lags", _lag_sum),
    Family(
        "kafka_consumergroup_members",
        Level.GROUP,
        GROUP,
        "Members of the group",
        lambda view, labels: series(labels.groups, view.members, view.is_described),
    ),
)

KAFKA_EXPORTER = NameSet(LabelNames(None, "consumergroup", "topic", "partition"), (), FAMILIES)
