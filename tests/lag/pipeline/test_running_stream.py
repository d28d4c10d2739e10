"""A stream that runs: what others do to its topic is noticed, what others do to its tables does not matter."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import confluent_kafka.admin
import pytest
from pyspark.sql import SparkSession

from lag.cluster.connection.settings import Settings, load_settings
from lag.cluster.offsets_topic import read_offsets_topic
from lag.embedded.broker import EmbeddedKafka
from lag.errors import HistoryError
from lag.history.maintenance import MaintenanceResult, maintain
from lag.history.resume.stream_progress import NEVER, read_until
from lag.history.store import History, literal
from lag.pipeline import end_of_log
from lag.pipeline import stream as stream_module
from lag.pipeline.checkpoint import Gap, spark_checkpoint
from lag.pipeline.stream import Listeners, Source, Stream
from tests.lag.history.rows import NOON
from tests.lag.history.test_store import writer
from tests.lag.history.writer import ROWS
from tests.lag.pipeline.broker_side import NAME, commit, committing, places, records
from tests.lag.pipeline.test_stream import move_log_start

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]

EVERY = "1 second"
NOTICED_S = 120.0
COMMITS = 60
ROUNDS = 4


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


@pytest.fixture
def settings(cluster: EmbeddedKafka) -> Settings:
    commit(cluster.bootstrap_servers, "first", {("orders", partition): 1 for partition in range(COMMITS)})
    return load_settings(cluster.bootstrap_servers, None, {})


@pytest.fixture
def stream(spark: SparkSession, history: History, settings: Settings) -> Stream:
    return Stream(spark, history, Source.of(settings))


def found(history: History, cluster: str) -> list[tuple[int, int]]:
    """Where the cluster's commits come from."""
    where = f"cluster = {literal(cluster)}"
    rows = history.query(f"SELECT src_partition, src_offset FROM commits WHERE {where}", "commits").to_pylist()
    return sorted((row["src_partition"], row["src_offset"]) for row in rows)


def once(then: Callable[[], object]) -> Callable[..., Any]:
    """A listener that does it the first time."""
    first = iter([then])
    return lambda *_: next(first, lambda: None)()


