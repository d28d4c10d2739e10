"""The alerts: one for each verdict that needs somebody, and those about time lag, drain, deletion and polling."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.exports import links
from app.exports.promql import over_time, selector, series
from lag.verdict.catalogue import VERDICTS, Severity
from lag.verdict.status import Status

KEPT = "5m"
"""For how long an alert about a group fires after its condition: a restarted server has no verdicts for a minute."""

COMMITTED, LAG = "groupscope_group_partition_committed_offset", "groupscope_group_partition_lag_records"
LOG_START, LOG_END = "groupscope_partition_log_start_offset", "groupscope_partition_log_end_offset"
ON_PARTITION = "on (cluster, topic, partition) group_left ()"
GROUP = "group {{ $labels.group }} of {{ $labels.cluster }}"
CLUSTER = "cluster {{ $labels.cluster }}"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Seconds: the time lag and the age of the served poll above which alerts fire."""

    time_lag_s: int = 600
    poll_age_s: int = 120


@dataclass(frozen=True, slots=True)
class Alert:
    """An alerting rule. `link` opens the page that explains it.

    `holds` is how long `expr` must hold before it fires, `kept` for how long it fires afterwards.
    """

    name: str
    expr: str
    holds: str
    severity: str
    summary: str
    description: str
    link: str
    kept: str = "0m"


def alerts(url: str, thresholds: Thresholds) -> list[Alert]:
    """All alerts; `url` is the address of the dashboard without a slash at the end."""
    return [*_of_verdicts(url), *_of_groups(url, thresholds), *_of_polling(url, thresholds)]


def _of_verdicts(url: str) -> Iterator[Alert]:
    for status, verdict in VERDICTS.items():
        if verdict.holds is None or verdict.severity is None:
            continue
        expr = series("groupscope_group_verdict", f'verdict="{status}"') + " == 1"
        advice = "The link shows the reason." if status is Status.UNKNOWN else verdict.advice
        description = f"{verdict.meaning} {advice}"
        summary = f"{verdict.word}: {GROUP}"
        yield Alert(
            alert_name(status), expr, verdict.holds, verdict.severity.word, summary, description, _group_link(url), KEPT
        )


def alert_name(status: Status) -> str:
    """The name of a verdict's alert, such as ConsumerGroupRecordsLost."""
    return f"ConsumerGroup{VERDICTS[status].word.title().replace(' ', '')}"


def _of_groups(url: str, thresholds: Thresholds) -> Iterator[Alert]:
    yield Alert(
        "ConsumerGroupTimeLagHigh",
        _time_lag(thresholds.time_lag_s),
        "2m",
        Severity.WARNING.word,
        f"Time lag of at least {{{{ $value | humanizeDuration }}}}: {GROUP}",
        f"The oldest record that the group has not committed is older than {thresholds.time_lag_s} s.",
        _group_link(url),
        KEPT,
    )
    yield Alert(
        "ConsumerGroupNeverDrains",
        f"{series('groupscope_group_drain_seconds')} == +Inf",
        "15m",
        Severity.WARNING.word,
        f"The lag does not shrink: {GROUP}",
        "At the present rates the group never catches up. Make processing faster, or add members and partitions.",
        _group_link(url),
        KEPT,
    )
    yield Alert(
        "ConsumerGroupRecordsDeletedUnread",
        _deleted_unread(),
        "10m",
        Severity.CRITICAL.word,
        f"Kafka deletes records before they are read: {GROUP}",
        "On {{ $value }} partitions the log start is beyond the committed offset, or will be within an hour "
        "if both keep moving as in the last hour. Increase the topic's retention or make the group faster.",
        _group_link(url),
        KEPT,
    )


def _time_lag(seconds: int) -> str:
    """The time lag in seconds. Where it exceeds what the server's samples cover, it has no series: then `seconds` if
    the group has not reached the log end of that long ago. Transaction markers alone leave a group OK.
    """
    then = f"max by (cluster, topic, partition) ({selector(LOG_END)} offset {seconds}s)"
    behind = f"max by (cluster, group) (\n    {series(COMMITTED)}\n    < bool {ON_PARTITION}\n    {then}\n  ) == 1"
    is_ok = series("groupscope_group_verdict", f'verdict="{Status.OK}"')
    return (
        f"{series('groupscope_group_time_lag_seconds')} > {seconds}\n"
        f"or on (cluster, group)\n({behind}\n  unless on (cluster, group) {is_ok}\n) * {seconds}"
    )


def _deleted_unread() -> str:
    """How many partitions of a group the log start overtakes within an hour, both moving on as in the last hour."""
    committed, log_start = (over_time("predict_linear", name, "1h", after="3600") for name in (COMMITTED, LOG_START))
    overtaken = f"{committed}\n  < {ON_PARTITION}\n  {log_start}"
    return f"count by (cluster, group) (\n  {overtaken}\n  and {series(LAG)} > 0\n)"


def _of_polling(url: str, thresholds: Thresholds) -> Iterator[Alert]:
    yield Alert(
        "KafkaClusterUnreadable",
        f"{series('groupscope_cluster_up')} == 0",
        "2m",
        Severity.CRITICAL.word,
        f"Polls fail: {CLUSTER}",
        "groupscope cannot read the cluster; its other alerts are about the last good poll.",
        _about_link(url),
    )
    yield Alert(
        "GroupscopePollTooOld",
        f"{series('groupscope_poll_age_seconds', aggregate='min')} > {thresholds.poll_age_s}",
        "1m",
        Severity.WARNING.word,
        f"The last good poll is {{{{ $value | humanizeDuration }}}} old: {CLUSTER}",
        "Lag and verdicts are those of that poll. Check the brokers and the server's log.",
        _about_link(url),
    )
    yield Alert(
        "GroupscopeSnapshotIncomplete",
        f"{series('groupscope_snapshot_complete')} == 0",
        "10m",
        Severity.WARNING.word,
        f"Polls do not read everything: {CLUSTER}",
        "A broker, group or partition could not be read: its lag is unknown. groupscope_problems counts the reasons.",
        _about_link(url),
    )
    yield Alert(
        "GroupscopeSeriesLeftOut",
        f"{series('groupscope_scrape_groups_left_out')} > 0",
        "10m",
        Severity.WARNING.word,
        f"/metrics leaves out groups at granularity {{{{ $labels.granularity }}}}: {CLUSTER}",
        "{{ $value }} groups do not fit within the limit of series: their alerts cannot fire. Increase "
        "GROUPSCOPE_METRICS_MAX_SERIES, or choose a coarser granularity.",
        _about_link(url),
    )
    yield Alert(
        "GroupscopeDown",
        f"absent({selector('groupscope_cluster_up')})",
        "5m",
        Severity.CRITICAL.word,
        "Prometheus scrapes no groupscope server",
        "No alert about consumer groups can fire. Check the server, and the targets of Prometheus.",
        url,
    )


def _group_link(url: str) -> str:
    return links.group_page(url, links.in_alert("cluster"), links.in_alert("group"))


def _about_link(url: str) -> str:
    return links.about_page(url, links.in_alert("cluster"))
