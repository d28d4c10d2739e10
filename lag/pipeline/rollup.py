"""What was recorded -> lag by the minute, hour and topic, the health of groups, and how they burn their budgets.

`commits`, `end_offsets`, `group_events` -> `lag_1m` -> `lag_1h`, `lag_group_topic_1m`
`lag_1m`, `group_events`, `group_snapshots` -> `group_health_1m` -> `slo_burn`

A run computes the last LATE hours anew, for rows come late, and puts them in the place of what was there: running again
is harmless. A group is never a Spark group of its own (1.3 ms each, spec/offsets-pipeline.md §4): partitions are dealt
out to buckets, and a bucket's series are computed one after the other in NumPy.

A minute is judged once the stream has read all of it (`lag.history.progress`): while the stream is away the roll-up
waits, and goes on where it was, so that nobody is said to have stopped whose commits were only not read yet.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from lag.burn import DEFAULT, WINDOWS_S, Slo
from lag.history.progress import read_until
from lag.history.schemas import GROUP_HEALTH_1M, LAG_1M, SLO_BURN, TABLES
from lag.history.store import History, literal, told
from lag.minutes import LOOKBACK_US
from lag.pipeline.groups import (
    EVENT_COLUMNS,
    GROUP,
    OWNERS,
    SEEN_COLUMNS,
    TALLY_COLUMNS,
    budgets,
    health,
    owners,
)
from lag.pipeline.series import COMMIT_COLUMNS, END_COLUMNS, SERIES, lag_minutes

LATE = timedelta(hours=2)
PIECE = timedelta(hours=2)
"""So much is computed at a time: what the driver holds does not grow with the length of the backfill."""

LOOKBACK = timedelta(microseconds=LOOKBACK_US)
EVER = datetime(1970, 1, 1, tzinfo=UTC)
COMMITTED = (*SERIES, "at", "src_offset", "committed", "topic_id", "bootstrap")
BUCKETS_PER_CORE = 4
RECORDED = ("commits", "end_offsets", "group_events", "group_snapshots")
ROLLED_UP = ("lag_1m", "lag_1h", "lag_group_topic_1m", "group_health_1m", "slo_burn")
LEVELS = "slo_id string, threshold_ms long, pattern string"


@dataclass(frozen=True, slots=True)
class Piece:
    """What one piece of a run wrote: its hours, rows by table, and how long it took."""

    since: datetime
    until: datetime
    rows: dict[str, int]
    took_s: float

    def eta_s(self, left: timedelta) -> float:
        """How long the rest will take at this pace."""
        return self.took_s * (left / (self.until - self.since))


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """Of each series the last commit before `until`."""

    until: datetime
    rows: pa.Table


class Rollup:
    """Roll-ups of one history, all clusters at once. Raises HistoryError.

    Hours that were over by more than `late` when it last ran are not computed anew.
    """

    _carried: Carried | None = None
    _until = EVER

    def __init__(
        self, spark: SparkSession, history: History, slos: tuple[Slo, ...] = DEFAULT, late: timedelta = LATE
    ) -> None:
        self._spark, self._history, self._slos, self._late = spark, history, slos, late
        self._read_until: dict[str, datetime] = {}
        for name in (*RECORDED, *ROLLED_UP):
            history.create(name)

    def run(self, now: datetime, tell: Callable[[Piece, timedelta], None]) -> list[Piece]:
        """Every whole minute before `now` that the stream has read; none when these are what was computed last.

        `tell` hears of each piece and of the time that is left to compute.
        """
        self._read_until = {cluster: _minute(at) for cluster, at in read_until(self._history).items()}
        until = min(_minute(now), max(self._read_until.values(), default=now))
        since = self._since() if until > self._until else None
        if since is None or until <= since:
            return []
        pieces, first = [], None
        for start in _steps(since, until):
            piece = self.piece(start, min(start + PIECE, until))
            pieces.append(piece)
            tell(piece, until - piece.until)
            first = first or self._carried
        self._carried = first  # the next run begins where this one did, or later
        self._until = until
        return pieces

    def piece(self, since: datetime, until: datetime) -> Piece:
        """Compute the minutes of [since, until) anew; `since` is a whole hour."""
        began = time.monotonic()
        with told(self._history.root):
            made = {name: self._replace(name, make(since, until), since, until) for name, make in self._makers()}
        return Piece(since, until, made, time.monotonic() - began)

    def _makers(self) -> tuple[tuple[str, Callable[[datetime, datetime], DataFrame]], ...]:
        """In this order: later ones read what earlier ones wrote."""
        return (
            ("lag_1m", self._minutes),
            ("lag_1h", self._hours),
            ("lag_group_topic_1m", self._topics),
            ("group_health_1m", self._health),
            ("slo_burn", self._budgets),
        )

    def _since(self) -> datetime | None:
        """The hour to begin with: `late` before the newest minute, or the first sample there is."""
        first, newest = self._one("min(poll_ts)", "end_offsets"), self._one("max(minute)", "lag_1m")
        if first is None or newest is None:
            return None if first is None else _hour(first)
        return _hour(max(first, newest - self._late))

    def _one(self, what: str, name: str) -> datetime | None:
        found: datetime | None = self._history.query(f"SELECT {what} AS found FROM {name}", name)["found"][0].as_py()
        return found

    def _replace(self, name: str, rows: DataFrame, since: datetime, until: datetime) -> int:
        table = TABLES[name]
        after, before = (">", "<=") if name == "slo_burn" else (">=", "<")  # its rows are of the end of a window
        where = f"{table.time} {after} {literal(since)} AND {table.time} {before} {literal(until)}"
        found = rows.select(table.file_schema.names).toArrow()
        self._history.replace(name, found, where)
        return len(found)

    def _minutes(self, since: datetime, until: datetime) -> DataFrame:
        bucket = self._bucket("cluster", "topic", "partition")
        ends = self._ends(since, until).select(bucket, *END_COLUMNS)
        nothing = [f.lit(None).cast("string").alias("owner"), f.lit(False).alias("is_owner")]
        commits = self._commits(since, until).select("*", *nothing).select(*COMMIT_COLUMNS)
        every = commits.unionByName(self._owners(since, until)).select(bucket, *COMMIT_COLUMNS)
        compute = partial(lag_minutes, *map(_us, (since, until)))
        return (
            ends.groupBy("bucket")
            .cogroup(every.groupBy("bucket"))
            .applyInArrow(compute, from_arrow_schema(LAG_1M.file_schema))
        )

    def _bucket(self, *columns: str) -> Any:
        buckets = BUCKETS_PER_CORE * self._spark.sparkContext.defaultParallelism
        return f.pmod(f.hash(*columns), f.lit(buckets)).alias("bucket")

    def _ends(self, since: datetime, until: datetime) -> DataFrame:
        """Samples of the window, up to where the stream of their cluster was; a cluster without one has no commits."""
        ends = self._read("end_offsets").where(_within("poll_ts", since - LOOKBACK, until))
        for cluster, read in self._read_until.items():
            if read < until:
                ends = ends.where((f.col("cluster") != cluster) | (f.col("poll_ts") < f.lit(read)))
        return ends

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

    def _events(self, since: datetime, until: datetime) -> DataFrame:
        """Those of the window, and before it the last one of each kind and member: how the groups came to be."""
        every = self._read("group_events").select(*EVENT_COLUMNS)
        key = ["cluster", "group_id", "record_type", "member_id"]
        newest = f.max_by(f.struct("*"), "src_offset").alias("newest")
        before = every.where(f.col("ts") < f.lit(since)).groupBy(key).agg(newest).select("newest.*")
        return every.where(_within("ts", since, until)).unionByName(before).withColumn("bucket", self._bucket(*GROUP))

    def _owners(self, since: datetime, until: datetime) -> DataFrame:
        """Changes of owner in the columns of commits; KIP-848 names topics by their ids, `end_offsets` says which."""
        ends = self._read("end_offsets").where(_within("poll_ts", since - LOOKBACK, until))
        names = (
            ends.where("topic_id is not null").select("cluster", "topic_id", f.col("topic").alias("name")).distinct()
        )
        changes = self._events(since, until).groupBy("bucket").applyInArrow(owners, from_arrow_schema(OWNERS))
        columns = {"src_offset": f.col("place"), "topic": f.coalesce("topic", "name"), "is_owner": f.lit(True)}
        rest = {"committed": f.lit(None).cast("long"), "bootstrap": f.lit(False)}
        told = changes.join(f.broadcast(names), ["cluster", "topic_id"], "left").withColumns({**columns, **rest})
        return told.where("topic is not null").select(*COMMIT_COLUMNS)

    def _health(self, since: datetime, until: datetime) -> DataFrame:
        seen = self._seen(since, until).withColumn("bucket", self._bucket(*GROUP))
        compute = partial(health, *map(_us, (since, until)))
        return (
            self._events(since, until)
            .groupBy("bucket")
            .cogroup(seen.groupBy("bucket"))
            .applyInArrow(compute, from_arrow_schema(GROUP_HEALTH_1M.file_schema))
        )

    def _seen(self, since: datetime, until: datetime) -> DataFrame:
        """What lag and polls say of each group and minute."""
        at_least = f.greatest("time_lag_max_ms", "time_lag_min_ms")
        lag = self._read("lag_1m").where(_within("minute", since, until)).groupBy(*GROUP, "minute").agg(
            f.min("status").alias("status"),
            f.max(at_least).alias("time_lag_max_ms"),
            f.bool_and(f.col("time_lag_bounded") & f.col("time_lag_max_ms").isNotNull()).alias("time_lag_known"),
        )  # fmt: skip
        polls = self._read("group_snapshots").where(_within("poll_ts", since, until))
        last = f.max_by(f.struct("type", "state", "members"), "poll_ts").alias("last")
        minute = f.date_trunc("minute", "poll_ts").alias("minute")
        polled = polls.groupBy(*GROUP, minute).agg(last).select(*GROUP, "minute", "last.*")
        return lag.join(polled, [*GROUP, "minute"], "full").select(*SEEN_COLUMNS)

    def _budgets(self, since: datetime, until: datetime) -> DataFrame:
        """Minutes older than the second longest window are taken by the hour: what is sent to Python stays small."""
        begin, hourly = (since - timedelta(seconds=seconds) for seconds in (WINDOWS_S[-1], WINDOWS_S[-2]))
        minutes = self._read("group_health_1m").where(
            _within("minute", begin, until) & f.col("time_lag_known").isNotNull()
        )
        at = f.when(f.col("minute") < f.lit(hourly), f.date_trunc("hour", "minute")).otherwise(f.col("minute"))
        levels = self._spark.createDataFrame([(s.slo_id, s.threshold_ms, s.regex) for s in self._slos], LEVELS)
        judged = minutes.crossJoin(f.broadcast(levels)).where(f.expr("group_id RLIKE pattern"))
        bad = f.col("time_lag_max_ms") > f.col("threshold_ms")
        tallies = judged.groupBy(*GROUP, "slo_id", at.alias("at")).agg(
            f.count_if(~f.coalesce(bad, f.lit(False)) & f.col("time_lag_known")).alias("good"),
            f.count_if(bad).alias("bad"),
            f.count_if(~f.coalesce(bad, f.lit(False)) & ~f.col("time_lag_known")).alias("unknown"),
        )
        slos, since_us, until_us = self._slos, _us(since), _us(until)
        buckets = tallies.select(self._bucket(*GROUP), *TALLY_COLUMNS).groupBy("bucket")
        schema = from_arrow_schema(SLO_BURN.file_schema)
        # no partial: Spark would look for its type hints, and complain
        return buckets.applyInArrow(lambda rows: budgets(slos, since_us, until_us, rows), schema)

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
        f.when(f.bool_and("time_lag_bounded"), f.max("time_lag_max_ms")).alias("time_lag_max_ms"),
        (f.max(lag) / f.nullif(f.avg(lag), f.lit(0.0))).alias("skew"),
        f.sum("consume_rate").alias("consume_rate"),
        f.sum("produce_rate").alias("produce_rate"),
        f.sum("commits").cast("int").alias("commits"),
    ]


def _us(at: datetime) -> int:
    return round(at.timestamp() * 1e6)


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _minute(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(second=0, microsecond=0)


def _steps(since: datetime, until: datetime) -> Iterator[datetime]:
    while since < until:
        yield since
        since += PIECE
