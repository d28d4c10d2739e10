"""Groups and their partitions, from the latest snapshot."""

from enum import StrEnum
from math import isfinite, isinf, isnan
from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from app.documents.snapshot import (
    GroupDocument,
    GroupSummaryDocument,
    OnsetDocument,
    PartitionDocument,
    ProblemDocument,
    group_document,
    onset_document,
    partitions_document,
    problems_document,
    summary_document,
)
from app.server.api.endpoint import Call, Endpoint, Page, Query
from lag.model import ClusterSnapshot, GroupType, is_internal
from lag.offsets import topics_by_group
from lag.polling.report import Report
from lag.verdict.health import GroupHealth, PartitionHealth, TimeLag
from lag.verdict.status import STATUS_CODE, TOO_EARLY, URGENCY, Status
from lag.verdict.window import time_to_loss
from lag.verdict.window.time_to_loss import LeastTime, NoTime

MOST_RECORDS = 2**63 - 1
"""Kafka's offsets are int64."""

UNREAD = "Unknown"
"""Stands for the state of a group that could not be described."""


class Order(StrEnum):
    """How groups are sorted."""

    GROUP = "group"
    URGENCY = "urgency"


class GroupsQuery(Page):
    """The filters of the Overview; an empty one passes every group. Values of a repeated one are alternatives."""

    text: str = Field("", max_length=255, description="part of the group's id or of one of its topics")
    state: tuple[str, ...] = Field(
        (), max_length=20, description=f"such as Stable or Empty; {UNREAD} for one that could not be read"
    )
    type: tuple[GroupType, ...] = Field((), max_length=20)
    verdict: tuple[Status, ...] = Field((), max_length=20)
    lag_at_least: int = Field(
        0, ge=0, le=MOST_RECORDS, description="in records; a group with an unknown lag passes only 0"
    )
    topic: str | None = Field(None, max_length=255, description="one of the group's topics")
    internal: bool = Field(False, description="also Kafka's and groupscope's own groups")
    sort: Order = Field(Order.GROUP, description="by id; or the most urgent verdict first, then the highest lag")


class PartitionsQuery(Page):
    """Which of a group's partitions."""

    limit: int = Field(1_000, ge=1, le=10_000, description="maximum number to return")
    topic: str | None = Field(None, max_length=255, description="only partitions of this topic")


class TimeLagDocument(TypedDict):
    """The age of the oldest record that is not committed; `seconds` null: unknown, for the reason given."""

    seconds: float | None
    error_bound_s: float | None
    at_least_s: float | None
    reason: str | None


class HealthDocument(TypedDict):
    """Why a verdict was given, with rates in records per second; unknown is null.

    `drains` is false if the lag does not shrink; `drain_s` is then null, otherwise the time until it is gone.
    """

    rule: str
    evidence: str
    consumed_per_s: float | None
    produced_per_s: float | None
    time_lag: TimeLagDocument
    drains: bool | None
    drain_s: float | None


class TimeToLossDocument(TypedDict):
    """The time until retention deletes records that the group has not read; `seconds` null: none, for the reason given.

    `at_most_s` is an upper bound of a time that is not known.
    """

    seconds: float | None
    at_most_s: float | None
    reason: NoTime | None


class GroupHealthDocument(HealthDocument):
    """`unhealthy` counts the partitions of each verdict but `ok`."""

    unhealthy: dict[Status, int]
    time_to_loss: TimeToLossDocument


class PartitionHealthDocument(HealthDocument):
    """The verdict on one partition. `last_moved_ms`: the poll that saw the newest committed offset first."""

    verdict: Status
    onset: OnsetDocument | None
    last_moved_ms: int | None


class JudgedGroupDocument(GroupDocument):
    """A group as `groupscope snapshot --json` prints it, and its health."""

    health: GroupHealthDocument


class JudgedSummaryDocument(GroupSummaryDocument):
    """A group without its members and partitions, and its health."""

    member_count: int | None
    health: GroupHealthDocument


