"""The names of kafka-lag-exporter (github.com/seglo/kafka-lag-exporter, Metrics.scala). What is not known is NaN.

As there, a sum or maximum is unknown if one of its partitions is unknown.
"""

from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.metrics.family import NAN, Family, NameSet
from app.metrics.labels import LabelNames, Labels
from app.metrics.selection import Level
from app.metrics.text_format import Samples, numbers
from app.metrics.view import View
from lag.offsets import UNKNOWN, Flags

GROUP, PARTITION = "cluster_name, group", "cluster_name, topic, partition"
ROW = "cluster_name, group, topic, partition, member_host, consumer_id, client_id"


def _all(labels: list[str], values: NDArray[Any], known: Flags | None = None) -> Samples:
    """Every sample; those that are not known (bool[n], by default UNKNOWN) are NaN."""
    is_known = values != UNKNOWN if known is None else known
    if is_known.all():
        return zip(labels, numbers(values), strict=True)
    texts = np.array(numbers(values), object)
    texts[~is_known] = NAN
    return zip(labels, texts.tolist(), strict=True)


def _latest(view: View, labels: Labels) -> Samples:
    return _all(labels.partitions, view.ends.log_end[view.partitions])


def _earliest(view: View, labels: Labels) -> Samples:
    return _all(labels.partitions, view.ends.log_start[view.partitions])


def _offset(view: View, labels: Labels) -> Samples:
    return _all(labels.owned_rows, view.table.committed[view.rows.row])


def _lag(view: View, labels: Labels) -> Samples:
    return _all(labels.owned_rows, view.table.lag[view.rows.row])


def _lag_seconds(view: View, labels: Labels) -> Samples:
    return _all(labels.owned_rows, view.time_lag_s.round(3))


def _max_lag(view: View, labels: Labels) -> Samples:
    return _of_groups(view, labels, view.totals.max_lag, view.totals.known == view.totals.partitions)


def _sum_lag(view: View, labels: Labels) -> Samples:
    return _of_groups(view, labels, view.totals.lag, view.totals.known == view.totals.partitions)


def _max_lag_seconds(view: View, labels: Labels) -> Samples:
    seconds = view.columns.time_lag_s[view.groups].round(3)
    return _of_groups(view, labels, seconds, (view.totals.known == view.totals.partitions) & ~np.isnan(seconds))


def _of_groups(view: View, labels: Labels, values: NDArray[Any], known: Flags) -> Samples:
    """Groups without partitions have no series."""
    has = view.totals.partitions > 0
    return _all(list(compress(labels.groups, has.tolist())), values[has], known[has])


def _topic_sum_lag(view: View, labels: Labels) -> Samples:
    found = view.group_topics
    return _all(labels.group_topics, found.lag, found.known == found.partitions)


def _poll_time(view: View, labels: Labels) -> Samples:
    return [(labels.cluster, str(round(view.snapshot.took_s * 1000)))]


FAMILIES = (
    Family(
        "kafka_partition_latest_offset", Level.PARTITION, PARTITION, "High watermark of the partition", _latest, NAN
    ),
    Family(
        "kafka_partition_earliest_offset", Level.PARTITION, PARTITION, "First offset of the partition", _earliest, NAN
    ),
    Family("kafka_consumergroup_group_offset", Level.GROUP_PARTITION, ROW, "Committed offset", _offset, NAN),
    Family("kafka_consumergroup_group_lag", Level.GROUP_PARTITION, ROW, "Lag of the partition in records", _lag, NAN),
    Family(
        "kafka_consumergroup_group_lag_seconds",
        Level.GROUP_PARTITION,
        ROW,
        "Age of the oldest record that is not committed, 0 if nothing waits; never extrapolated",
        _lag_seconds,
        NAN,
    ),
    Family("kafka_consumergroup_group_max_lag", Level.GROUP, GROUP, "Highest lag of its partitions", _max_lag, NAN),
    Family(
        "kafka_consumergroup_group_max_lag_seconds",
        Level.GROUP,
        GROUP,
        "Longest time lag of its partitions",
        _max_lag_seconds,
        NAN,
    ),
    Family("kafka_consumergroup_group_sum_lag", Level.GROUP, GROUP, "Sum of the lags", _sum_lag, NAN),
    Family(
        "kafka_consumergroup_group_topic_sum_lag",
        Level.GROUP_TOPIC,
        "cluster_name, group, topic",
        "Sum of the lags of the topic's partitions",
        _topic_sum_lag,
        NAN,
    ),
    Family("kafka_consumergroup_poll_time_ms", Level.CLUSTER, "cluster_name", "How long the poll took", _poll_time),
)

LAG_EXPORTER = NameSet(LabelNames("cluster_name", "group", "topic", "partition"), (), FAMILIES)
