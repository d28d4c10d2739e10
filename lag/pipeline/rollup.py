"""Rolls up the recorded tables: lag by the minute, hour and topic, the health of groups, and their error budgets.

`commits`, `end_offsets`, `group_events` -> `lag_1m` -> `lag_1h`, `lag_group_topic_1m`
`lag_1m`, `group_events`, `group_snapshots` -> `group_health_1m` -> `slo_burn`

Rows may come late: a run begins at the earliest hour for which a file added since the last run may have rows, at most
LATE before it, and replaces the rows there, so it can be repeated. Workers read recorded files and write lag themselves
(`partition_worker`); the smaller tables that follow from lag go through Spark.

A minute is computed once the stream has read all of it (`history.stream_progress`): while the stream is not running,
the roll-up waits. Otherwise groups would be reported as stopped whose commits were not read yet.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from lag.history.resume.stream_progress import read_until
from lag.history.schemas import GROUP_HEALTH_1M, SLO_BURN, TABLES, TEXT
from lag.history.span import full_hour, full_minute
from lag.history.status_codes import rank_sql
from lag.history.store import History, history_errors, literal
from lag.pipeline.changed_files import TIMES, recent
from lag.pipeline.group_worker import (
    EVENT_COLUMNS,
    GROUP,
    OWNERS,
    POLLED_COLUMNS,
    SEEN_COLUMNS,
    TALLY_COLUMNS,
    budgets,
    health,
    owners,
)
from lag.pipeline.lag_driver import LagTables, Span
from lag.rollup.error_budget import DEFAULT, WINDOWS_S, Slo
from lag.times import EPOCH, micros

LATE = timedelta(hours=2)
PIECE = timedelta(hours=6)
"""The time span computed at once, so that memory does not grow with the length of the backfill."""

ALL = ""
"""Key for all clusters of a history without a stream."""

ROLLED_UP = ("lag_1m", "lag_1h", "lag_group_topic_1m", "group_health_1m", "slo_burn")


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a run: its span, the rows written by table, and the time it took."""

    since: datetime
    until: datetime
    rows: dict[str, int]
    took_s: float

    def eta_s(self, left: timedelta) -> float:
        """The estimated seconds for the rest."""
        return self.took_s * (left / (self.until - self.since))