class JudgedPartitionDocument(PartitionDocument):
    """A partition of a group, and its health."""

    health: PartitionHealthDocument


class PageDocument(TypedDict):
    """Which part of a list this is: `total` counts the whole list, `next` is the offset of the next page."""

    cluster: str
    number: int
    at_ms: int
    total: int
    next: int | None


class GroupsDocument(PageDocument):
    """Groups of one snapshot."""

    cluster_id: str | None
    complete: bool
    problems: list[ProblemDocument]
    groups: list[JudgedSummaryDocument]


class PartitionsDocument(PageDocument):
    """Partitions of one group."""

    group_id: str
    partitions: list[JudgedPartitionDocument]


def groups(call: Call[GroupsQuery]) -> GroupsDocument:
    """The groups that pass every filter."""
    call.check_topic()
    report, query = call.report, call.query
    numbers = selected(report, query)
    shown = numbers[query.offset : query.offset + query.limit]
    left = time_to_loss.of_groups(report.snapshot, report.window)
    return {
        **page_document(call.cluster, report.snapshot, query, len(numbers)),
        "cluster_id": report.snapshot.cluster_id,
        "complete": report.snapshot.complete,
        "problems": problems_document(report.snapshot.problems),
        "groups": [judged_summary(report, number, left.of(number)) for number in shown],
    }


def selected(report: Report, query: GroupsQuery) -> list[int]:
    """The numbers of the groups that pass every filter, sorted."""
    snapshot, status = report.snapshot, report.health.columns.status
    topics = topics_by_group(snapshot.offsets, len(snapshot.groups))
    states, codes = {state.casefold() for state in query.state}, {STATUS_CODE[each] for each in query.verdict}
    text = query.text.casefold()

    def passes(number: int) -> bool:
        group = snapshot.groups[number]
        return (
            (query.internal or not is_internal(group))
            and (not states or (group.state or UNREAD).casefold() in states)
            and (not query.type or group.type in query.type)
            and (not codes or int(status[number]) in codes)
            and (query.topic is None or query.topic in topics[number])
            and (not text or any(text in name.casefold() for name in (group.group_id, *topics[number])))
            and (not query.lag_at_least or (report.health.groups[number].lag.records or 0) >= query.lag_at_least)
        )

    numbers = list(filter(passes, range(len(snapshot.groups))))
    return sorted(numbers, key=lambda number: _urgency(report, number)) if query.sort is Order.URGENCY else numbers


def _urgency(report: Report, number: int) -> tuple[int, int]:
    code, lag = int(report.health.columns.status[number]), report.health.groups[number].lag.records
    return len(URGENCY) if code == TOO_EARLY else code, 0 if lag is None else -lag


def group(call: Call[Query]) -> JudgedGroupDocument:
    """One group with members and partitions."""
    report, number = call.report, call.group
    health, rows = report.health.groups[number], report.snapshot.offsets.rows(number)
    made = group_document(
        report.health.columns,
        number,
        report.snapshot.groups[number],
        health.lag,
        partitions_document(report.snapshot, rows),
    )
    return {**made, "health": group_health(report.snapshot, health, left_of(report, number))}


def partitions(call: Call[PartitionsQuery]) -> PartitionsDocument:
    """The partitions of one group, sorted by topic and number."""
    report, number, query = call.report, call.group, call.query
    snapshot, rows = report.snapshot, report.snapshot.offsets.rows(number)
    call.check_topic()
    if query.topic is not None:
        rows = _rows_of_topic(snapshot, rows, query.topic)
    total, first = rows.stop - rows.start, min(rows.start + query.offset, rows.stop)
    page = slice(first, min(first + query.limit, rows.stop))
    skipped = first - snapshot.offsets.rows(number).start
    health = report.health.partitions(snapshot.groups[number])[skipped : skipped + page.stop - page.start]
    pairs = zip(partitions_document(snapshot, page), health, strict=True)
    return {
        **page_document(call.cluster, snapshot, query, total),
        "group_id": snapshot.groups[number].group_id,
        "partitions": [judged_partition(row, its) for row, its in pairs],
    }


