"""The names of kminion (github.com/redpanda-data/kminion, package prometheus), as it serves them in its adminApi mode.

A group that could not be described, and a sum of which nothing is known, has no series, as there.
"""

import numpy as np

from app.metrics.family import Family, NameSet, PollingFamily
from app.metrics.labels import LabelNames, Labels
from app.metrics.selection import Level
from app.metrics.text_format import Samples, extended, series
from app.metrics.view import Polled, View
from lag.model import Topic
from lag.offsets import UNKNOWN, Flags, Ints
from lag.version import VERSION

GROUP, TOPIC = "group_id", "group_id, topic_name"
PARTITION = "topic_name, partition_id"


def _up(polled: Polled, labels: str) -> Samples:
    good = polled.report is not None and polled.report.snapshot.complete and polled.status.error is None
    return [(extended(labels, ("version", VERSION)), str(int(good)))]


def _records_consumed(polled: Polled, labels: str) -> Samples:
    return [(labels, str(polled.records_read))]


def _cluster_info(view: View, labels: Labels) -> Samples:
    snapshot = view.snapshot
    version = next((f"v{broker.version}" for broker in snapshot.brokers if broker.version), "")
    controller = "-1" if snapshot.controller is None else str(snapshot.controller)
    found = (
        ("cluster_version", version),
        ("broker_count", str(len(snapshot.brokers))),
        ("controller_id", controller),
        ("cluster_id", snapshot.cluster_id or ""),
    )
    return [(extended(labels.cluster, *found), "1")]


def _broker_info(view: View, labels: Labels) -> Samples:
    for broker in view.snapshot.brokers:
        found = (
            ("broker_id", str(broker.node_id)),
            ("address", broker.host),
            ("port", str(broker.port)),
            ("rack_id", broker.rack or ""),
            ("is_controller", "true" if broker.node_id == view.snapshot.controller else "false"),
        )
        yield extended(labels.cluster, *found), "1"


def _topic_info(view: View, labels: Labels) -> Samples:
    for pairs, topic in zip(labels.topics, view.topic_list, strict=True):
        found = (
            ("partition_count", str(topic.partitions)),
            ("replication_factor", str(_replication_factor(topic))),
            ("cleanup_policy", topic.cleanup_policy or "N/A"),
        )
        yield extended(pairs, *found), "1"


def _replication_factor(topic: Topic) -> int:
    return len(topic.replicas[0]) if topic.replicas else UNKNOWN


def _watermark_sum(view: View, labels: Labels, offsets: Ints) -> Samples:
    """Only of topics of which every partition is known."""
    running = np.concatenate(([0], np.cumsum(offsets)))
    missing = np.concatenate(([0], np.cumsum(offsets == UNKNOWN)))
    first, last = view.partition_bounds(view.topics)
    is_known = missing[last] == missing[first]
    return series(labels.topics, running[last] - running[first], is_known & ~_is_internal(view)[view.topics])


def _watermark(view: View, labels: Labels, offsets: Ints) -> Samples:
    values = offsets[view.partitions]
    is_internal = _is_internal(view)[view.ends.topic[view.partitions]]
    return series(labels.partitions, values, (values != UNKNOWN) & ~is_internal)


def _is_internal(view: View) -> Flags:
    """bool[n of all topics]: internal topics, of which kminion does not list the offsets."""
    topics = map(view.snapshot.topics.get, view.ends.topics)
    return np.array([topic is not None and topic.internal for topic in topics], np.bool_)


def _group_info(view: View, labels: Labels) -> Samples:
    for pairs, group, described in zip(labels.groups, view.group_list, view.is_described.tolist(), strict=True):
        if described:
            found = (
                ("protocol", group.assignor or ""),
                ("protocol_type", group.protocol_type),
                ("state", group.state),
                ("coordinator_id", "-1" if group.coordinator is None else str(group.coordinator)),
            )
            yield extended(pairs, *found), str(int(group.state == "Stable"))


def _members(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.members, view.is_described)


def _commits(view: View, labels: Labels) -> Samples:
    counts = np.array([view.polled.commits_read.get(group.group_id, 0) for group in view.group_list], np.int64)
    return series(labels.groups, counts, counts > 0)


def _empty_members(view: View, labels: Labels) -> Samples:
    empty = np.array([sum(not member.assigned for member in g.members) for g in view.group_list], np.int64)
    return series(labels.groups, empty, view.is_described & (empty > 0))


def _topic_members(view: View, labels: Labels) -> Samples:
    return series(labels.group_topics, view.assignments.members, view.assignments.members > 0)


def _assigned_partitions(view: View, labels: Labels) -> Samples:
    return series(labels.group_topics, view.assignments.partitions, view.assignments.partitions > 0)


