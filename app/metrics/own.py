"""Our own names: `groupscope_...`. What is not known has no series."""

from collections import Counter

import numpy as np

from app.metrics.family import NEVER_UNKNOWN, Family, NameSet, PollingFamily
from app.metrics.labels import LabelNames, Labels
from app.metrics.selection import Level
from app.metrics.text_format import Samples, extended, number, series
from app.metrics.view import Polled, View
from lag.offsets import UNKNOWN
from lag.verdict.status import TOO_EARLY, URGENCY

GROUP, TOPIC, ROW = "cluster, group", "cluster, group, topic", "cluster, group, topic, partition"


def _up(polled: Polled, labels: str) -> Samples:
    return [(labels, str(int(polled.report is not None and polled.status.error is None)))]


def _polls(polled: Polled, labels: str) -> Samples:
    return [(labels, str(polled.status.polls))]


def _failures(polled: Polled, labels: str) -> Samples:
    return [(labels, str(polled.status.consecutive_failures))]


def _age(view: View, labels: Labels) -> Samples:
    return [(labels.cluster, number(max(0, view.polled.now_ms - view.snapshot.at_ms) / 1000))]


def _duration(view: View, labels: Labels) -> Samples:
    return [(labels.cluster, number(round(view.snapshot.took_s, 3)))]


def _complete(view: View, labels: Labels) -> Samples:
    return [(labels.cluster, str(int(view.snapshot.complete)))]


def _problems(view: View, labels: Labels) -> Samples:
    counts = Counter((problem.scope, problem.kind) for problem in view.snapshot.problems)
    for (scope, kind), count in sorted(counts.items()):
        yield extended(labels.cluster, ("scope", scope), ("kind", kind)), str(count)


def _groups_by_verdict(view: View, labels: Labels) -> Samples:
    status = view.columns.status
    counts = np.bincount(status[status != TOO_EARLY], minlength=len(URGENCY)).tolist()
    return [
        (extended(labels.cluster, ("verdict", verdict)), str(n)) for verdict, n in zip(URGENCY, counts, strict=True)
    ]


def _info(view: View, labels: Labels) -> Samples:
    for pairs, group, described in zip(labels.groups, view.group_list, view.is_described.tolist(), strict=True):
        if described:
            coordinator = "" if group.coordinator is None else str(group.coordinator)
            more = (("state", group.state), ("assignor", group.assignor or ""), ("coordinator", coordinator))
            yield extended(pairs, ("type", group.type), *more), "1"


def _members(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.members, view.is_described)


def _partitions(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.totals.partitions, view.is_read)


def _known(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.totals.known, view.is_read)


def _lag(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.totals.lag, view.has_lag & (view.totals.lag != UNKNOWN))


def _lost(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.totals.lost, view.has_lag & (view.totals.lost != UNKNOWN))


def _verdict(view: View, labels: Labels) -> Samples:
    for pairs, code in zip(labels.groups, view.columns.status[view.groups].tolist(), strict=True):
        if code != TOO_EARLY:
            yield extended(pairs, ("verdict", URGENCY[code])), "1"


def _onset(view: View, labels: Labels) -> Samples:
    at_ms = view.columns.onsets.at_ms[view.groups]
    return series(labels.groups, at_ms / 1000, at_ms != UNKNOWN)


def _time_lag(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.columns.time_lag_s[view.groups].round(3))


def _drain(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.columns.drain_s[view.groups].round(3))


def _time_to_loss(view: View, labels: Labels) -> Samples:
    return series(labels.groups, view.time_to_loss_s.round(3))


