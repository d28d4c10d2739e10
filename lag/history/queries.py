"""The queries of the History and Group pages, run by delta-rs without Spark.

Each query names the days of its span, so only the files of those days are opened. Finished days are sorted by series
(`lag.history.maintenance`), so only the pages of one group are read.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from lag.history import frames
from lag.history.schemas import TABLES, TIME
from lag.history.span import DAY, HOUR, MINUTE, Scope, Span, full_hour
from lag.history.status_codes import rank_sql
from lag.history.store import SQL_TYPES, History, literal, timestamp
from lag.times import EPOCH, MICROSECOND, micros
from lag.verdict.catalogue import STORED
from lag.verdict.status import STATUS_CODE, Status

_UNKNOWN = STATUS_CODE[Status.UNKNOWN]
_BY_MINUTE = ("lag_group_topic_1m", "group_health_1m")
RECENT = timedelta(days=2)
"""The newest minute is looked for in this time first, because a search in all files is slow."""


def every_group(_group_id: str) -> bool:
    """Every group may be seen."""
    return True


class HistoryQueries:
    """Queries the history of one cluster. A missing table counts as empty. All raise HistoryError.

    The columns of the data frames are in `lag.history.frames`. `sees` says whether the group of an id may be seen; the
    others are as if they had not been recorded.
    """

    def __init__(self, history: History, cluster: str, sees: Callable[[str], bool] = every_group) -> None:
        self._history, self._cluster, self._sees = history, cluster, sees

    def latest(self, now: datetime) -> datetime | None:
        """The newest minute that is rolled up; None if there is none.

        A cluster without commits, as one of share groups alone, has health only.
        """
        for since in (now - RECENT, EPOCH):
            for name in _BY_MINUTE:
                sql = f"SELECT max(minute) AS at FROM {name} WHERE {self._where(Span(since, now + DAY))}"
                found = self._query(name, sql)
                if found is not None and (at := found["at"][0].as_py()) is not None:
                    return cast(datetime, at)
        return None

    def has_minutes(self, span: Span) -> bool:
        """Whether any minute of the span is rolled up."""
        return any(self._has_any(name, self._where(span)) for name in _BY_MINUTE)

    def is_recorded(self) -> bool:
        """Whether the cluster has recorded log ends, which the roll-up needs."""
        return self._has_any("end_offsets", f"cluster = {literal(self._cluster)}")

    def _has_any(self, name: str, where: str) -> bool:
        found = self._query(name, f"SELECT 1 AS one FROM {name} WHERE {where} LIMIT 1")
        return found is not None and len(found) > 0

    def groups(self, span: Span) -> list[str]:
        """Ids of the groups in the span, sorted, with those that never committed."""
        found = {group for name in _BY_MINUTE for group in self._distinct(name, "group_id", self._where(span))}
        return sorted(filter(self._sees, found))

    def topics(self, group_id: str, span: Span) -> list[str]:
        """Names of a group's topics in the span, sorted."""
        return self._distinct("lag_group_topic_1m", "topic", self._where(span, Scope(group_id)))

    def partition_numbers(self, group_id: str, topic: str, span: Span) -> list[int]:
        """Numbers of the topic's partitions on which the group has lag in the span, sorted."""
        name = _partition_table(span)
        return self._distinct(name, "partition", self._where(span, Scope(group_id, topic), name))

    def _distinct(self, name: str, column: str, where: str) -> list[Any]:
        found = self._query(name, f"SELECT DISTINCT {column} FROM {name} WHERE {where} ORDER BY {column}")
        return [] if found is None else found[column].to_pylist()

    def lag(self, scope: Scope, span: Span) -> pd.DataFrame:
        """The lag of a group, topic or partition: LAG."""
        if scope.partition is not None:
            name, sql = self._partition_lag(scope, span)
        else:
            name, sql = "lag_group_topic_1m", _by_step(_whole(self._committed_minutes(span, scope)), span)
        lag = frames.lag(span, self._frame(name, sql, frames.LAG))
        if scope.topic is not None:
            return lag
        polled = self._frame("group_health_1m", _by_step(_whole(self._polled_minutes(span, scope)), span), frames.LAG)
        return frames.fill_from_polls(lag, frames.lag(span, polled))

    def _committed_minutes(self, span: Span, scope: Scope | None = None) -> str:
        """The lag of each group by the minute, over its topics."""
        return f"""SELECT group_id, {_us("minute")} AS at_us,
            sum(lag_sum) AS lag_records, max(lag_p95) AS lag_p95_records,
            {_max_if_all_known("time_lag_max_ms", "lag_known > 0")} / 1000.0 AS time_lag_s,
            sum(lag_known) AS known, sum(partitions) AS partitions
            FROM lag_group_topic_1m WHERE {self._where(span, scope)} GROUP BY group_id, minute"""

    def _polled_minutes(self, span: Span, scope: Scope | None = None) -> str:
        """The same by polls, which know groups without commits, too."""
        return f"""SELECT group_id, {_us("minute")} AS at_us, lag AS lag_records, NULL AS lag_p95_records,
            CASE WHEN time_lag_known THEN time_lag_max_ms END / 1000.0 AS time_lag_s,
            lag_known AS known, lag_partitions AS partitions
            FROM group_health_1m WHERE {self._where(span, scope)} AND lag_partitions IS NOT NULL"""

    def _partition_lag(self, scope: Scope, span: Span) -> tuple[str, str]:
        name, lag = _partition_table(span), "lag_last" if span.step == MINUTE else "lag_max"
        return (
            name,
            f"""SELECT {_us(TABLES[name].time)} AS at_us, {lag} AS lag_records, NULL AS lag_p95_records,
            CASE WHEN time_lag_bounded THEN time_lag_max_ms END / 1000.0 AS time_lag_s,
            CASE WHEN {lag} IS NULL THEN 0 ELSE 1 END AS known, 1 AS partitions
            FROM {name} WHERE {self._where(span, scope, name)}""",
        )

    def partitions(self, scope: Scope, span: Span) -> pd.DataFrame:
        """Every partition of the scope, the highest lag first: PARTITIONS."""
        name = _partition_table(span)
        at = TABLES[name].time
        known = "coalesce(lag_samples, samples)"  # rows of earlier versions have the number of all samples only
        sql = f"""SELECT topic, partition, max(lag_max) AS most_records,
            CASE WHEN count(lag_max) > 0 THEN {_us(f"first_value({at} ORDER BY lag_max DESC NULLS LAST, {at})")} END
            AS most_at_us,
            sum(lag_avg * {known}) / sum(CASE WHEN lag_avg IS NOT NULL THEN {known} END) AS avg_records,
            last_value(lag_last ORDER BY {at}) FILTER (WHERE {at} >= {timestamp(_last_step(span))}) AS last_records,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s, max(time_lag_min_ms) / 1000.0 AS at_least_s,
            min(lead_min) AS lead_min_records, max(commit_gap_max_ms) / 1000.0 AS commit_gap_max_s,
            coalesce(last_value(commit_gap_open_ms ORDER BY {at}) FILTER (WHERE commit_gap_open_ms IS NOT NULL)
            >= max(commit_gap_max_ms), false) AS commit_gap_is_open,
            greatest(sum(newly_lost), max(lost)) AS lost_records, sum(rewinds) AS rewinds,
            last_value(owner_member ORDER BY {at}) AS owner_member
            FROM {name} WHERE {self._where(span, scope, name)}
            GROUP BY topic, partition ORDER BY most_records DESC NULLS LAST, topic, partition"""
        return self._frame(name, sql, frames.PARTITIONS)

    def health_series(self, group_id: str, span: Span) -> pd.DataFrame:
        """Status and membership changes of a group by the minute: HEALTH."""
        where, rank = self._where(span, Scope(group_id)), f"coalesce({rank_sql('status')}, {_UNKNOWN})"
        sql = f"""SELECT {_us("minute")} AS at_us, {rank} AS rank, rebalances, joins, leaves, churn
            FROM group_health_1m WHERE {where} ORDER BY at_us"""
        return self._frame("group_health_1m", sql, frames.HEALTH)

    def polls(self, group_id: str, span: Span) -> pd.DataFrame:
        """A group at each poll of the span, as the dashboard recorded it, without a roll-up: POLLS."""
        sql = f"""SELECT {_us("poll_ts")} AS at_us, lag AS lag_records, lag_known AS known,
            lag_partitions AS partitions, {rank_sql("status")} AS rank, {_us("onset")} AS onset_us,
            coalesce(onset_is_exact, false) AS onset_is_exact
            FROM group_snapshots WHERE {self._where(span, Scope(group_id), "group_snapshots")} ORDER BY at_us"""
        return self._frame("group_snapshots", sql, frames.POLLS)

    def health_cells(self, span: Span, trouble: Collection[Status]) -> pd.DataFrame:
        """Every group in each cell of the span: HEALTH_CELLS. A minute with a status in `trouble` is in trouble."""
        cell = f"date_bin(INTERVAL '{span.cell.total_seconds():.0f} seconds', minute)"
        codes = ", ".join(str(STORED[one]) for one in trouble)
        sql = f"""SELECT group_id, {_us(cell)} AS at_us, min({rank_sql("status")}) AS rank,
            count(CASE WHEN status <> {STORED[Status.UNKNOWN]} THEN 1 END) AS known_minutes,
            count(CASE WHEN status IN ({codes}) THEN 1 END) AS trouble_minutes, sum(rebalances) AS rebalances,
            max(time_lag_max_ms) / 1000.0 AS time_lag_s
            FROM group_health_1m WHERE {self._where(span)} GROUP BY 1, 2 ORDER BY 1, 2"""
        return self._frame("group_health_1m", sql, frames.HEALTH_CELLS)

    def group_lags(self, span: Span) -> pd.DataFrame:
        """The lag of every group with commits, the highest first: GROUP_LAGS.

        Runs one query for each day, because the minutes of all groups are in memory at once.
        """
        name = "lag_group_topic_1m"
        partly_known = self._distinct(name, "group_id", f"{self._where(span)} AND lag_known < partitions")
        minutes = (_whole(self._committed_minutes(day), partly_known) for day in span.days())
        return self._join_days(name, minutes, span)

    def polled_group_lags(self, span: Span, group_ids: Collection[str]) -> pd.DataFrame:
        """The same of these groups by polls, for groups without commits, as share groups: GROUP_LAGS."""
        minutes = (_whole(_of_groups(self._polled_minutes(day), group_ids)) for day in span.days())
        return self._join_days("group_health_1m", minutes, span)

    def _join_days(self, name: str, minutes: Iterable[str], span: Span) -> pd.DataFrame:
        return frames.join_days([self._frame(name, _of_each_group(each, span), frames.GROUP_LAGS) for each in minutes])

    def burn_rates(self, span: Span, group_id: str | None = None) -> pd.DataFrame:
        """The newest burn rate of each group, objective and window in the span, of one group or all: BURN_RATES."""
        scope = None if group_id is None else Scope(group_id)
        sql = f"""SELECT group_id, slo_id AS objective, 100 * target AS target_percent,
            threshold_ms / 1000.0 AS threshold_s, window_s, burn, 100 * budget_left AS budget_left_percent,
            bad_minutes, unknown_minutes, total_minutes, {_us("at")} AS at_us FROM (SELECT *, row_number() OVER
            (PARTITION BY group_id, slo_id, window_s ORDER BY at DESC) AS newest
            FROM slo_burn WHERE {self._where(span, scope, "slo_burn")}) AS ranked
            WHERE newest = 1 ORDER BY group_id, slo_id, window_s"""
        return self._frame("slo_burn", sql, frames.BURN_RATES)

    def _where(self, span: Span, scope: Scope | None = None, name: str = "lag_group_topic_1m") -> str:
        """The condition for the rows of the cluster, scope and span.

        The days come first: files are skipped by them. Of `lag_1h` every hour that overlaps the span counts. The time
        of a `slo_burn` row is the end of its window; in all other tables the time is the start.
        """
        is_end, at = name == "slo_burn", TABLES[name].time
        since, until = (full_hour(span.since), full_hour(span.until)) if name == "lag_1h" else (span.since, span.until)
        last = until if is_end else until - MICROSECOND
        named = (
            {} if scope is None else {"group_id": scope.group_id, "topic": scope.topic, "partition": scope.partition}
        )
        equal = [f"{column} = {literal(value)}" for column, value in named.items() if value is not None]
        days = f"dt BETWEEN DATE '{since.astimezone(UTC).date()}' AND DATE '{last.astimezone(UTC).date()}'"
        after, before = (">", "<=") if is_end else (">=", "<")
        times = f"{at} {after} {timestamp(since)} AND {at} {before} {timestamp(until)}"
        seen = [] if scope is None or self._sees(scope.group_id) else ["false"]
        return " AND ".join([days, f"cluster = {literal(self._cluster)}", *seen, *equal, times])

    def _frame(self, name: str, sql: str, columns: pa.Schema) -> pd.DataFrame:
        found = self._query(name, sql)
        frame = frames.empty(columns) if found is None else frames.frame(found, columns)
        if self._sees is every_group or "group_id" not in frame.columns:
            return frame
        return frame[frame["group_id"].map(self._sees).astype(bool)].reset_index(drop=True)

    def _query(self, name: str, sql: str) -> pa.Table | None:
        return self._history.query_open(sql, name)