class Rollup:
    """Roll-ups of one history, all clusters at once. Raises HistoryError.

    Minutes more than LATE before the last run are not computed again.
    """

    def __init__(self, spark: SparkSession, history: History, slos: tuple[Slo, ...] = DEFAULT) -> None:
        self._spark, self._history, self._slos = spark, history, slos
        self._lags = LagTables(spark, history)
        for name in (*TIMES, *ROLLED_UP):
            history.create(name)

    def run(self, now: datetime, report: Callable[[Piece, timedelta], None]) -> list[Piece]:
        """Compute every whole minute before `now` that the stream has read; empty if there is nothing new.

        `report` is called with each piece and the time span that is left.
        """
        read = {cluster: full_minute(at) for cluster, at in read_until(self._history).items()} or {
            ALL: full_minute(now)
        }
        until = min(full_minute(now), max(read.values()))
        files = recent(self._history, min([until, *self._lags.until.values()]) - LATE)
        news = min((first for file, first in files.items() if file not in self._lags.files), default=until)
        since = self._since(read, until, news)
        pieces = []
        for start in _steps(since or until, until):
            piece = self._piece(start, min(start + PIECE, until), until, read)
            pieces.append(piece)
            report(piece, until - piece.until)
        if pieces:
            self._lags.saw(files)
        return pieces

    def _piece(self, since: datetime, until: datetime, end: datetime, read: Mapping[str, datetime]) -> Piece:
        """Compute the minutes of [since, until) again; `since` is a full hour, the run ends at `end`."""
        began = time.monotonic()
        next_since = min(until, full_hour(end - LATE))
        with history_errors(self._history.root), self._events(since, until) as events:
            owned = events.groupBy("bucket").applyInArrow(owners, from_arrow_schema(OWNERS)).toArrow()
            rows, seen = self._lags.compute(Span(since, until, next_since, read, owned))
            minutes = self._health(since, until, events, seen)
            rows["group_health_1m"] = self._replace("group_health_1m", minutes, since, until)
            rows["slo_burn"] = self._replace("slo_burn", self._budgets(since, until), since, until)
            self._lags.done({name: min(at, until) for name, at in read.items() if at > since})
        return Piece(since, until, rows, time.monotonic() - began)

    def _since(self, read: Mapping[str, datetime], until: datetime, news: datetime) -> datetime | None:
        """The hour to begin with: the earliest of the clusters not computed up to `until`. None: all are."""
        ends = {cluster: min(at, until) for cluster, at in read.items()}
        behind = [cluster for cluster, end in ends.items() if end != self._lags.until.get(cluster, EPOCH)]
        begins = {cluster: self._begin(cluster, ends[cluster], news) for cluster in behind}
        return min((begin for cluster, begin in begins.items() if begin and begin < ends[cluster]), default=None)

    def _begin(self, cluster: str, end: datetime, news: datetime) -> datetime | None:
        """The hour to compute again from, or the hour of the first sample. None: no sample."""
        where = "true" if cluster == ALL else f"cluster = {literal(cluster)}"
        again = self._again(cluster, where, end, news)
        first = self._one("min(poll_ts)", "end_offsets", where if again is None else "true")
        return None if first is None else full_hour(max(first, again or first))

    def _again(self, cluster: str, where: str, end: datetime, news: datetime) -> datetime | None:
        """The end of the computed minutes, or the earliest new row, at most LATE before it. None: none.

        Of a clock that ran ahead, or without stored progress, the newest minute with lag shows what was computed.
        """
        done = self._lags.until.get(cluster)
        if done is not None and done <= end:
            return max(done - LATE, min(done, news))
        newest = self._one("max(minute)", "lag_1m", f"{where} AND minute < {literal(end)}")
        # A killed run may have written the lag of its last piece without the tables that follow from it.
        return None if newest is None else newest - PIECE

    def _one(self, what: str, name: str, where: str) -> datetime | None:
        sql = f"SELECT {what} AS found FROM {name} WHERE {where}"
        found: datetime | None = self._history.query(sql, name)["found"][0].as_py()
        return found

    def _replace(self, name: str, rows: DataFrame, since: datetime, until: datetime) -> int:
        table = TABLES[name]
        after, before = (">", "<=") if name == "slo_burn" else (">=", "<")  # its time is the end of a window
        where = f"{table.time} {after} {literal(since)} AND {table.time} {before} {literal(until)}"
        found = rows.select(table.file_schema.names).toArrow()
        self._history.replace(name, found, where)
        return len(found)

    def _bucket(self, *columns: str) -> Any:
        buckets = self._spark.sparkContext.defaultParallelism
        return f.pmod(f.hash(*columns), f.lit(buckets)).alias("bucket")

    @contextmanager
    def _events(self, since: datetime, until: datetime) -> Iterator[DataFrame]:
        """Group events of the span, and the last one of each type and member before it, for the state at its start."""
        every = self._read("group_events").select(*EVENT_COLUMNS)
        key = ["cluster", "group_id", "record_type", "member_id"]
        newest = f.max_by(f.struct("*"), "src_offset").alias("newest")
        before = every.where(f.col("ts") < f.lit(since)).groupBy(key).agg(newest).select("newest.*")
        found = every.where(_within("ts", since, until)).unionByName(before).withColumn("bucket", self._bucket(*GROUP))
        kept = found.persist()
        try:
            yield kept
        finally:
            kept.unpersist()

    def _health(self, since: datetime, until: datetime, events: DataFrame, lag: pa.Table) -> DataFrame:
        seen = self._seen(since, until, lag).withColumn("bucket", self._bucket(*GROUP))
        compute = partial(health, *map(micros, (since, until)))
        return (
            events.groupBy("bucket")
            .cogroup(seen.groupBy("bucket"))
            .applyInArrow(compute, from_arrow_schema(GROUP_HEALTH_1M.file_schema))
        )

    def _seen(self, since: datetime, until: datetime, lag: pa.Table) -> DataFrame:
        """For each group and minute: status and time lag over its topics, and the last poll."""
        by_group = self._spark.createDataFrame(lag).groupBy(*GROUP, "minute").agg(
            f.min("status").alias("status"),
            f.max("time_lag_max_ms").alias("time_lag_max_ms"),
            f.bool_and("time_lag_known").alias("time_lag_known"),
        )  # fmt: skip
        polls = self._read("group_snapshots").where(_within("poll_ts", since, until))
        named = polls.withColumnRenamed("time_lag_ms", "poll_time_lag_ms").withColumn(
            "verdict", f.expr(rank_sql("status"))
        )
        last = f.max_by(f.struct(*POLLED_COLUMNS), "poll_ts").alias("last")
        minute = f.date_trunc("minute", "poll_ts").alias("minute")
        polled = named.groupBy(*GROUP, minute).agg(last).select(*GROUP, "minute", "last.*")
        return by_group.join(polled, [*GROUP, "minute"], "full").select(*SEEN_COLUMNS)

    def _budgets(self, since: datetime, until: datetime) -> DataFrame:
        """Minutes before the second longest window are summed up by the hour, so less is sent to Python."""
        begin, hourly = (since - timedelta(seconds=seconds) for seconds in (WINDOWS_S[-1], WINDOWS_S[-2]))
        minutes = self._read("group_health_1m").where(
            _within("minute", begin, until) & f.col("time_lag_known").isNotNull()
        )
        at = f.when(f.col("minute") < f.lit(hourly), f.date_trunc("hour", "minute")).otherwise(f.col("minute"))
        levels = self._spark.createDataFrame(_levels(self._slos))
        judged = minutes.crossJoin(f.broadcast(levels)).where(f.expr("group_id RLIKE pattern"))
        bad = f.col("time_lag_max_ms") > f.col("threshold_ms")
        tallies = judged.groupBy(*GROUP, "slo_id", at.alias("at")).agg(
            f.count_if(~f.coalesce(bad, f.lit(False)) & f.col("time_lag_known")).alias("good"),
            f.count_if(bad).alias("bad"),
            f.count_if(~f.coalesce(bad, f.lit(False)) & ~f.col("time_lag_known")).alias("unknown"),
        )
        slos, since_us, until_us = self._slos, micros(since), micros(until)
        buckets = tallies.select(self._bucket(*GROUP), *TALLY_COLUMNS).groupBy("bucket")
        schema = from_arrow_schema(SLO_BURN.file_schema)
        # not a partial: Spark warns about its missing type hints
        return buckets.applyInArrow(lambda rows: budgets(slos, since_us, until_us, rows), schema)

    def _read(self, name: str) -> DataFrame:
        return self._spark.read.format("delta").load(self._history.table_path(name))


def _levels(slos: tuple[Slo, ...]) -> pa.Table:
    """The levels as an Arrow table, because Spark would start a Python worker to read a list."""
    rows = [{"slo_id": slo.slo_id, "threshold_ms": slo.threshold_ms, "pattern": slo.regex} for slo in slos]
    return pa.Table.from_pylist(rows, pa.schema({"slo_id": TEXT, "threshold_ms": pa.int64(), "pattern": TEXT}))


def _within(column: str, since: datetime, until: datetime) -> Any:
    """The rows of that span; `dt` is not used, because it may be the day of another column."""
    return (f.col(column) >= f.lit(since)) & (f.col(column) < f.lit(until))


def _steps(since: datetime, until: datetime) -> Iterator[datetime]:
    while since < until:
        yield since
        since += PIECE
