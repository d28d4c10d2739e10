"""Two million records of `__consumer_offsets` into Delta, beside Spark's bare scan of the same topic.

The records are what a broker writes for commits, byte for byte, each in the partition of its group. A producer puts
them into the topic of an embedded broker: as many OffsetCommit requests would take longer than all the rest. The
session is warm: each of both is done once before it is timed, and the two take turns.
"""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from statistics import median

import confluent_kafka
from pyspark.sql import SparkSession

from assignors.javahash import string_hash
from assignors.offsets_partition import OFFSETS_TOPIC
from benchmarks import fill
from benchmarks.measure import load
from benchmarks.offset_records import records
from benchmarks.report import Row
from lag.cluster.connection.settings import load_settings
from lag.embedded.broker import EmbeddedKafka
from lag.history.maintenance import table_sizes
from lag.history.store import History
from lag.pipeline.ingest import COLUMNS
from lag.pipeline.kafka_options import kafka_options
from lag.pipeline.session import session
from lag.pipeline.stream import Listeners, Source, Stream

RECORDS = 2_000_000
PARTITIONS = 50
RUNS = 5
LEAST_PER_S, MOST_SCANS = 250_000, 2.5


def rows() -> Iterator[Row]:
    """The scan, the stream, and how many times the one the other takes."""
    with EmbeddedKafka(offsets_partitions=PARTITIONS) as kafka:
        fill.groups(kafka.bootstrap_servers, "first", 1, 1)  # then the broker makes the topic
        produce(kafka.bootstrap_servers, RECORDS)
        with session(cores=2) as spark:
            yield from _figures(spark, kafka.bootstrap_servers)


def produce(bootstrap: str, count: int) -> None:
    """Put this many commits where the broker would."""
    # A client of this name may write to internal topics.
    settings = {"bootstrap.servers": bootstrap, "client.id": "__admin_client", "queue.buffering.max.messages": 500_000}
    producer = confluent_kafka.Producer(settings)
    for key, value in zip(*records(count), strict=True):
        while True:
            try:
                producer.produce(OFFSETS_TOPIC, value, key, _partition(key[4 : 4 + int.from_bytes(key[2:4], "big")]))
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0


@cache
def _partition(group: bytes) -> int:
    """Where a group's records are (Kafka's GroupCoordinatorService.partitionFor)."""
    return abs(string_hash(group.decode())) % PARTITIONS


def _figures(spark: SparkSession, bootstrap: str) -> Iterator[Row]:
    runs = [(_scan(spark, bootstrap), _stream(spark, bootstrap)) for _ in range(1 + RUNS)][1:]
    scan_s = median(scan for scan, _ in runs)
    streams = [stream.took_s for _, stream in runs]
    stream_s = median(streams)
    yield _row("Spark's bare scan of the topic, into nothing", scan_s, f"median of {RUNS}; load {load()}")
    yield _row("`pipeline stream --once` into Delta", stream_s, f"goal {LEAST_PER_S:,}/s; best {min(streams):.2f} s")
    yield Row("the stream, in scans", f"{stream_s / scan_s:.2f}", f"goal: not more than {MOST_SCANS}")
    yield Row("bytes of a row of commits", f"{runs[0][1].row_bytes:.1f}", "")


def _row(what: str, taken_s: float, remark: str) -> Row:
    return Row(f"2 M records, 2 cores: {what}", f"{taken_s:.2f} s", f"{RECORDS / taken_s:,.0f} records/s; {remark}")


def _scan(spark: SparkSession, bootstrap: str) -> float:
    """Seconds that it took."""
    options = kafka_options(load_settings(bootstrap, None, {})) | {"kafka.isolation.level": "read_committed"}
    began = time.monotonic()
    records = spark.read.format("kafka").options(**options).option("subscribe", OFFSETS_TOPIC).load().select(*COLUMNS)
    records.write.format("noop").mode("overwrite").save()
    return time.monotonic() - began


@dataclass(frozen=True, slots=True)
class Streamed:
    """Seconds from the first look at the topic to the last commit, and bytes of a row of `commits`."""

    took_s: float
    row_bytes: float


def _stream(spark: SparkSession, bootstrap: str) -> Streamed:
    settings = load_settings(bootstrap, None, {})
    with tempfile.TemporaryDirectory() as folder:
        history, began = History(folder), time.monotonic()
        outcome = Stream(spark, history, Source.of(settings)).run(True, Listeners())
        took_s = time.monotonic() - began
        (commits,) = [one for one in table_sizes(history) if one.table == "commits"]
    assert commits.rows == outcome.rows["commits"] == RECORDS + 1, outcome  # and that which made the topic
    return Streamed(took_s, commits.size_bytes / commits.rows)