def _us(time: str) -> str:
    """The SQL of a time in microseconds since 1970."""
    return f"CAST(arrow_cast({time}, '{SQL_TYPES[TIME]}') AS BIGINT)"


def _partition_table(span: Span) -> str:
    return "lag_1m" if span.step == MINUTE else "lag_1h"


def _by_step(minutes: str, span: Span) -> str:
    """Columns of LAG of one group: its minutes, or the worst of each hour of a long span."""
    if span.step == MINUTE:
        return f"SELECT {', '.join(frames.LAG.names)} FROM ({minutes}) AS minutes"
    time_lag = _max_if_all_known("time_lag_s", "lag_records IS NOT NULL")
    return f"""SELECT at_us - at_us % {HOUR // MICROSECOND} AS at_us, max(lag_records) AS lag_records,
        max(lag_p95_records) AS lag_p95_records, {time_lag} AS time_lag_s,
        max(partitions) - max(partitions - known) AS known, max(partitions) AS partitions
        FROM ({minutes}) AS minutes GROUP BY 1"""


def _of_each_group(minutes: str, span: Span) -> str:
    most_at = "first_value(at_us ORDER BY lag_records DESC NULLS LAST, at_us)"
    return f"""SELECT group_id, max(lag_records) AS most_records,
        CASE WHEN count(lag_records) > 0 THEN {most_at} END AS most_at_us,
        last_value(lag_records ORDER BY at_us) FILTER (WHERE at_us >= {micros(_last_step(span))}) AS last_records,
        max(time_lag_s) AS time_lag_s
        FROM ({minutes}) AS minutes GROUP BY group_id"""


