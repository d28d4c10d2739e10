"""The names of Burrow (github.com/linkedin/Burrow, core/internal/httpserver/prometheus.go).

Burrow's statuses of groups and partitions are not among them.
"""

from app.metrics.family import Family, NameSet
from app.metrics.labels import LabelNames, Labels
from app.metrics.selection import Level
from app.metrics.text_format import Samples, series
from app.metrics.view import View

ROW = "cluster, consumer_group, topic, partition"


def _lag_total(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.totals.lag, (view.totals.known > 0) & view.is_read)


FAMILIES = (
    Family(
        "burrow_kafka_consumer_lag_total",
        Level.GROUP,
        "cluster, consumer_group",
        "Sum of the known lags",
        _lag_total,
    ),
    Family(
        "burrow_kafka_consumer_current_offset",
        Level.GROUP_PARTITION,
        ROW,
        "Committed offset",
        lambda view, labels: series(labels.rows, view.table.committed[view.rows.row]),
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