FAMILIES = (
    Family("groupscope_poll_age_seconds", Level.CLUSTER, "cluster", "Age of the last good poll", _age),
    Family("groupscope_poll_duration_seconds", Level.CLUSTER, "cluster", "Duration of the last good poll", _duration),
    Family(
        "groupscope_snapshot_complete",
        Level.CLUSTER,
        "cluster",
        "1 if the last good poll could read every broker, group and partition, else 0",
        _complete,
    ),
    Family(
        "groupscope_problems",
        Level.CLUSTER,
        "cluster, scope, kind",
        "Problems found by the last good poll; kinds without a problem have no series",
        _problems,
    ),
    Family(
        "groupscope_groups",
        Level.CLUSTER,
        "cluster, verdict",
        "Groups with each verdict, whatever the patterns and the limit leave out",
        _groups_by_verdict,
    ),
    Family(
        "groupscope_group_info",
        Level.GROUP,
        f"{GROUP}, type, state, assignor, coordinator",
        "Always 1; type is classic, consumer, share or streams",
        _info,
    ),
    Family("groupscope_group_members", Level.GROUP, GROUP, "Members of the group", _members),
    Family(
        "groupscope_group_partitions",
        Level.GROUP,
        GROUP,
        "Partitions that are committed, assigned or subscribed to",
        _partitions,
    ),
    Family(
        "groupscope_group_lag_known_partitions", Level.GROUP, GROUP, "Partitions of the group with a known lag", _known
    ),
    Family("groupscope_group_lag_records", Level.GROUP, GROUP, "Sum of the known lags", _lag),
    Family(
        "groupscope_group_lost_records",
        Level.GROUP,
        GROUP,
        "Records below the log start that were deleted before the group read them",
        _lost,
    ),
    Family(
        "groupscope_group_verdict",
        Level.GROUP,
        f"{GROUP}, verdict",
        "1 for the verdict that the group has; its other verdicts have no series",
        _verdict,
        "verdict unknown; absent before enough polls",
    ),
    Family(
        "groupscope_group_verdict_onset_timestamp_seconds",
        Level.GROUP,
        GROUP,
        "Since when the group has its verdict, in seconds since 1970; groups that are ok have no series",
        _onset,
    ),
    Family(
        "groupscope_group_time_lag_seconds",
        Level.GROUP,
        GROUP,
        "Age of the oldest record that the group has not committed, 0 if nothing waits",
        _time_lag,
    ),
    Family(
        "groupscope_group_drain_seconds",
        Level.GROUP,
        GROUP,
        "Time until the slowest partition has no lag at the present rates, +Inf if its lag does not shrink",
        _drain,
    ),
    Family(
        "groupscope_group_time_to_loss_seconds",
        Level.GROUP,
        GROUP,
        "Time until retention deletes records that the group has not read, 0 if it may do so now, +Inf if deletion "
        "does not gain on the group",
        _time_to_loss,
        "absent; also absent if nothing is unread",
    ),
    Family(
        "groupscope_group_topic_partitions",
        Level.GROUP_TOPIC,
        TOPIC,
        "Partitions of the topic that the group has",
        lambda view, labels: series(labels.group_topics, view.group_topics.partitions),
        NEVER_UNKNOWN,
    ),
    Family(
        "groupscope_group_topic_lag_known_partitions",
        Level.GROUP_TOPIC,
        TOPIC,
        "Partitions of the topic with a known lag",
        lambda view, labels: series(labels.group_topics, view.group_topics.known),
        NEVER_UNKNOWN,
    ),
    Family(
        "groupscope_group_topic_lag_records",
        Level.GROUP_TOPIC,
        TOPIC,
        "Sum of the known lags of the topic's partitions",
        lambda view, labels: series(labels.group_topics, view.group_topics.lag),
    ),
    Family(
        "groupscope_group_partition_committed_offset",
        Level.GROUP_PARTITION,
        ROW,
        "Committed offset; for a share group, its start offset",
        lambda view, labels: series(labels.rows, view.table.committed[view.rows.row]),
    ),
    Family(
        "groupscope_group_partition_lag_records",
        Level.GROUP_PARTITION,
        ROW,
        "Records from the committed offset to the log end, without those below the log start",
        lambda view, labels: series(labels.rows, view.table.lag[view.rows.row]),
    ),
    Family(
        "groupscope_topic_partitions",
        Level.TOPIC,
        "cluster, topic",
        "Partitions of the topic",
        lambda view, labels: series(labels.topics, np.array([t.partitions for t in view.topic_list], np.int64)),
        NEVER_UNKNOWN,
    ),
    Family(
        "groupscope_partition_log_start_offset",
        Level.PARTITION,
        "cluster, topic, partition",
        "First offset of the log",
        lambda view, labels: series(labels.partitions, view.ends.log_start[view.partitions]),
    ),
    Family(
        "groupscope_partition_log_end_offset",
        Level.PARTITION,
        "cluster, topic, partition",
        "High watermark",
        lambda view, labels: series(labels.partitions, view.ends.log_end[view.partitions]),
    ),
    Family(
        "groupscope_partition_last_stable_offset",
        Level.PARTITION,
        "cluster, topic, partition",
        "Last stable offset; below the high watermark while a transaction is open",
        lambda view, labels: series(labels.partitions, view.ends.last_stable[view.partitions]),
    ),
)

OWN = NameSet(
    LabelNames("cluster", "group", "topic", "partition"),
    (
        PollingFamily("groupscope_cluster_up", "cluster", "1 if the last poll of the cluster was good, else 0", _up),
        PollingFamily("groupscope_polls_total", "cluster", "Good polls of the cluster", _polls, kind="counter"),
        PollingFamily("groupscope_poll_failures", "cluster", "Failed polls since the last good one", _failures),
    ),
    FAMILIES,
)