def _offset_sum(view: View, labels: Labels) -> Samples:
    return series(labels.group_topics, view.group_topics.committed, view.group_topics.commits > 0)


def _topic_lag(view: View, labels: Labels) -> Samples:
    return series(labels.group_topics, view.group_topics.lag)


def _partition_lag(view: View, labels: Labels) -> Samples:
    return series(labels.rows, view.table.lag[view.rows.row])


FAMILIES = (
    Family(
        "kminion_kafka_cluster_info",
        Level.CLUSTER,
        "cluster_version, broker_count, controller_id, cluster_id",
        "Always 1; the version is derived from the APIs that the brokers support",
        _cluster_info,
        "empty label, controller_id -1",
    ),
    Family(
        "kminion_kafka_broker_info",
        Level.CLUSTER,
        "broker_id, address, port, rack_id, is_controller",
        "Always 1; one series for each broker",
        _broker_info,
        "empty label",
    ),
    Family(
        "kminion_kafka_topic_info",
        Level.TOPIC,
        "topic_name, partition_count, replication_factor, cleanup_policy",
        "Always 1; one series for each topic",
        _topic_info,
        "cleanup_policy N/A, replication_factor -1",
    ),
    Family(
        "kminion_kafka_topic_low_water_mark_sum",
        Level.TOPIC,
        "topic_name",
        "Sum of the first offsets of its partitions, if all are known; not of internal topics",
        lambda view, labels: _watermark_sum(view, labels, view.ends.log_start),
    ),
    Family(
        "kminion_kafka_topic_high_water_mark_sum",
        Level.TOPIC,
        "topic_name",
        "Sum of the high watermarks of its partitions, if all are known; not of internal topics",
        lambda view, labels: _watermark_sum(view, labels, view.ends.log_end),
    ),
    Family(
        "kminion_kafka_topic_partition_low_water_mark",
        Level.PARTITION,
        PARTITION,
        "First offset of the log; not of internal topics",
        lambda view, labels: _watermark(view, labels, view.ends.log_start),
    ),
    Family(
        "kminion_kafka_topic_partition_high_water_mark",
        Level.PARTITION,
        PARTITION,
        "High watermark; not of internal topics",
        lambda view, labels: _watermark(view, labels, view.ends.log_end),
    ),
    Family(
        "kminion_kafka_consumer_group_info",
        Level.GROUP,
        "group_id, protocol, protocol_type, state, coordinator_id",
        "1 if the state is Stable, else 0",
        _group_info,
    ),
    Family("kminion_kafka_consumer_group_members", Level.GROUP, GROUP, "Members of the group", _members),
    Family(
        "kminion_kafka_consumer_group_empty_members",
        Level.GROUP,
        GROUP,
        "Members without a partition; absent if there are none",
        _empty_members,
    ),
    Family(
        "kminion_kafka_consumer_group_offset_commits_total",
        Level.GROUP,
        GROUP,
        "Offset commits of the group in __consumer_offsets that were read since the start",
        _commits,
        kind="counter",
    ),
    Family(
        "kminion_kafka_consumer_group_topic_members",
        Level.GROUP_TOPIC,
        TOPIC,
        "Members that have partitions of the topic; absent if there are none",
        _topic_members,
    ),
    Family(
        "kminion_kafka_consumer_group_topic_assigned_partitions",
        Level.GROUP_TOPIC,
        TOPIC,
        "Partitions of the topic that members have; absent if there are none",
        _assigned_partitions,
    ),
    Family(
        "kminion_kafka_consumer_group_topic_offset_sum",
        Level.GROUP_TOPIC,
        TOPIC,
        "Sum of the committed offsets of partitions with a known log end",
        _offset_sum,
    ),
    Family("kminion_kafka_consumer_group_topic_lag", Level.GROUP_TOPIC, TOPIC, "Sum of the known lags", _topic_lag),
    Family(
        "kminion_kafka_consumer_group_topic_partition_lag",
        Level.GROUP_PARTITION,
        f"{TOPIC}, partition_id",
        "Lag of the partition in records",
        _partition_lag,
    ),
)

KMINION = NameSet(
    LabelNames(None, "group_id", "topic_name", "partition_id"),
    (
        PollingFamily("kminion_exporter_up", "version", "1 if the last poll was good and complete, else 0", _up),
        PollingFamily(
            "kminion_exporter_offset_consumer_records_consumed_total",
            "",
            "Records of __consumer_offsets that were read since the start, 0 if the topic is not followed",
            _records_consumed,
            kind="counter",
        ),
    ),
    FAMILIES,
)
