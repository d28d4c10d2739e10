"""The names of Burrow (github.com/linkedin/Burrow, core/internal/httpserver/prometheus.go).

As there, a partition has an offset and a status once the last 10 commits are known.
"""

from app.metrics.family import Family, NameSet
from app.metrics.labels import LabelNames, Labels
from app.metrics.selection import Level
from app.metrics.text_format import Samples, series
from app.metrics.view import View
from lag.offsets import UNKNOWN, Flags
from lag.verdict.burrow.evaluator import BurrowStatus

ROW = "cluster, consumer_group, topic, partition"
COMPLETE = "absent before 10 commits are known"
STATUSES = ", ".join(f"{status.value} {status.name}" for status in BurrowStatus)


def _lag_total(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.totals.lag, (view.totals.known > 0) & view.is_read)


def _group_status(view: View, labels: Labels) -> Samples:
    status = view.burrow.group_status
    return series(labels.groups, status, view.is_described & (status != BurrowStatus.NOTFOUND))


def _partition_status(view: View, labels: Labels) -> Samples:
    return series(labels.rows, view.burrow.row_status, _is_complete(view))


def _current_offset(view: View, labels: Labels) -> Samples:
    committed = view.table.committed[view.rows.row]
    return series(labels.rows, committed, _is_complete(view) & (committed != UNKNOWN))


def _is_complete(view: View) -> Flags:
    complete: Flags = view.burrow.complete == 1
    return complete


FAMILIES = (
    Family(
        "burrow_kafka_consumer_lag_total",
        Level.GROUP,
        "cluster, consumer_group",
        "Sum of the known lags",
        _lag_total,
    ),
    Family(
        "burrow_kafka_consumer_status",
        Level.GROUP,
        "cluster, consumer_group",
        f"Status of the group: {STATUSES}",
        _group_status,
        "absent without a commit",
    ),
    Family(
        "burrow_kafka_consumer_current_offset",
        Level.GROUP_PARTITION,
        ROW,
        "Committed offset",
        _current_offset,
        COMPLETE,
    ),
    Family(
        "burrow_kafka_topic_partition_status",
        Level.GROUP_PARTITION,
        ROW,
        f"Status of the partition: {STATUSES}",
        _partition_status,
        COMPLETE,
    ),
    Family(
        "burrow_kafka_consumer_partition_lag",
        Level.GROUP_PARTITION,
        ROW,
        "Lag of the partition in records",
        lambda view, labels: series(labels.rows, view.table.lag[view.rows.row]),
    ),
    Family(
        "burrow_kafka_topic_partition_offset",
        Level.PARTITION,
        "cluster, topic, partition",
        "High watermark",
        lambda view, labels: series(labels.partitions, view.ends.log_end[view.partitions]),
    ),
)

BURROW = NameSet(LabelNames("cluster", "consumer_group", "topic", "partition"), (), FAMILIES)
