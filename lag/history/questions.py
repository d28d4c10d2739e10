"""What pages ask of the history: since when, how often, how bad. Answered by delta-rs, never by Spark.

Each question names the days of its span, so that only their files are opened; a day that is over lies in the order of
its series (`lag.history.care`), so that of these files only one group's pages are read.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pyarrow as pa

from lag.health import URGENCY, Status
from lag.history import answers
from lag.history.answers import DAY, HOUR, MINUTE, Place, Span
from lag.history.schemas import TABLES
from lag.history.store import History, literal

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

    def is_recorded(self) -> bool:
        """Whether anything of this cluster was recorded that a roll-up could be made of."""
        sql = f"SELECT 1 AS one FROM end_offsets WHERE cluster = {literal(self._cluster)} LIMIT 1"
        found = self._ask("end_offsets", sql)
        return found is not None and len(found) > 0

    def groups(self, span: Span) -> list[str]:
        """Groups with a lag in the span, by name."""
        sql = f"SELECT DISTINCT group_id FROM lag_group_topic_1m WHERE {self._within(span)} ORDER BY group_id"
        return [row["group_id"] for row in self._rows("lag_group_topic_1m", sql)]

    def topics(self, group_id: str, span: Span) -> dict[str, int]:
        """The topics of a group in the span, and of each the most partitions."""
        sql = f"""SELECT topic, max(partitions) AS partitions FROM lag_group_topic_1m
            WHERE {self._within(span, Place(group_id))} GROUP BY topic ORDER BY topic"""
        return {row["topic"]: row["partitions"] for row in self._rows("lag_group_topic_1m", sql)}

    def lag(self, place: Place, span: Span) -> answers.LagLine:
        """The lag of a group, a topic or a partition; gaps stay gaps."""
        if place.partition is not None:
            name, sql = self._partition_lag(place, span)
        else:
            name, sql = "lag_group_topic_1m", self._group_lag(place, span)
        found = self._ask(name, sql)
        return answers.line(span, found)

    def _group_lag(self, place: Place, span: Span) -> str:
        minutes = f"""SELECT minute AS at, sum(lag_sum) AS lag, max(time_lag_max_ms) AS time_lag,
            sum(lag_known) AS known, sum(partitions) AS partitions
            FROM lag_group_topic_1m WHERE {self._within(span, place)} GROUP BY minute"""
        return minutes if span.step == MINUTE else _by_hour(minutes)

    def _partition_lag(self, place: Place, span: Span) -> tuple[str, str]:
        name, lag = ("lag_1m", "lag_last") if span.step == MINUTE else ("lag_1h", "lag_max")
        return (
            name,
            f"""SELECT {TABLES[name].time} AS at, {lag} AS lag, time_lag_max_ms AS time_lag,
            CASE WHEN {lag} IS NULL THEN 0 ELSE 1 END AS known, 1 AS partitions
            FROM {name} WHERE {self._within(span, place, name)}""",
        )

    def partitions(self, place: Place, span: Span) -> list[answers.PartitionPast]:
        """Every partition of the place, the one with the most lag first."""
        name = "lag_1m" if span.step == MINUTE else "lag_1h"
        at = TABLES[name].time
        sql = f"""SELECT topic, partition, max(lag_max) AS most_records,
            first_value({at} ORDER BY lag_max DESC NULLS LAST, {at}) AS most_at,
            last_value(lag_last ORDER BY {at}) AS last_records,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s, max(time_lag_min_ms) / 1000.0 AS at_least_s,
            max(lost) AS lost_records, sum(rewinds) AS rewinds, last_value(owner_member ORDER BY {at}) AS owner_member
            FROM {name} WHERE {self._within(span, place, name)}
            GROUP BY topic, partition ORDER BY most_records DESC NULLS LAST, topic, partition"""
        return [answers.partition(row) for row in self._rows(name, sql)]

    def verdicts(self, group_id: str, span: Span) -> answers.Verdicts | None:
        """Status and rebalances of a group by the minute; None when none was computed in the span."""
        sql = f"""SELECT minute, status, rebalances, joins, leaves FROM group_health_1m
            WHERE {self._within(span, Place(group_id), "group_health_1m")} ORDER BY minute"""
        return answers.verdicts(self._ask("group_health_1m", sql))

    def health(self, span: Span, trouble: Collection[Status]) -> list[answers.Cell]:
        """Every group by hours (by days beyond HOURS_UP_TO). `trouble`: the statuses that count as such."""
        unit, codes = "hour" if span.cell == HOUR else "day", ", ".join(str(URGENCY.index(one)) for one in trouble)
        sql = f"""SELECT group_id, date_trunc('{unit}', minute) AS at, min(status) AS worst, count(status) AS known,
            count(CASE WHEN status IN ({codes}) THEN 1 END) AS trouble, sum(rebalances) AS rebalances
            FROM group_health_1m WHERE {self._within(span)} GROUP BY 1, 2 ORDER BY 1, 2"""
        return [answers.cell(row) for row in self._rows("group_health_1m", sql)]

    def lags(self, span: Span) -> list[answers.GroupLag]:
        """How far behind every group was, the furthest first."""
        sql = f"""SELECT group_id, max(lag) AS most_records, first_value(minute ORDER BY lag DESC NULLS LAST, minute)
            AS most_at, last_value(lag ORDER BY minute) AS last_records, max(time_lag) / 1000.0 AS time_lag_s
            FROM (SELECT group_id, minute, sum(lag_sum) AS lag, max(time_lag_max_ms) AS time_lag
                  FROM lag_group_topic_1m WHERE {self._within(span)} GROUP BY group_id, minute) AS minutes
            GROUP BY group_id ORDER BY most_records DESC NULLS LAST, group_id"""
        return [answers.group_lag(row) for row in self._rows("lag_group_topic_1m", sql)]

    def burns(self, span: Span, group_id: str | None = None) -> list[answers.Burn]:
        """The newest figures of each group, objective and window in the span; of one group, or of all."""
        place = None if group_id is None else Place(group_id)
        sql = f"""SELECT * FROM (SELECT *, row_number() OVER
            (PARTITION BY group_id, slo_id, window_s ORDER BY at DESC) AS newest
            FROM slo_burn WHERE {self._within(span, place, "slo_burn")}) AS ranked
            WHERE newest = 1 ORDER BY group_id, slo_id, window_s"""
        return [answers.burn(row) for row in self._rows("slo_burn", sql)]

    def _within(self, span: Span, place: Place | None = None, name: str = "lag_group_topic_1m") -> str:
        """The rows of the cluster, the place and the span; its days first, which name the files."""
        at, last = TABLES[name].time, span.until - timedelta(microseconds=1)
        named = (
            {} if place is None else {"group_id": place.group_id, "topic": place.topic, "partition": place.partition}
        )
        wanted = [f"{column} = {literal(value)}" for column, value in named.items() if value is not None]
        days = f"dt BETWEEN DATE '{span.since.astimezone(UTC).date()}' AND DATE '{last.astimezone(UTC).date()}'"
        times = f"{at} >= {_timestamp(span.since)} AND {at} < {_timestamp(span.until)}"
        return " AND ".join([days, f"cluster = {literal(self._cluster)}", *wanted, times])

    def _rows(self, name: str, sql: str) -> list[dict[str, Any]]:
        found = self._ask(name, sql)
        rows: list[dict[str, Any]] = [] if found is None else found.to_pylist()
        return rows

    def _ask(self, name: str, sql: str) -> pa.Table | None:
        return self._history.ask(sql, name)


def _by_hour(minutes: str) -> str:
    return f"""SELECT date_trunc('hour', at) AS at, max(lag) AS lag, max(time_lag) AS time_lag, min(known) AS known,
        max(partitions) AS partitions FROM ({minutes}) AS minutes GROUP BY 1"""


def _timestamp(at: datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}'"
