"""The queries of the History page, run by delta-rs without Spark.

Each query names the days of its span, so only the files of those days are opened. Finished days are sorted by series
(`lag.history.maintenance`), so only the pages of one group are read.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pyarrow as pa

from lag.history import results
from lag.history.results import DAY, MINUTE, Scope, Span
from lag.history.schemas import TABLES
from lag.history.store import History, literal
from lag.verdict.health import URGENCY, Status

_UNKNOWN = URGENCY.index(Status.UNKNOWN)
RECENT = timedelta(days=2)
"""The newest minute is looked for in this time first, because a search in all files is slow."""


class HistoryQueries:
    """Queries the history of one cluster. A missing table gives None or an empty list. All raise HistoryError."""

    def __init__(self, history: History, cluster: str) -> None:
        self._history, self._cluster = history, cluster

    def latest(self, now: datetime) -> datetime | None:
        """The newest minute that is rolled up; None if there is none."""
        for since in (now - RECENT, datetime(1970, 1, 1, tzinfo=UTC)):
            sql = f"SELECT max(minute) AS at FROM lag_group_topic_1m WHERE {self._where(Span(since, now + DAY))}"
            found = self._query("lag_group_topic_1m", sql)
            if found is None:
                return None
            if (at := found["at"][0].as_py()) is not None:
                return cast(datetime, at)
        return None

    def has_minutes(self, span: Span) -> bool:
        """Whether any minute of the span is rolled up."""
        return self._has_any("lag_group_topic_1m", self._where(span))

    def is_recorded(self) -> bool:
        """Whether the cluster has recorded log ends, which the roll-up needs."""
        return self._has_any("end_offsets", f"cluster = {literal(self._cluster)}")

    def _has_any(self, name: str, where: str) -> bool:
        found = self._query(name, f"SELECT 1 AS one FROM {name} WHERE {where} LIMIT 1")
        return found is not None and len(found) > 0

    def groups(self, span: Span) -> list[str]:
        """Ids of the groups in the span, sorted, with those that never committed."""
        names = ("lag_group_topic_1m", "group_health_1m")
        return sorted({row["group_id"] for name in names for row in self._rows(name, self._group_ids(name, span))})

    def _group_ids(self, name: str, span: Span) -> str:
        return f"SELECT DISTINCT group_id FROM {name} WHERE {self._where(span)}"

    def topics(self, group_id: str, span: Span) -> list[str]:
        """Names of a group's topics in the span, sorted."""
        where = self._where(span, Scope(group_id))
        sql = f"SELECT DISTINCT topic FROM lag_group_topic_1m WHERE {where} ORDER BY topic"
        return [row["topic"] for row in self._rows("lag_group_topic_1m", sql)]

    def partition_numbers(self, group_id: str, topic: str, span: Span) -> list[int]:
        """Numbers of the topic's partitions on which the group has lag in the span, sorted."""
        name = _partition_table(span)
        where = self._where(span, Scope(group_id, topic), name)
        sql = f"SELECT DISTINCT partition FROM {name} WHERE {where} ORDER BY partition"
        return [row["partition"] for row in self._rows(name, sql)]

    def lag(self, scope: Scope, span: Span) -> results.LagSeries:
        """The lag of a group, topic or partition."""
        if scope.partition is not None:
            name, sql = self._partition_lag(scope, span)
        else:
            name, sql = "lag_group_topic_1m", self._group_lag(scope, span)
        series = results.lag_series(span, self._query(name, sql))
        if scope.topic is not None:
            return series
        polled = self._query("group_health_1m", self._polled_lag(scope, span))
        return results.fill_from_polls(series, results.lag_series(span, polled))

    def _group_lag(self, scope: Scope, span: Span) -> str:
        minutes = f"""SELECT minute AS at, sum(lag_sum) AS lag, max(lag_p95) AS lag_p95,
            {_max_if_all_known("time_lag_max_ms", "lag_known")} AS time_lag,
            sum(lag_known) AS known, sum(partitions) AS partitions
            FROM lag_group_topic_1m WHERE {self._where(span, scope)} GROUP BY minute"""
        return minutes if span.step == MINUTE else _by_hour(minutes)

    def _polled_lag(self, scope: Scope, span: Span) -> str:
        minutes = f"""SELECT minute AS at, lag, NULL AS lag_p95,
            CASE WHEN time_lag_known THEN time_lag_max_ms END AS time_lag,
            lag_known AS known, lag_partitions AS partitions
            FROM group_health_1m WHERE {self._where(span, scope)} AND lag_partitions IS NOT NULL"""
        return minutes if span.step == MINUTE else _by_hour(minutes)

    def _partition_lag(self, scope: Scope, span: Span) -> tuple[str, str]:
        name, lag = _partition_table(span), "lag_last" if span.step == MINUTE else "lag_max"
        return (
            name,
            f"""SELECT {TABLES[name].time} AS at, {lag} AS lag, NULL AS lag_p95,
            CASE WHEN time_lag_bounded THEN time_lag_max_ms END AS time_lag,
            CASE WHEN {lag} IS NULL THEN 0 ELSE 1 END AS known, 1 AS partitions
            FROM {name} WHERE {self._where(span, scope, name)}""",
        )

    def partitions(self, scope: Scope, span: Span) -> list[results.PartitionHistory]:
        """Every partition of the scope, the highest lag first."""
        name = _partition_table(span)
        at = TABLES[name].time
        sql = f"""SELECT topic, partition, max(lag_max) AS most_records,
            first_value({at} ORDER BY lag_max DESC NULLS LAST, {at}) AS most_at,
            sum(lag_avg * samples) / sum(CASE WHEN lag_avg IS NOT NULL THEN samples END) AS avg_records,
            last_value(lag_last ORDER BY {at}) AS last_records,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s, max(time_lag_min_ms) / 1000.0 AS at_least_s,
            min(lead_min) AS lead_min_records, max(commit_gap_max_ms) / 1000.0 AS commit_gap_max_s,
            max(lost) AS lost_records, sum(rewinds) AS rewinds, last_value(owner_member ORDER BY {at}) AS owner_member
            FROM {name} WHERE {self._where(span, scope, name)}
            GROUP BY topic, partition ORDER BY most_records DESC NULLS LAST, topic, partition"""
        return [results.partition(row) for row in self._rows(name, sql)]

    def health_series(self, group_id: str, span: Span) -> results.HealthSeries | None:
        """Status and membership changes of a group by the minute; None if there are none in the span."""
        sql = f"""SELECT minute, status, rebalances, joins, leaves, churn FROM group_health_1m
            WHERE {self._where(span, Scope(group_id), "group_health_1m")} ORDER BY minute"""
        return results.health_series(self._query("group_health_1m", sql))

    def health_cells(self, span: Span, trouble: Collection[Status]) -> list[results.HealthCell]:
        """Every group in each cell of the span. A minute with a status in `trouble` is a minute in trouble."""
        cell = f"INTERVAL '{span.cell.total_seconds():.0f} seconds'"
        codes = ", ".join(str(URGENCY.index(one)) for one in trouble)
        sql = f"""SELECT group_id, date_bin({cell}, minute) AS at, min(status) AS worst,
            count(CASE WHEN status <> {_UNKNOWN} THEN 1 END) AS known,
            count(CASE WHEN status IN ({codes}) THEN 1 END) AS trouble, sum(rebalances) AS rebalances,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s
            FROM group_health_1m WHERE {self._where(span)} GROUP BY 1, 2 ORDER BY 1, 2"""
        return [results.health_cell(row) for row in self._rows("group_health_1m", sql)]

    def group_lags(self, span: Span) -> list[results.GroupLag]:
        """The lag of every group, the highest first.

        Runs one query for each day, because the minutes of all groups are in memory at once.
        """
        return results.join_days(self._group_lags(day) for day in span.days())

    def _group_lags(self, span: Span) -> list[results.GroupLag]:
        sql = f"""SELECT group_id, max(lag) AS most_records, first_value(minute ORDER BY lag DESC NULLS LAST, minute)
            AS most_at, last_value(lag ORDER BY minute) AS last_records, max(time_lag) / 1000.0 AS time_lag_s
            FROM (SELECT group_id, minute, sum(lag_sum) AS lag, max(time_lag_max_ms) AS time_lag
                  FROM lag_group_topic_1m WHERE {self._where(span)} GROUP BY group_id, minute) AS minutes
            GROUP BY group_id"""
        return [results.group_lag(row) for row in self._rows("lag_group_topic_1m", sql)]

    def burn_rates(self, span: Span, group_id: str | None = None) -> list[results.BurnRate]:
        """The newest burn rate of each group, objective and window in the span; of one group or of all."""
        scope = None if group_id is None else Scope(group_id)
        sql = f"""SELECT * FROM (SELECT *, row_number() OVER
            (PARTITION BY group_id, slo_id, window_s ORDER BY at DESC) AS newest
            FROM slo_burn WHERE {self._where(span, scope, "slo_burn")}) AS ranked
            WHERE newest = 1 ORDER BY group_id, slo_id, window_s"""
        return [results.burn_rate(row) for row in self._rows("slo_burn", sql)]

    def _where(self, span: Span, scope: Scope | None = None, name: str = "lag_group_topic_1m") -> str:
        """The condition for the rows of the cluster, scope and span.

        The days come first: files are skipped by them. Of `lag_1h` every hour that overlaps the span counts. The time
        of a `slo_burn` row is the end of its window; in all other tables the time is the start.
        """
        is_end, at = name == "slo_burn", TABLES[name].time
        since, until = (_hour(span.since), _hour(span.until)) if name == "lag_1h" else (span.since, span.until)
        last = until if is_end else until - timedelta(microseconds=1)
        named = (
            {} if scope is None else {"group_id": scope.group_id, "topic": scope.topic, "partition": scope.partition}
        )
        equal = [f"{column} = {literal(value)}" for column, value in named.items() if value is not None]
        days = f"dt BETWEEN DATE '{since.astimezone(UTC).date()}' AND DATE '{last.astimezone(UTC).date()}'"
        after, before = (">", "<=") if is_end else (">=", "<")
        times = f"{at} {after} {_timestamp(since)} AND {at} {before} {_timestamp(until)}"
        return " AND ".join([days, f"cluster = {literal(self._cluster)}", *equal, times])

    def _rows(self, name: str, sql: str) -> list[dict[str, Any]]:
        found = self._query(name, sql)
        rows: list[dict[str, Any]] = [] if found is None else found.to_pylist()
        return rows

    def _query(self, name: str, sql: str) -> pa.Table | None:
        return self._history.query_open(sql, name)


def _partition_table(span: Span) -> str:
    return "lag_1m" if span.step == MINUTE else "lag_1h"


def _by_hour(minutes: str) -> str:
    return f"""SELECT date_trunc('hour', at) AS at, max(lag) AS lag, max(lag_p95) AS lag_p95,
        {_max_if_all_known("time_lag", "known")} AS time_lag,
        min(known) AS known, max(partitions) AS partitions FROM ({minutes}) AS minutes GROUP BY 1"""


def _max_if_all_known(time_lag: str, known: str) -> str:
    """The longest time lag; NULL if one is unknown, because the unknown one may be the longest."""
    return f"CASE WHEN count(CASE WHEN {known} > 0 AND {time_lag} IS NULL THEN 1 END) = 0 THEN max({time_lag}) END"


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _timestamp(at: datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}'"