def _of_groups(minutes: str, group_ids: Collection[str], is_in: str = "IN") -> str:
    return f"SELECT * FROM ({minutes}) AS minutes WHERE group_id {is_in} ({', '.join(map(literal, group_ids))})"


def _whole(minutes: str, partly_known: Collection[str] | None = None) -> str:
    """These minutes, with an unknown lag where partitions that were known before are not: the sum would be a dip.

    `partly_known`: only these groups have such minutes, which spares the others; None: any group may.
    """
    if partly_known is not None:
        if not partly_known:
            return minutes
        rest = _of_groups(minutes, partly_known, "NOT IN")
        return f"{_whole(_of_groups(minutes, partly_known))} UNION ALL {rest}"
    is_dip = "known < partitions AND known < max(known) OVER (PARTITION BY group_id ORDER BY at_us)"
    lags = ", ".join(
        f"CASE WHEN {is_dip} THEN NULL ELSE {name} END AS {name}"
        for name in ("lag_records", "lag_p95_records", "time_lag_s")
    )
    return f"SELECT group_id, at_us, {lags}, known, partitions FROM ({minutes}) AS sums"


def _last_step(span: Span) -> datetime:
    """The start of the last step of the span: only a lag in that step is the lag at the end."""
    return (span.until if span.step == MINUTE else full_hour(span.until)) - span.step


def _max_if_all_known(time_lag: str, has_lag: str) -> str:
    """The longest time lag; NULL if one is unknown where there is a lag, because the unknown one may be the longest."""
    return f"CASE WHEN count(CASE WHEN {has_lag} AND {time_lag} IS NULL THEN 1 END) = 0 THEN max({time_lag}) END"