def test_records_that_are_deleted_while_a_stream_runs_are_reported_once_and_all_others_recorded(
    spark: SparkSession, cluster: EmbeddedKafka, settings: Settings, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first of many batches the log of the longest partition begins where its last record is.

    Spark has fetched a little ahead, so some of what is reported as deleted is there.
    """
    for number in range(10):
        commit(cluster.bootstrap_servers, "first", {("orders", partition): number for partition in range(COMMITS)})
    truth = places(records(cluster.bootstrap_servers), commits=True)
    ends = read_offsets_topic(settings).last_stable
    partition = max(range(len(ends)), key=lambda number: ends[number])
    reported: list[Gap] = []
    delete = once(lambda: move_log_start(cluster, partition, ends[partition] - 1))
    monkeypatch.setattr(stream_module, "BATCH_OFFSETS", COMMITS)
    outcome = Stream(spark, history, frugal(settings)).run(
        once=True, listeners=Listeners(batch=delete, gap=reported.append)
    )
    assert (tuple(reported), reported[-1].until) == (outcome.gaps, ends[partition] - 1)
    lost = [(partition, offset) for gap in reported for offset in range(gap.since, gap.until)]
    assert len(lost) == len(set(lost))
    there = found(history, outcome.cluster)
    assert set() < set(truth) - set(there) <= set(lost)
    assert sorted(set(there) & set(truth)) == there


def frugal(settings: Settings) -> Source:
    """It fetches the records of one commit at a time."""
    source = Source.of(settings)
    return replace(source, options={**source.options, "kafka.max.partition.fetch.bytes": "100"})


def run_on(stream: Stream, history: History, then: Callable[[], object]) -> None:
    """On and on; `then` when it has come to the end, and the stream shall notice it."""
    cluster, deadline = stream.outcome.cluster, time.monotonic() + NOTICED_S

    def idle() -> None:
        if read_until(history)[cluster] > NEVER:
            then()
        assert time.monotonic() < deadline, "the stream goes on"

    stream.run(once=False, listeners=Listeners(idle=idle), every=EVERY)


@pytest.mark.parametrize("found_by", ["a look", "a batch"])
def test_another_cluster_behind_the_same_address_ends_a_stream_before_anything_of_it_is_recorded(
    spark: SparkSession, cluster: EmbeddedKafka, settings: Settings, history: History, stream: Stream, found_by: str
) -> None:
    """Nobody commits there, so there is no batch; or there is one before the next look. Then it is ours again."""
    id_, before = stream.outcome.cluster, list[Any]()

    def change() -> None:
        other = replace(read_offsets_topic(settings), cluster_id="other")
        patch.setattr(stream_module, "read_offsets_topic", lambda *_: other)
        before.extend([found(history, id_), read_until(history)])
        if found_by == "a batch":
            commit(cluster.bootstrap_servers, "stranger", {("orders", 0): 1})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(end_of_log, "ASK_EVERY_S", 0.5 if found_by == "a look" else 3600.0)
        with pytest.raises(HistoryError, match="but this is cluster other") as refused:
            run_on(stream, history, once(change))
    assert refused.value.hint == "Use another --history for this cluster, or connect to that one"
    assert before == [found(history, id_), read_until(history)]
    assert planned(history) == []
    Stream(spark, history, Source.of(settings)).run(once=True, listeners=Listeners())
    assert found(history, id_) == places(records(cluster.bootstrap_servers), commits=True)


def planned(history: History) -> list[str]:
    """What Spark keeps of batches that it has planned and not done."""
    begun, done = (
        {file.name for file in (Path(spark_checkpoint(history)) / name).iterdir()} for name in ("offsets", "commits")
    )
    return sorted(begun - done)


def test_a_topic_recreated_while_a_stream_runs_ends_it(
    cluster: EmbeddedKafka, history: History, stream: Stream
) -> None:
    servers, rows = cluster.bootstrap_servers, []

    def recreate() -> None:
        rows.extend(found(history, stream.outcome.cluster))
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": servers})
        admin.delete_topics([NAME])[NAME].result()
        commit(servers, "anew", {("orders", partition): 1 for partition in range(COMMITS)})

    with pytest.raises(HistoryError, match=f"{NAME} was deleted and created again .* Use a new --history"):
        run_on(stream, history, once(recreate))
    assert found(history, stream.outcome.cluster) == rows


class EnoughError(Exception):
    """Ends a stream."""


def test_a_stream_a_process_that_appends_and_compaction_on_one_table_lose_nothing_and_double_nothing(
    spark: SparkSession, cluster: EmbeddedKafka, settings: Settings, history: History, stream: Stream
) -> None:
    """Until each was at it a few times; the process's day is over, so it is sorted, the stream's is put together.

    The stream is ended in the middle, and started again.
    """
    servers = cluster.bootstrap_servers
    with looking_after(history) as cared, writer(history.root, "meanwhile", "-") as process, committing(servers):

        def idle() -> None:
            if stream.outcome.batches >= ROUNDS and len(cared) >= ROUNDS:
                raise EnoughError

        with pytest.raises(EnoughError):
            stream.run(once=False, listeners=Listeners(idle=idle), every=EVERY)
        appends = int(process.communicate(timeout=60)[0])
    Stream(spark, history, Source.of(settings)).run(once=True, listeners=Listeners())
    assert found(history, stream.outcome.cluster) == places(records(servers), commits=True)
    assert len(found(history, "c1")) == appends * ROWS


@contextmanager
def looking_after(history: History) -> Iterator[list[MaintenanceResult]]:
    """MaintenanceResult of `commits` again and again, in a thread; what each did that had something to do."""
    stopping, done = threading.Event(), list[MaintenanceResult]()

    def work() -> None:
        while not stopping.wait(0.1):
            cared = maintain(history, "commits", NOON + timedelta(days=2))
            if cared is not None and cared.files_after < cared.files_before:
                done.append(cared)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield done
    finally:
        stopping.set()
        thread.join()
