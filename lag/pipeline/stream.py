"""Records `__consumer_offsets` in `commits`, `group_events` and `decode_errors`, exactly once (Structured Streaming).

A batch is a range of offsets that Spark stores before it reads it. Its files become part of a table in one Delta commit
with the batch's number, so a batch that is repeated after a crash skips the tables that have it. No state is kept
between batches.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Event
from typing import Any

import pyarrow as pa
from deltalake import Transaction
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.connection.settings import Settings
from lag.cluster.offsets_topic import OffsetsTopic, read_offsets_topic
from lag.errors import ConnectError, GroupscopeError
from lag.history.resume.stream_progress import NEVER, mark_read
from lag.history.store import History, history_error
from lag.model import INTERNAL_GROUP_PREFIX
from lag.pipeline.checkpoint import (
    Gap,
    OtherTopic,
    Run,
    batch_end,
    forget_planned,
    gaps,
    open_run,
    position,
    refuse_other_topic,
    spark_checkpoint,
)
from lag.pipeline.end_of_log import LogEnd, ReadMarks
from lag.pipeline.ingest import COLUMNS, OURS, RECORDS, STREAMED, UNKNOWN, Job, ingest
from lag.pipeline.kafka_options import kafka_options
from lag.pipeline.worker_results import RESULTS, counts_of, files_of

BATCH_OFFSETS = 3_000_000
EVERY = "10 seconds"
LOOK_S = 0.2
SILENT_S = 20.0
"""After this time without progress the brokers are asked, because Spark's consumers wait for them silently."""

