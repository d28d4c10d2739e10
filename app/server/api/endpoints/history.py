"""The lag and the verdicts of a group over time, from the stored history."""

import re
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from math import isfinite, isnan
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
from pydantic import AwareDatetime, BeforeValidator, Field, model_validator
from typing_extensions import TypedDict

from app.server.api.endpoint import Call, Endpoint, Query
from app.server.api.problem import ApiError, field_error, invalid_fields
from assignors.spelling import shown
from lag.errors import ConfigError, HistoryError
from lag.history.span import DAY, MINUTE, Scope, Span, full_minute
from lag.times import EPOCH, epoch_ms, from_ms, ms
from lag.verdict.status import URGENCY, Status

if TYPE_CHECKING:
    from lag.history.queries import HistoryQueries

LONGEST = 90 * DAY
TOO_LONG = "since must be 1 minute to 90 days before until"
LAST = EPOCH.replace(year=2200)
"""Not every library can represent all times."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?", re.ASCII)
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)


def _moment(given: object) -> object:
    """A plain number is milliseconds. Pydantic would guess its unit, and take 2026 for half an hour after 1970."""
    if not isinstance(given, str) or not _NUMBER.fullmatch(given):
        return given
    if not _WHOLE.fullmatch(given):
        raise ValueError("Write a time such as 2026-11-25T08:00:00Z, or whole milliseconds since 1970")
    try:
        return from_ms(epoch_ms(int(given)))
    except ConfigError as error:
        raise ValueError(str(error)) from None


Moment = Annotated[AwareDatetime, Field(ge=EPOCH, lt=LAST), BeforeValidator(_moment)]


class HistoryQuery(Query):
    """Which part of a group's history. Without times, the last day; without `since`, the day before `until`."""

    since: Moment | None = Field(None, description="such as 2026-11-25T08:00:00Z")
    until: Moment | None = Field(None, description="not included; at most 90 days later")
    topic: str | None = Field(None, max_length=255, description="only this topic")
    partition: int | None = Field(None, ge=0, lt=2**31, description="only this partition of the topic")

    @model_validator(mode="after")
    def _check(self) -> "HistoryQuery":
        if self.partition is not None and self.topic is None:
            raise ValueError("A partition needs its topic")
        if self.since is not None and self.until is not None and not MINUTE <= self.until - self.since <= LONGEST:
            raise ValueError(TOO_LONG)
        return self

    def span(self, now: datetime) -> Span:
        """The time that is asked for. Raises ApiError if it is too long."""
        until = full_minute(now) + MINUTE if self.until is None else self.until.astimezone(UTC)
        since = max(EPOCH, until - DAY) if self.since is None else self.since.astimezone(UTC)
        if not MINUTE <= until - since <= LONGEST:
            raise invalid_fields([field_error("query.since", TOO_LONG)])
        return Span(since, until)


class LagPointDocument(TypedDict):
    """The lag in records at the end of a minute, or the highest of an hour; it covers `known` of `partitions`.

    It is null where partitions that were known before are not: the sum of the others would be a dip. `time_lag_s` is
    the age of the oldest record that is not committed. Null is unknown.
    """

    at_ms: int
    lag: int | None
    time_lag_s: float | None
    known: int
    partitions: int


class VerdictPeriodDocument(TypedDict):
    """The group had one verdict in every minute from `since_ms` to `until_ms` (not included)."""

    verdict: Status
    since_ms: int
    until_ms: int


class HistoryDocument(TypedDict):
    """The history of a group. `step_s` is 60, for spans of more than three days 3600.

    `verdicts` are those of the whole group; minutes without any were not recorded.
    """

    cluster: str
    group_id: str
    since_ms: int
    until_ms: int
    step_s: int
    lag: list[LagPointDocument]
    verdicts: list[VerdictPeriodDocument]


def group_history(call: Call[HistoryQuery]) -> HistoryDocument:
    """The recorded lag and verdicts. Raises ApiError."""
    from lag.history.queries import HistoryQueries
    from lag.history.store import History  # imported here because it takes half a second

    root, cluster_id, query = call.source.settings.history, call.report.snapshot.cluster_id, call.query
    if root is None or cluster_id is None:
        raise ApiError(HTTPStatus.NOT_FOUND, "This server keeps no history. Start it with --history.")
    group_id, span = call.path["group"], query.span(datetime.now(UTC))
    queries = HistoryQueries(History(root), cluster_id, partial(call.source.sees, call.cluster))
    try:
        _check_names(call, queries, span)
        lag = queries.lag(Scope(group_id, query.topic, query.partition), span)
        verdicts = queries.health_series(group_id, span)
    except HistoryError as error:
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None
    return {
        "cluster": call.cluster,
        "group_id": group_id,
        "since_ms": ms(span.since),
        "until_ms": ms(span.until),
        "step_s": int(span.step.total_seconds()),
        "lag": _points(lag),
        "verdicts": periods(verdicts),
    }


def _check_names(call: Call[HistoryQuery], queries: "HistoryQueries", span: Span) -> None:
    """Raises ApiError if group, topic or partition are neither there nor recorded in the span."""
    group_id, topic, partition = call.path["group"], call.query.topic, call.query.partition
    if group_id not in call.report.snapshot.by_group and group_id not in queries.groups(span):
        _ = call.group
    if topic is not None and topic not in queries.topics(group_id, span):
        call.check_topic()
    if topic is None or partition is None or call.report.snapshot.offsets.ends.has(topic, partition):
        return
    if partition not in queries.partition_numbers(group_id, topic, span):
        raise ApiError(HTTPStatus.NOT_FOUND, f"There is no partition {partition} of topic {shown(topic)!r}.")


def _points(lag: pd.DataFrame) -> list[LagPointDocument]:
    columns = (lag[name].tolist() for name in ("at_us", "lag_records", "time_lag_s", "known", "partitions"))
    return [
        {
            "at_ms": at_us // 1000,
            "lag": None if isnan(records) else int(records),
            "time_lag_s": time_lag_s if isfinite(time_lag_s) else None,
            "known": int(known),
            "partitions": int(partitions),
        }
        for at_us, records, time_lag_s, known, partitions in zip(*columns, strict=True)
    ]


def periods(health: pd.DataFrame) -> list[VerdictPeriodDocument]:
    """Consecutive minutes with the same verdict as one period."""
    found: list[VerdictPeriodDocument] = []
    minute_ms = int(MINUTE.total_seconds() * 1000)
    for at_us, rank in zip(health["at_us"].tolist(), health["rank"].tolist(), strict=True):
        at_ms, verdict = at_us // 1000, URGENCY[rank]
        if found and found[-1]["verdict"] is verdict and found[-1]["until_ms"] == at_ms:
            found[-1]["until_ms"] = at_ms + minute_ms
        else:
            found.append({"verdict": verdict, "since_ms": at_ms, "until_ms": at_ms + minute_ms})
    return found


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "/clusters/{cluster}/groups/{group}/history",
        "The recorded lag and verdicts of a group",
        HistoryDocument,
        group_history,
        HistoryQuery,
    ),
)
