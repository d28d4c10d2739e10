"""`commits` + `end_offsets` -> `lag_1m`, and from that `lag_1h` and `lag_group_topic_1m`.

A run computes the last LATE hours anew, for rows come late, and puts them in the place of what was there: running again
is harmless. A group is never a Spark group of its own (1.3 ms each, spec/offsets-pipeline.md §4): partitions are dealt
out to buckets, and a bucket's series are computed one after the other in NumPy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from lag.history.schemas import LAG_1M, TABLES
from lag.history.store import History, literal, told
from lag.minutes import LOOKBACK_US
from lag.pipeline.series import COMMIT_COLUMNS, END_COLUMNS, SERIES, lag_minutes

LATE = timedelta(hours=2)
PIECE = timedelta(hours=2)
"""So much is computed at a time: what the driver holds does not grow with the length of the backfill."""

LOOKBACK = timedelta(microseconds=LOOKBACK_US)
EVER = datetime(1970, 1, 1, tzinfo=UTC)
COMMITTED = (*SERIES, "at", "src_offset", "committed", "topic_id", "bootstrap")
BUCKETS_PER_CORE = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """What one piece of a run wrote: its hours, and rows by table."""

    since: datetime
    until: datetime
    rows: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """Of each series the last commit before `until`."""

    until: datetime
    rows: pa.Table


class Rollup:
    """Roll-ups of one history, all clusters at once. Raises HistoryError."""

    _carried: Carried | None = None

    def __init__(self, spark: SparkSession, history: History) -> None:
        self._spark, self._history = spark, history
        for name in ("commits", "end_offsets", "lag_1m", "lag_1h", "lag_group_topic_1m"):
            history.create(name)

    def run(self, now: datetime, tell: Callable[[Piece, timedelta], None]) -> list[Piece]:
        """Every whole minute before `now`; `tell` hears of each piece and of the time that is left to compute."""
        since, now = self._since(), now.replace(second=0, microsecond=0)
        if since is None:
            return []
        pieces = []
        for start in _steps(since, now):
            piece = self.piece(start, min(start + PIECE, now))
            pieces.append(piece)
            tell(piece, now - piece.until)
        return pieces

    def piece(self, since: datetime, until: datetime) -> Piece:
        """Compute the minutes of [since, until) anew; `since` is a whole hour."""
        with told(self._history.root):
            made = {
                "lag_1m": self._replace("lag_1m", self._minutes(since, until), since, until),
                "lag_1h": self._replace("lag_1h", self._hours(since, until), since, until),
                "lag_group_topic_1m": self._replace("lag_group_topic_1m", self._topics(since, until), since, until),
            }
        return Piece(since, until, made)

    def _since(self) -> datetime | None:
        """The hour to begin with: LATE before the newest minute, or the first sample there is."""
        first, newest = self._one("min(poll_ts)", "end_offsets"), self._one("max(minute)", "lag_1m")
        if first is None or newest is None:
            return None if first is None else _hour(first)
        return _hour(max(first, newest - LATE))

    def _one(self, what: str, name: str) -> datetime | None:
        found: datetime | None = self._history.query(f"SELECT {what} AS found FROM {name}", name)["found"][0].as_py()
        return found

    def _replace(self, name: str, rows: DataFrame, since: datetime, until: datetime) -> int:
        table = TABLES[name]
        where = f"{table.time} >= {literal(since)} AND {table.time} < {literal(until)}"
        found = rows.select(table.file_schema.names).toArrow()
        self._history.replace(name, found, where)
        return len(found)

    def _minutes(self, since: datetime, until: datetime) -> DataFrame:
        buckets = BUCKETS_PER_CORE * self._spark.sparkContext.defaultParallelism
        bucket = f.pmod(f.hash("cluster", "topic", "partition"), f.lit(buckets)).alias("bucket")
        ends = self._ends(since, until).select(bucket, *END_COLUMNS)
        commits = self._commits(since, until).select(bucket, *COMMIT_COLUMNS)
        compute = partial(lag_minutes, round(since.timestamp() * 1e6), round(until.timestamp() * 1e6))
        return (
            ends.groupBy("bucket")
            .cogroup(commits.groupBy("bucket"))
            .applyInArrow(compute, from_arrow_schema(LAG_1M.file_schema))
        )

    def _ends(self, since: datetime, until: datetime) -> DataFrame:
        return self._read("end_offsets").where(_within("poll_ts", since - LOOKBACK, until))

    def _commits(self, since: datetime, until: datetime) -> DataFrame:
        """Those of the window, and of each series the last one before it."""
        return self._between(since - LOOKBACK, until).unionByName(self._newest(since - LOOKBACK))

    def _between(self, since: datetime, until: datetime) -> DataFrame:
        """Commits by their own time, or their record's. That one of the two is within lets Delta skip files."""
        every = self._read("commits").withColumn("at", f.coalesce("commit_ts", "src_ts"))
        either = _within("commit_ts", since, until) | _within("src_ts", since, until)
        return every.where(either & _within("at", since, until)).select(*COMMITTED)

    def _newest(self, until: datetime) -> DataFrame:
        """Of each series the last commit before that time, carried on: the next piece reads only what came after."""
        carried = self._carried
        if carried is None or carried.until > until:
            rows = self._between(EVER, until)
        else:
            rows = self._between(carried.until, until).unionByName(self._spark.createDataFrame(carried.rows))
        self._carried = Carried(until, _last(rows).toArrow())
        return self._spark.createDataFrame(self._carried.rows)

    def _hours(self, since: datetime, until: datetime) -> DataFrame:
        rows = self._read("lag_1m").where(_within("minute", since, until))
        hour = f.date_trunc("hour", "minute").alias("hour")
        return rows.groupBy("cluster", "group_id", "topic", "partition", hour).agg(*_hour_columns())

    def _topics(self, since: datetime, until: datetime) -> DataFrame:
        rows = self._read("lag_1m").where(_within("minute", since, until))
        series = ["cluster", "group_id", "topic", "minute"]
        counted = rows.groupBy(*series, "status").agg(f.count("*").cast("int").alias("n"))
        by_status = f.map_from_entries(f.collect_list(f.struct("status", "n"))).alias("partitions_by_status")
        return rows.groupBy(series).agg(*_topic_columns()).join(counted.groupBy(series).agg(by_status), series)

    def _read(self, name: str) -> DataFrame:
        return self._spark.read.format("delta").load(self._history.place(name))