ANSWER_S = 10.0
AGAIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress after a batch: its number and records, the rate, the offsets left, and the time that they will take."""

    batch: int
    records: int
    records_per_s: float
    behind: int
    eta_s: float | None


@dataclass(slots=True)
class Outcome:
    """What a run of the stream did: records read, those of groupscope's own readers (`ours`), and rows added by table.

    `unknown`: record type -> skipped records. `gaps`: offsets that could no longer be read.
    """

    cluster: str
    gaps: tuple[Gap, ...] = ()
    batches: int = 0
    records: int = 0
    ours: int = 0
    unknown: Counter[int] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(STREAMED, 0)))
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a stream: settings of the cluster, its topic, and options of Spark's Kafka source."""

    settings: Settings
    topic: OffsetsTopic
    end: LogEnd
    options: Mapping[str, str]

    @classmethod
    def of(cls, settings: Settings) -> "Source":
        """Read the topic. Raises ConnectError, and ConfigError for a login that Spark does not support."""
        at, topic = datetime.now(UTC), read_offsets_topic(settings)
        return cls(settings, topic, LogEnd(at, topic.log_end, topic.last_stable), kafka_options(settings))

    def ask(self) -> OffsetsTopic:
        """The topic now. Raises ConnectError if the cluster does not answer."""
        return read_offsets_topic(self.settings, ANSWER_S)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Callbacks for each batch, each gap, and brokers that do not answer; `idle` is called a few times a second."""

    batch: Callable[[Progress], None] = lambda _: None
    gap: Callable[[Gap], None] = lambda _: None
    trouble: Callable[[str], None] = lambda _: None
    idle: Callable[[], None] = lambda: None


class Stream:
    """The stream of one cluster into one history.

    Raises HistoryError if the history cannot be written, or is of another cluster or a newer groupscope.
    """

    def __init__(self, spark: SparkSession, history: History, source: Source) -> None:
        self._spark, self._history, self._source = spark, history, source
        topic = source.topic
        self._run: Run = open_run(history, topic)
        self._ends = dict(enumerate(topic.last_stable))
        self._position = position(history)
        self._read_marks = ReadMarks(history, topic.cluster_id, source.end, self._log_end)
        if not self._position:  # nothing can be judged until it has reached the end of the topic
            mark_read(history, topic.cluster_id, NEVER)
        self.outcome = Outcome(topic.cluster_id)
        self._failure: GroupscopeError | None = None
        self._stopping = Event()
        for name in STREAMED:
            history.create(name)

    def run(self, once: bool, listeners: Listeners, every: str = EVERY) -> Outcome:
        """Read what the topic has now (`once`), or a batch every `every` until interrupted.

        Raises HistoryError, also if the topic is created again meanwhile, and ConnectError if the brokers do not
        answer: with `once` after half a minute, else when Spark gives up.
        """
        began = time.monotonic()
        query = self._start({"availableNow": True} if once else {"processingTime": every})
        try:
            self._follow_and_stop(query, once, listeners)
        except OtherTopic:
            forget_planned(self._history, max(map(self._committed, STREAMED)))
            raise
        finally:
            self.outcome.took_s = time.monotonic() - began
        return self.outcome

    def _follow_and_stop(self, query: StreamingQuery, once: bool, listeners: Listeners) -> None:
        try:
            self._follow(query, once, listeners)
        except StreamingQueryException as error:
            raise self._cause(str(error)) from error
        finally:
            self._stopping.set()
            _stop(query)

    def _start(self, trigger: dict[str, Any]) -> StreamingQuery:
        return (
            self._records()
            .select(*COLUMNS)
            .writeStream.foreachBatch(self._process_batch)
            .option("checkpointLocation", spark_checkpoint(self._history))
            .trigger(**trigger)
            .start()
        )

    def _records(self) -> DataFrame:
        return (
            self._spark.readStream.format("kafka")
            .options(**self._source.options)
            .option("subscribe", OFFSETS_TOPIC)
            .option("startingOffsets", "earliest")
            .option("failOnDataLoss", "false")  # gaps are reported, and later records are still read
            .option("groupIdPrefix", f"{INTERNAL_GROUP_PREFIX}pipeline")
            .option("kafka.isolation.level", "read_committed")
            .option("maxOffsetsPerTrigger", BATCH_OFFSETS)
            .load()
        )

    def _follow(self, query: StreamingQuery, once: bool, listeners: Listeners) -> None:
        reported, gaps_reported, silence = -1, 0, _Silence()
        active = True
        while active:
            active = not query.awaitTermination(LOOK_S)  # type: ignore[arg-type]  # fractions of a second work
            progress = query.recentProgress
            for one in progress:
                if one.batchId > reported and one.numInputRows:
                    reported = one.batchId
                    listeners.batch(_progress(json.loads(one.json), self._ends))
            for gap in self.outcome.gaps[gaps_reported:]:
                gaps_reported += 1
                listeners.gap(gap)
            if active and silence.lasts(progress[-1].timestamp if progress else ""):
                self._ask(once, listeners)
            if held := self._read_marks.follow(self._position):
                listeners.trouble(_held_back(held))
            listeners.idle()

    def _ask(self, once: bool, listeners: Listeners) -> None:
        try:
            self._topic_now()
        except ConnectError as error:
            if once:
                raise
            listeners.trouble(str(error))

    def _log_end(self) -> LogEnd:
        at = datetime.now(UTC)
        topic = self._topic_now()
        return LogEnd(at, topic.log_end, topic.last_stable)

    def _topic_now(self) -> OffsetsTopic:
        """Raises ConnectError, or OtherTopic if it is no longer the topic of this stream."""
        topic = self._source.ask()
        refuse_other_topic(self._history, self._run, topic)
        return topic

    def _topic_after_reading(self) -> OffsetsTopic:
        """Waits for the brokers, like Spark; `_ask` reports meanwhile that they do not answer."""
        while True:
            try:
                return self._topic_now()
            except ConnectError:
                if self._stopping.wait(AGAIN_S):
                    raise

    def _cause(self, message: str) -> GroupscopeError:
        """Why the stream ended; unavailable brokers or another topic explain more than the error that they cause."""
        if self._failure is not None:
            return self._failure
        try:
            self._topic_now()
        except GroupscopeError as error:
            return error
        return _explained(self._history, message)

    def _process_batch(self, batch: DataFrame, number: int) -> None:
        try:
            self._record(batch, number)
        except GroupscopeError as error:
            self._failure = error
            raise
        except PySparkException as error:
            self._failure = _explained(self._history, str(error))
            raise

    def _record(self, batch: DataFrame, number: int) -> None:
        """Topic ids are unique: if the topic has our id after the batch was read, the whole batch is from our topic."""
        lacking = tuple(name for name in STREAMED if self._committed(name) < number)
        results = self._read(batch, lacking)
        topic = self._topic_after_reading()
        self._write(results, lacking, number)
        until = batch_end(self._history, number)
        self.outcome.gaps += gaps(self._position, until, topic.log_start)
        self._position = until

    def _read(self, batch: DataFrame, lacking: tuple[str, ...]) -> pa.Table:
        job = Job(self._history.root, self._run.cluster_id, self._run.bootstrap_until, lacking)
        cores = self._spark.sparkContext.defaultParallelism
        return batch.coalesce(cores).mapInArrow(partial(ingest, job), from_arrow_schema(RESULTS)).toArrow()

    def _write(self, results: pa.Table, lacking: tuple[str, ...], number: int) -> None:
        for name in lacking:
            files = files_of(results, name)
            if files:
                self._history.commit(name, files, Transaction(self._run.run_id, number))
            self.outcome.rows[name] += sum(file.rows for file in files)
        self._count(counts_of(results))

    def _committed(self, name: str) -> int:
        number = self._history.committed(name, self._run.run_id)
        return -1 if number is None else number

    def _count(self, counts: Counter[str]) -> None:
        self.outcome.batches += 1
        self.outcome.records += counts.pop(RECORDS, 0)
        self.outcome.ours += counts.pop(OURS, 0)
        self.outcome.unknown += Counter({int(kind.removeprefix(UNKNOWN)): rows for kind, rows in counts.items()})


class _Silence:
    """Detects that Spark reports no progress for SILENT_S, and again after every further SILENT_S."""

    def __init__(self) -> None:
        self._last, self._since = "", time.monotonic()

    def lasts(self, newest: str) -> bool:
        now = time.monotonic()
        if newest == self._last and now - self._since < SILENT_S:
            return False
        silent, self._last, self._since = newest == self._last, newest, now
        return silent


def _held_back(partitions: Sequence[int]) -> str:
    names = ", ".join(f"{OFFSETS_TOPIC}-{number}" for number in partitions)
    return (
        f"A transaction in {names} has been open for over a minute: commits after its start cannot be read, and the "
        "history ends there. `kafka-transactions.sh find-hanging` finds one that will never end"
    )


def _stop(query: StreamingQuery) -> None:
    """Stop the query; one that waits for a broker ends only with the session."""
    with suppress(Py4JJavaError, PySparkException):
        query.stop()


def _progress(report: Mapping[str, Any], ends: Mapping[int, int]) -> Progress:
    """The progress from Spark's report; `ends` are used for partitions without a latest offset in it."""
    source = report["sources"][0]
    done, latest = source["endOffset"][OFFSETS_TOPIC], (source["latestOffset"] or {}).get(OFFSETS_TOPIC, {})
    left = [latest.get(partition, ends.get(int(partition), 0)) - offset for partition, offset in done.items()]
    behind = sum(number for number in left if number > 0)
    rate = report.get("processedRowsPerSecond") or 0.0
    return Progress(report["batchId"], report["numInputRows"], rate, behind, behind / rate if rate else None)


def _explained(history: History, message: str) -> GroupscopeError:
    """The cause of a failed batch, from Spark's long error message."""
    kafka = next((line.strip() for line in message.splitlines() if "org.apache.kafka.common.errors" in line), None)
    if kafka is not None:
        reason = kafka.partition("org.apache.kafka.common.errors.")[2]
        return ConnectError(
            f"{OFFSETS_TOPIC} cannot be read: {reason}", "Check that the cluster is running; start again to continue"
        )
    return history_error(history.root, message)
