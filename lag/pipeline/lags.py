"""Lag by the minute and by the hour, the driver's part: what workers read and compute, and where their files go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from lag.history.exchange import Stored
from lag.history.files import DataFile
from lag.history.schemas import COMMITS, END_OFFSETS, LAG_1H, LAG_1M, Table
from lag.history.span import put, within
from lag.history.store import History
from lag.minutes import LOOKBACK_US
from lag.pipeline.reading import LAST_COMMITS, SERIES, Files
from lag.pipeline.series import MADE, Job

SHARE_ROWS = 16_000_000
"""Samples and commits that a worker takes at a time: somewhat more than a gigabyte."""

LOOKBACK = timedelta(microseconds=LOOKBACK_US)
EVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """Of each series the last commit before `until` (`LAST_COMMITS`)."""

    until: datetime
    rows: pa.Table


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The minutes of [since, until); nothing that begins before `next_since` is going to be asked for.

    Of a cluster in `read_until` no later sample counts. `owners`: every change of owner (`lag.pipeline.groups.OWNERS`).
    """

    since: datetime
    until: datetime
    next_since: datetime
    read_until: Mapping[str, datetime]
    owners: pa.Table


class Lags:
    """Makes `lag_1m` and `lag_1h`. Raises HistoryError.

    What it was told of commits is carried on: the next time only those that came after are read.
    """

    _carried: Carried | None = None

    def __init__(self, spark: SparkSession, history: History) -> None:
        self._spark, self._history = spark, history

    def make(self, span: Span) -> dict[str, int]:
        """Compute the minutes of the span anew: how many rows each table got."""
        job = self._job(span)
        made = self._computed(job)
        for table in (LAG_1M, LAG_1H):
            put(self._history, table.name, _files(made, table), span.since, span.until)
        self._carried = Carried(_moment(job.carry_us), _carried(made))
        return {table.name: sum(file.rows for file in _files(made, table)) for table in (LAG_1M, LAG_1H)}

    def _job(self, span: Span) -> Job:
        back = span.since - LOOKBACK
        known = self._known(back)
        ends = self._stored(END_OFFSETS, ("poll_ts",), back, span.until)
        commits = self._stored(COMMITS, ("commit_ts", "src_ts"), known.until, span.until)
        rows = sum(file.rows or 0 for file in (*ends, *commits))
        return Job(
            shares=max(self._spark.sparkContext.defaultParallelism, -(-rows // SHARE_ROWS)),
            since_us=us(span.since),
            until_us=us(span.until),
            look_back_us=us(back),
            ends=self._read(END_OFFSETS, ends),
            read_until_us={cluster: us(at) for cluster, at in span.read_until.items()},
            commits=self._read(COMMITS, commits),
            known_us=us(known.until),
            known=known.rows,
            carry_us=max(us(known.until), us(span.next_since - LOOKBACK)),
            owners=span.owners,
        )

    def _computed(self, job: Job) -> pa.Table:
        numbers = self._spark.range(0, job.shares, 1, job.shares)
        # no bound method: Spark would look for its type hints, and complain
        return numbers.mapInArrow(lambda batches: job.compute(batches), from_arrow_schema(MADE)).toArrow()

    def _stored(self, of: Table, columns: Sequence[str], since: datetime, until: datetime) -> list[Stored]:
        """The files that may have a row with one of these times in the span."""
        table = DeltaTable(self._history.place(of.name))
        return list({file.path: file for column in columns for file in within(table, column, since, until)}.values())

    def _read(self, of: Table, files: Sequence[Stored]) -> Files:
        return Files(self._history.root, of, tuple(file.path for file in files))

    def _known(self, until: datetime) -> Carried:
        """The last commits before that time, or before an earlier one."""
        if self._carried is not None and self._carried.until <= until:
            return self._carried
        return Carried(until, _last(self._before(until)).toArrow().cast(LAST_COMMITS))

    def _before(self, until: datetime) -> DataFrame:
        """Commits by their own time, or their record's. That one of the two is before lets Delta skip files."""
        every = self._spark.read.format("delta").load(self._history.place(COMMITS.name))
        early = (f.col("commit_ts") < f.lit(until)) | (f.col("src_ts") < f.lit(until))
        timed = every.where(early).withColumn("at", f.coalesce("commit_ts", "src_ts"))
        return timed.where(f.col("at") < f.lit(until)).select(LAST_COMMITS.names)


def _last(commits: DataFrame) -> DataFrame:
    """The last commit of each series: its time is found first, for Spark would sort every commit to find a row."""
    series = list(SERIES)
    times = commits.groupBy(series).agg(f.max("at").alias("at"))
    last = f.max_by(f.struct("*"), "src_offset").alias("last")
    newest = commits.join(f.broadcast(times), [*series, "at"]).groupBy(series).agg(last)
    return newest.select("last.*").select(LAST_COMMITS.names)


def _files(made: pa.Table, table: Table) -> list[DataFile]:
    """What workers have written of that table."""
    names = [name for name in MADE.names if name not in ("table", "carried")]
    return [DataFile(**row) for row in made.filter(pc.field("table") == table.name).select(names).to_pylist()]


def _carried(made: pa.Table) -> pa.Table:
    shares = made["carried"].drop_null().to_pylist()
    return pa.concat_tables([pa.ipc.open_stream(share).read_all() for share in shares])


def us(at: datetime) -> int:
    """Microseconds since 1970."""
    return round(at.timestamp() * 1e6)


def _moment(at_us: int) -> datetime:
    return EVER + timedelta(microseconds=at_us)
