"""The driver's part of lag by the minute, hour and topic: assigns files to workers and commits what they write."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from lag.history.resume.rollup_progress import LAST_COMMITS, RollupProgress, load_progress, save_progress
from lag.history.rewrites.file_replacement import StoredFile
from lag.history.rewrites.span_replacement import files_in_span, replace_span
from lag.history.schemas import COMMITS, END_OFFSETS, LAG_1H, LAG_1M, LAG_GROUP_TOPIC_1M, Table
from lag.history.store import History
from lag.pipeline.changed_files import TIMES
from lag.pipeline.columns import SERIES
from lag.pipeline.partition_worker import CARRIED, LagJob, Times
from lag.pipeline.shares import FilePart, computed, file_parts
from lag.pipeline.topic_worker import SEEN, TopicJob
from lag.pipeline.worker_results import RESULTS, files_of, rows_of
from lag.times import from_micros, micros
from lag.verdict.window.samples import LOOKBACK_US

SHARE_ROWS = 16_000_000
"""Samples and commits in one share: somewhat more than a gigabyte."""

LOOKBACK = timedelta(microseconds=LOOKBACK_US)
LAG_TABLES = (LAG_1M, LAG_1H, LAG_GROUP_TOPIC_1M)


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The minutes of [since, until). The next span is expected to begin at `next_since`, or later.

    For a cluster in `read_until`, later samples are ignored. `owners`: every change of owner (`group_worker.OWNERS`).
    """

    since: datetime
    until: datetime
    next_since: datetime
    read_until: Mapping[str, datetime]
    owners: pa.Table


class LagTables:
    """Computes the tables LAG_TABLES. Raises HistoryError.

    The last commits of each series are kept, so the next run reads only newer commits.
    """

    def __init__(self, spark: SparkSession, history: History) -> None:
        self._spark, self._history = spark, history
        self._rolled = load_progress(history)

    @property
    def until(self) -> Mapping[str, datetime]:
        """For each cluster the time before which all minutes are computed."""
        return {} if self._rolled is None else self._rolled.until

    @property
    def files(self) -> frozenset[str]:
        """The recorded files that are already rolled up (`lag.pipeline.changed_files`)."""
        return frozenset() if self._rolled is None else self._rolled.files

    def compute(self, span: Span) -> tuple[dict[str, int], pa.Table]:
        """Compute the minutes of the span again: rows by table, and the lag of groups by minute (`SEEN_SCHEMA`)."""
        back, known = span.since - LOOKBACK, self._known(span)
        ends = self._stored(END_OFFSETS, back, span.until)
        commits = self._stored(COMMITS, known.known_until, span.until)
        job = self._job(span, known, sum(file.rows or 0 for file in (*ends, *commits)))
        lag = self._computed(job, job.shares, [*file_parts(END_OFFSETS.name, ends), *file_parts(COMMITS.name, commits)])
        minutes = [FilePart(LAG_1M.name, file.path) for file in files_of(lag, LAG_1M.name)]
        topics = self._computed(TopicJob(self._history.root), job.shares, minutes)
        results = pa.concat_tables([lag, topics])
        for table in LAG_TABLES:
            replace_span(self._history, table.name, files_of(results, table.name), span.since, span.until)
        self._rolled = RollupProgress(self.until, from_micros(job.carry_us), rows_of(lag, CARRIED), self.files)
        rows = {table.name: sum(file.rows for file in files_of(results, table.name)) for table in LAG_TABLES}
        return rows, rows_of(topics, SEEN)

    def done(self, until: Mapping[str, datetime]) -> None:
        """Store that all minutes before these times are computed, and later ones not."""
        if self._rolled is not None:
            self._rolled = replace(self._rolled, until={**self.until, **until})
            save_progress(self._history, self._rolled)

    def saw(self, files: Iterable[str]) -> None:
        """Store that these files are rolled up."""
        if self._rolled is not None:
            self._rolled = replace(self._rolled, files=frozenset(files))
            save_progress(self._history, self._rolled)

    def _job(self, span: Span, known: RollupProgress, rows: int) -> LagJob:
        return LagJob(
            root=self._history.root,
            shares=max(self._spark.sparkContext.defaultParallelism, -(-rows // SHARE_ROWS)),
            since_us=micros(span.since),
            times=Times(
                look_back_us=micros(span.since - LOOKBACK),
                known_us=micros(known.known_until),
                until_us=micros(span.until),
                read_until_us={cluster: micros(at) for cluster, at in span.read_until.items()},
            ),
            known=known.commits,
            carry_us=max(micros(known.known_until), micros(span.next_since - LOOKBACK)),
            owners=span.owners,
        )

    def _computed(self, job: LagJob | TopicJob, shares: int, parts: Sequence[FilePart]) -> pa.Table:
        """The results of the workers (`RESULTS`)."""
        return pa.Table.from_batches(
            computed(self._spark.sparkContext, job.shuffle(), shares, parts, job.compute), RESULTS
        )

    def _stored(self, of: Table, since: datetime, until: datetime) -> list[StoredFile]:
        """The files that may have a row in the span."""
        table = DeltaTable(self._history.table_path(of.name))
        found = (file for column in TIMES[of.name] for file in files_in_span(table, column, since, until))
        return list({file.path: file for file in found}.values())

    def _known(self, span: Span) -> RollupProgress:
        """The last commits before the look-back, or before an earlier time.

        Stored ones are used only if they cover all clusters of the span, because a new stream begins with old commits.
        """
        until = span.since - LOOKBACK
        clusters = {name for name, at in span.read_until.items() if at > span.since}
        if self._rolled is not None and self._rolled.known_until <= until and clusters <= self.until.keys():
            return self._rolled
        return RollupProgress({}, until, _last(self._before(until)).toArrow().cast(LAST_COMMITS))

    def _before(self, until: datetime) -> DataFrame:
        """Commits by commit time, else record time. The condition on both columns lets Delta skip files."""
        every = self._spark.read.format("delta").load(self._history.table_path(COMMITS.name))
        early = (f.col("commit_ts") < f.lit(until)) | (f.col("src_ts") < f.lit(until))
        timed = every.where(early).withColumn("at", f.coalesce("commit_ts", "src_ts"))
        return timed.where(f.col("at") < f.lit(until)).select(LAST_COMMITS.names)


def _last(commits: DataFrame) -> DataFrame:
    """The last commit of each series. Its time is found first, because otherwise Spark would sort all commits."""
    series = list(SERIES)
    times = commits.groupBy(series).agg(f.max("at").alias("at"))
    last = f.max_by(f.struct("*"), "src_offset").alias("last")
    newest = commits.join(f.broadcast(times), [*series, "at"]).groupBy(series).agg(last)
    return newest.select("last.*").where("committed >= 0").select(LAST_COMMITS.names)