def _rows_of_topic(snapshot: ClusterSnapshot, rows: slice, topic: str) -> slice:
    """The rows of the topic among those of a group, which are sorted by topic."""
    names, ends = snapshot.offsets.ends.topics, snapshot.offsets.ends
    code = names.index(topic) if topic in names else len(names)
    codes = ends.topic[snapshot.offsets.end[rows]]
    first, last = codes.searchsorted(code, "left"), codes.searchsorted(code, "right")
    return slice(rows.start + int(first), rows.start + int(last))


def page_document(cluster: str, snapshot: ClusterSnapshot, query: Page, total: int) -> PageDocument:
    """Which part of the list the query asks for."""
    after = query.offset + query.limit
    return {
        "cluster": cluster,
        "number": snapshot.number,
        "at_ms": snapshot.at_ms,
        "total": total,
        "next": after if after < total else None,
    }


def left_of(report: Report, number: int) -> LeastTime:
    """The time to loss of the group with that number."""
    return time_to_loss.of_group(report.snapshot, report.window, number).of(0)


def judged_summary(report: Report, number: int, left: LeastTime) -> JudgedSummaryDocument:
    """The group of that number without members and partitions, and its health."""
    its, health = report.snapshot.groups[number], report.health.groups[number]
    return {
        **summary_document(report.health.columns, number, its, health.lag),
        "member_count": None if its.problems and not its.members else len(its.members),
        "health": group_health(report.snapshot, health, left),
    }


def group_health(snapshot: ClusterSnapshot, health: GroupHealth, left: LeastTime) -> GroupHealthDocument:
    """The health of a group."""
    return {
        **_health(health),
        "unhealthy": dict(health.unhealthy),
        "time_to_loss": {
            "seconds": left.seconds if isfinite(left.seconds) else None,
            "at_most_s": None if isnan(left.at_most_s) else left.at_most_s,
            "reason": time_to_loss.why_none(snapshot, left.row, left.seconds, left.at_most_s),
        },
    }


def judged_partition(row: PartitionDocument, health: PartitionHealth) -> JudgedPartitionDocument:
    """A partition of a group, and its health."""
    return {**row, "health": _partition_health(health)}


def _partition_health(health: PartitionHealth) -> PartitionHealthDocument:
    return {
        "verdict": health.finding.status,
        "onset": onset_document(health.finding.onset),
        **_health(health),
        "last_moved_ms": health.last_moved_ms,
    }


def _health(health: GroupHealth | PartitionHealth) -> HealthDocument:
    never = health.drain_s is not None and isinf(health.drain_s)
    return {
        "rule": health.finding.rule,
        "evidence": health.finding.evidence,
        "consumed_per_s": health.consume_rate,
        "produced_per_s": health.produce_rate,
        "time_lag": _time_lag(health.time_lag),
        "drains": None if health.drain_s is None else not never,
        "drain_s": None if never else health.drain_s,
    }


def _time_lag(its: TimeLag) -> TimeLagDocument:
    return {
        "seconds": its.seconds,
        "error_bound_s": its.error_bound_s,
        "at_least_s": its.at_least_s,
        "reason": its.reason,
    }


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("/clusters/{cluster}/groups", "Groups", GroupsDocument, groups, GroupsQuery, of_snapshot=True),
    Endpoint("/clusters/{cluster}/groups/{group}", "One group", JudgedGroupDocument, group, Query, of_snapshot=True),
    Endpoint(
        "/clusters/{cluster}/groups/{group}/partitions",
        "The partitions of a group",
        PartitionsDocument,
        partitions,
        PartitionsQuery,
        of_snapshot=True,
    ),
)