def _last(commits: DataFrame) -> DataFrame:
    """The last commit of each series: its time is found first, for Spark would sort every commit to find a row."""
    series = list(SERIES)
    times = commits.groupBy(series).agg(f.max("at").alias("at"))
    last = f.max_by(f.struct("*"), "src_offset").alias("last")
    return commits.join(f.broadcast(times), [*series, "at"]).groupBy(series).agg(last).select("last.*")


def _within(column: str, since: datetime, until: datetime) -> Any:
    """The rows of that time; `dt` would not help: it may be the day of another time than this one."""
    return (f.col(column) >= f.lit(since)) & (f.col(column) < f.lit(until))


def _hour_columns() -> list[Any]:
    """The columns of `lag_1h`: averages weigh minutes by their samples, rates by the minutes that have one."""
    last = ("committed_last", "log_start", "log_end", "lag_last", "lag_rc_last", "eta_s", "time_to_loss_s")
    most = ("lag_max", "lost", "time_lag_max_ms", "time_lag_min_ms", "commit_gap_max_ms")
    return [
        *(f.max_by(name, f.when(f.col(name).isNotNull(), f.col("minute"))).alias(name) for name in last),
        *(f.max_by(name, "minute").alias(name) for name in ("status", "owner_member")),
        *(f.max(name).alias(name) for name in most),
        *(f.min(name).alias(name) for name in ("lag_raw_min", "lead_min")),
        *(f.sum(name).cast("int").alias(name) for name in ("commits", "rewinds", "samples")),
        f.sum("rewind_records").alias("rewind_records"),
        f.bool_and("time_lag_bounded").alias("time_lag_bounded"),
        _weighed("lag_avg").alias("lag_avg"),
        f.round(_weighed("time_lag_avg_ms")).cast("long").alias("time_lag_avg_ms"),
        *(f.avg(name).alias(name) for name in ("consume_rate", "produce_rate")),
    ]


def _weighed(name: str) -> Any:
    weight = f.when(f.col(name).isNotNull(), f.col("samples"))
    return f.sum(f.col(name) * f.col("samples")) / f.sum(weight)


def _topic_columns() -> list[Any]:
    """The columns of `lag_group_topic_1m`; the lag of a partition is that at the end of the minute."""
    lag = f.col("lag_last")
    return [
        f.count("*").cast("int").alias("partitions"),
        f.count(lag).cast("int").alias("lag_known"),
        f.sum(lag).alias("lag_sum"),
        f.max(lag).alias("lag_max"),
        f.percentile(lag, 0.95).alias("lag_p95"),
        f.max("time_lag_max_ms").alias("time_lag_max_ms"),
        (f.max(lag) / f.nullif(f.avg(lag), f.lit(0.0))).alias("skew"),
        f.sum("consume_rate").alias("consume_rate"),
        f.sum("produce_rate").alias("produce_rate"),
        f.sum("commits").cast("int").alias("commits"),
    ]


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _steps(since: datetime, until: datetime) -> Iterator[datetime]:
    while since < until:
        yield since
        since += PIECE
