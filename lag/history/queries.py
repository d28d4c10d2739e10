"""What pages ask of the history: since when, how often, how bad. Answered by delta-rs, never by Spark.

Each question names the days of its span, so that only their files are opened; a day that is over lies in the order of
its series (`lag.history.maintenance`), so that of these files only one group's pages are read.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pyarrow as pa

from lag.history import results
from lag.history.results import DAY, MINUTE, Place, Span
from lag.history.schemas import TABLES
from lag.history.store import History, literal
from lag.verdict.health import URGENCY, Status

_UNKNOWN = URGENCY.index(Status.UNKNOWN)
RECENT = timedelta(days=2)
"""The newest minute is looked for here first: else every file of the table would be asked."""


class Questions:
    """Asks the history of one cluster. A table that nobody wrote to answers None or nothing; all raise HistoryError."""

    def __init__(self, history: History, cluster: str) -> None:
        self._history, self._cluster = history, cluster

    def latest(self, now: datetime) -> datetime | None:
        """The newest minute that was rolled up; None: none yet."""
        for since in (now - RECENT, datetime(1970, 1, 1, tzinfo=UTC)):
            sql = f"SELECT max(minute) AS at FROM lag_group_topic_1m WHERE {self._within(Span(since, now + DAY))}"
            found = self._ask("lag_group_topic_1m", sql)
            if found is None:
                return None
            if (at := found["at"][0].as_py()) is not None:
                return cast(datetime, at)
        return None

    def has_minutes(self, span: Span) -> bool:
        """Whether anything was rolled up for that time."""
        return self._has_any("lag_group_topic_1m", self._within(span))

    def is_recorded(self) -> bool:
        """Whether anything of this cluster was recorded that a roll-up could be made of."""
        return self._has_any("end_offsets", f"cluster = {literal(self._cluster)}")

    def _has_any(self, name: str, within: str) -> bool:
        found = self._ask(name, f"SELECT 1 AS one FROM {name} WHERE {within} LIMIT 1")
        return found is not None and len(found) > 0

    def groups(self, span: Span) -> list[str]:
        """Groups that were there in the span, by name: those that never committed too."""
        names = ("lag_group_topic_1m", "group_health_1m")
        return sorted({row["group_id"] for name in names for row in self._rows(name, self._group_ids(name, span))})

    def _group_ids(self, name: str, span: Span) -> str:
        return f"SELECT DISTINCT group_id FROM {name} WHERE {self._within(span)}"

    def topics(self, group_id: str, span: Span) -> list[str]:
        """The topics of a group in the span, by name."""
        within = self._within(span, Place(group_id))
        sql = f"SELECT DISTINCT topic FROM lag_group_topic_1m WHERE {within} ORDER BY topic"
        return [row["topic"] for row in self._rows("lag_group_topic_1m", sql)]

    def numbers(self, group_id: str, topic: str, span: Span) -> list[int]:
        """The partitions of that topic that the group had a lag on in the span."""
        name = _by_partition(span)
        within = self._within(span, Place(group_id, topic), name)
        sql = f"SELECT DISTINCT partition FROM {name} WHERE {within} ORDER BY partition"
        return [row["partition"] for row in self._rows(name, sql)]

    def lag(self, place: Place, span: Span) -> results.LagLine:
        """The lag of a group, a topic or a partition; gaps stay gaps."""
        if place.partition is not None:
            name, sql = self._partition_lag(place, span)
        else:
            name, sql = "lag_group_topic_1m", self._group_lag(place, span)
        line = results.line(span, self._ask(name, sql))
        if place.topic is not None:
            return line
        return results.completed(line, results.line(span, self._ask("group_health_1m", self._polled_lag(place, span))))

    def _group_lag(self, place: Place, span: Span) -> str:
        minutes = f"""SELECT minute AS at, sum(lag_sum) AS lag, {_whole("time_lag_max_ms", "lag_known")} AS time_lag,
            sum(lag_known) AS known, sum(partitions) AS partitions
            FROM lag_group_topic_1m WHERE {self._within(span, place)} GROUP BY minute"""
        return minutes if span.step == MINUTE else _by_hour(minutes)

    def _polled_lag(self, place: Place, span: Span) -> str:
        minutes = f"""SELECT minute AS at, lag, CASE WHEN time_lag_known THEN time_lag_max_ms END AS time_lag,
            lag_known AS known, lag_partitions AS partitions
            FROM group_health_1m WHERE {self._within(span, place)} AND lag_partitions IS NOT NULL"""
        return minutes if span.step == MINUTE else _by_hour(minutes)

    def _partition_lag(self, place: Place, span: Span) -> tuple[str, str]:
        name, lag = _by_partition(span), "lag_last" if span.step == MINUTE else "lag_max"
        return (
            name,
            f"""SELECT {TABLES[name].time} AS at, {lag} AS lag,
            CASE WHEN time_lag_bounded THEN time_lag_max_ms END AS time_lag,
            CASE WHEN {lag} IS NULL THEN 0 ELSE 1 END AS known, 1 AS partitions
            FROM {name} WHERE {self._within(span, place, name)}""",
        )

    def partitions(self, place: Place, span: Span) -> list[results.PartitionPast]:
        """Every partition of the place, the one with the most lag first."""
        name = _by_partition(span)
        at = TABLES[name].time
        sql = f"""SELECT topic, partition, max(lag_max) AS most_records,
            first_value({at} ORDER BY lag_max DESC NULLS LAST, {at}) AS most_at,
            last_value(lag_last ORDER BY {at}) AS last_records,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s, max(time_lag_min_ms) / 1000.0 AS at_least_s,
            max(lost) AS lost_records, sum(rewinds) AS rewinds, last_value(owner_member ORDER BY {at}) AS owner_member
            FROM {name} WHERE {self._within(span, place, name)}
            GROUP BY topic, partition ORDER BY most_records DESC NULLS LAST, topic, partition"""
        return [results.partition(row) for row in self._rows(name, sql)]

    def verdicts(self, group_id: str, span: Span) -> results.Verdicts | None:
        """Status and rebalances of a group by the minute; None when none was computed in the span."""
        sql = f"""SELECT minute, status, rebalances, joins, leaves FROM group_health_1m
            WHERE {self._within(span, Place(group_id), "group_health_1m")} ORDER BY minute"""
        return results.verdicts(self._ask("group_health_1m", sql))

    def health(self, span: Span, trouble: Collection[Status]) -> list[results.Cell]:
        """Every group by the cells of the span. `trouble`: the statuses that count as such."""
        cell = f"INTERVAL '{span.cell.total_seconds():.0f} seconds'"
        codes = ", ".join(str(URGENCY.index(one)) for one in trouble)
        sql = f"""SELECT group_id, date_bin({cell}, minute) AS at, min(status) AS worst,
            count(CASE WHEN status <> {_UNKNOWN} THEN 1 END) AS known,
            count(CASE WHEN status IN ({codes}) THEN 1 END) AS trouble, sum(rebalances) AS rebalances,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s
            FROM group_health_1m WHERE {self._within(span)} GROUP BY 1, 2 ORDER BY 1, 2"""
        return [results.cell(row) for row in self._rows("group_health_1m", sql)]

    def lags(self, span: Span) -> list[results.GroupLag]:
        """How far behind every group was, the furthest first.

        Day by day: of a day each group's every minute is in memory at once.
        """
        return results.joined(self._lags(day) for day in span.days())

    def _lags(self, span: Span) -> list[results.GroupLag]:
        sql = f"""SELECT group_id, max(lag) AS most_records, first_value(minute ORDER BY lag DESC NULLS LAST, minute)
            AS most_at, last_value(lag ORDER BY minute) AS last_records, max(time_lag) / 1000.0 AS time_lag_s
            FROM (SELECT group_id, minute, sum(lag_sum) AS lag, max(time_lag_max_ms) AS time_lag
                  FROM lag_group_topic_1m WHERE {self._within(span)} GROUP BY group_id, minute) AS minutes
            GROUP BY group_id"""
        return [results.group_lag(row) for row in self._rows("lag_group_topic_1m", sql)]

    def burns(self, span: Span, group_id: str | None = None) -> list[results.Burn]:
        """The newest figures of each group, objective and window in the span; of one group, or of all."""
        place = None if group_id is None else Place(group_id)
        sql = f"""SELECT * FROM (SELECT *, row_number() OVER
            (PARTITION BY group_id, slo_id, window_s ORDER BY at DESC) AS newest
            FROM slo_burn WHERE {self._within(span, place, "slo_burn")}) AS ranked
            WHERE newest = 1 ORDER BY group_id, slo_id, window_s"""
        return [results.burn(row) for row in self._rows("slo_burn", sql)]

    def _within(self, span: Span, place: Place | None = None, name: str = "lag_group_topic_1m") -> str:
        """The rows of the cluster, the place and the span; its days first, which name the files.

        Hours count whole. The row of a budget is of the end of its window, that of anything else begins at its time.
        """
        is_end, at = name == "slo_burn", TABLES[name].time
        since, until = (_hour(span.since), _hour(span.until)) if name == "lag_1h" else (span.since, span.until)
        last = until if is_end else until - timedelta(microseconds=1)
        named = (
            {} if place is None else {"group_id": place.group_id, "topic": place.topic, "partition": place.partition}
        )
        wanted = [f"{column} = {literal(value)}" for column, value in named.items() if value is not None]
        days = f"dt BETWEEN DATE '{since.astimezone(UTC).date()}' AND DATE '{last.astimezone(UTC).date()}'"
        after, before = (">", "<=") if is_end else (">=", "<")
        times = f"{at} {after} {_timestamp(since)} AND {at} {before} {_timestamp(until)}"
        return " AND ".join([days, f"cluster = {literal(self._cluster)}", *wanted, times])

    def _rows(self, name: str, sql: str) -> list[dict[str, Any]]:
        found = self._ask(name, sql)
        rows: list[dict[str, Any]] = [] if found is None else found.to_pylist()
        return rows

    def _ask(self, name: str, sql: str) -> pa.Table | None:
        return self._history.ask(sql, name)


def _by_partition(span: Span) -> str:
    return "lag_1m" if span.step == MINUTE else "lag_1h"


def _by_hour(minutes: str) -> str:
    return f"""SELECT date_trunc('hour', at) AS at, max(lag) AS lag, {_whole("time_lag", "known")} AS time_lag,
        min(known) AS known, max(partitions) AS partitions FROM ({minutes}) AS minutes GROUP BY 1"""


def _whole(time_lag: str, known: str) -> str:
    """The longest of the time lags, where all are known that could be: else the longest may be another."""
    return f"CASE WHEN count(CASE WHEN {known} > 0 AND {time_lag} IS NULL THEN 1 END) = 0 THEN max({time_lag}) END"


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _timestamp(at: datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}'"
