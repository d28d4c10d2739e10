"""The pipeline under spark-submit on a standalone master with two workers, of one core each: `make test-cluster`."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import confluent_kafka
import pytest

from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.history.recorder import SnapshotRecorder
from lag.history.store import History
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing
from tests.cluster_spark.standalone import Standalone
from tests.lag.pipeline.broker_side import commit, create_topic, places, records, stable_groups
from tests.support.consumers import Crowd
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.spark_cluster, pytest.mark.timeout(900)]

WORKERS = 2
PARTITIONS, WRITTEN = 6, 100
COMMITTED = {f"group-{number}": 10 * number for number in range(1, 9)}
SERIES = sorted((group, partition) for group in COMMITTED for partition in range(PARTITIONS))


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedKafka]:
    """Eight groups that have read some of the 100 records of each partition, and a group with members."""
    with EmbeddedKafka(heap_mb=256, offsets_partitions=8) as kafka:
        servers = kafka.bootstrap_servers
        create_topic(servers, "orders", PARTITIONS)
        write(servers)
        for group, offset in COMMITTED.items():
            commit(servers, group, {("orders", partition): offset for partition in range(PARTITIONS)})
        create_topic(servers, "clicks", 4)
        with Crowd(servers) as crowd:
            crowd.join("librdkafka", "readers", ["clicks"], "range", 2)
            wait_until(lambda: "readers" in stable_groups(servers), 60)
            yield kafka


def write(servers: str) -> None:
    """The same number of records into each partition."""
    producer = confluent_kafka.Producer({"bootstrap.servers": servers})
    for number in range(PARTITIONS * WRITTEN):
        producer.produce("orders", b"x", partition=number % PARTITIONS)
    assert producer.flush(30) == 0


@pytest.fixture(scope="module")
def spark() -> Iterator[Standalone]:
    with Standalone(WORKERS) as made:
        yield made
    assert made.left() == []
    assert not made.folder.exists()


@dataclass(frozen=True)
class Recorded:
    """A history, and what the stream that filled it printed."""

    history: History
    args: tuple[str, ...]
    stated: Any


@pytest.fixture(scope="module")
def recorded(cluster: EmbeddedKafka, spark: Standalone) -> Recorded:
    root = str(spark.folder / "history")
    args = ("pipeline", "stream", "--once", "--history", root, "--bootstrap-server", cluster.bootstrap_servers)
    return Recorded(History(root), args, spark.submit(*args))


def polled(servers: str, history: History) -> float:
    """One poll of the collector's reader in the history; the time when its minute is over."""
    reader, recorder, now = (
        open_reader(load_settings(servers, None, {}), "test", 10.0),
        SnapshotRecorder(history),
        time.time(),
    )
    try:
        snapshot = reader.read(1, round(now * 1000))
        recorder.observe(judge(snapshot, SampleRing().append(snapshot)))
        recorder.flush()
    finally:
        reader.close()
    return (now // 60 + 1) * 60


def found(history: History, table: str) -> list[tuple[int, int]]:
    """Where the rows come from; a group event of many rows counts once."""
    distinct = "DISTINCT" if table == "group_events" else ""
    rows = history.query(f"SELECT {distinct} src_partition, src_offset FROM {table}", table).to_pylist()
    return sorted((row["src_partition"], row["src_offset"]) for row in rows)


def minutes(history: History) -> list[dict[str, Any]]:
    of = "topic = 'orders' ORDER BY minute, group_id, partition"
    rows: list[dict[str, Any]] = history.query(f"SELECT * FROM lag_1m WHERE {of}", "lag_1m").to_pylist()
    return rows


def test_the_stream_records_each_commit_of_the_broker_once_and_both_workers_take_part(
    cluster: EmbeddedKafka, spark: Standalone, recorded: Recorded
) -> None:
    history, truth = recorded.history, records(cluster.bootstrap_servers)
    assert found(history, "commits") == places(truth, commits=True)
    assert found(history, "group_events") == places(truth, commits=False)
    assert recorded.stated["rows"]["commits"] == len(SERIES)
    assert set(spark.tasks()[0]) == {str(number) for number in range(WORKERS)}
    again = spark.submit(*recorded.args)
    assert again["rows"] == {"commits": 0, "group_events": 0, "decode_errors": 0}
    assert found(history, "commits") == places(truth, commits=True)


def test_the_roll_up_has_the_lag_of_every_series_and_running_again_adds_nothing(
    cluster: EmbeddedKafka, spark: Standalone, recorded: Recorded
) -> None:
    history = recorded.history
    over = polled(cluster.bootstrap_servers, history)
    time.sleep(max(0.0, over - time.time()))
    spark.submit(*recorded.args)  # the roll-up goes as far as the stream has read
    args = ("pipeline", "rollup", "--once", "--history", history.root)
    done = spark.submit(*args)
    first = minutes(history)
    assert [(row["group_id"], row["partition"]) for row in first if row["samples"]] == SERIES
    assert [row["lag_last"] for row in first if row["samples"]] == [WRITTEN - COMMITTED[group] for group, _ in SERIES]
    assert set(spark.tasks()[-1]) == {str(number) for number in range(WORKERS)}
    assert done["rows"]["lag_1m"] == len(first)
    again = spark.submit(*args)
    assert (set(again["rows"].values()), minutes(history)) == ({0}, first)
