"""The stream on a real broker: every record once, whatever happens; what cannot be right is refused or told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lag.cluster.offsets_topic import read_offsets_topic
from lag.cluster.settings import load_settings
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ConnectError, HistoryError
from lag.history.store import History
from lag.pipeline import stream as stream_module
from lag.pipeline.checkpoint import FOLDER
from lag.pipeline.kafka_options import kafka_options
from lag.pipeline.stream import Outcome, Progress, Stream
from tests.spark.broker_side import commit, create_topic, places, records, stable_groups
from tests.support.consumers import Crowd
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]

Run = Callable[[], Outcome]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


@pytest.fixture
def once(spark: SparkSession, cluster: EmbeddedKafka, history: History) -> Run:
    """Read what is there into the history of this test."""

    def run() -> Outcome:
        settings = load_settings(cluster.bootstrap_servers, None, {})
        made = Stream(spark, history, read_offsets_topic(settings), kafka_options(settings))
        return made.run(once=True, tell=lambda _: None)

    return run


@pytest.fixture(autouse=True)
def something_is_there(cluster: EmbeddedKafka) -> None:
    commit(cluster.bootstrap_servers, "first", {("orders", 0): 1})


def found(history: History, table: str) -> list[tuple[int, int]]:
    """Where the rows of the table come from; a group event of many rows counts once."""
    distinct = "DISTINCT" if table == "group_events" else ""
    rows = history.query(f"SELECT {distinct} src_partition, src_offset FROM {table}", table).to_pylist()
    return sorted((row["src_partition"], row["src_offset"]) for row in rows)


def test_every_commit_and_event_that_the_broker_has_is_there_once(
    cluster: EmbeddedKafka, history: History, once: Run
) -> None:
    servers = cluster.bootstrap_servers
    for number in range(1, 4):
        commit(servers, "batch-job", {("orders", partition): 10 * number for partition in range(6)})
    with Crowd(servers) as crowd:
        create_topic(servers, "clicks", 4)
        crowd.join("librdkafka", "classic", ["clicks"], "range", 2)
        crowd.join("librdkafka", "modern", ["clicks"], "consumer")
        wait_until(lambda: {"classic", "modern"} <= stable_groups(servers), 60)
    outcome = once()
    truth = records(servers)
    assert found(history, "commits") == places(truth, commits=True)
    assert found(history, "group_events") == places(truth, commits=False)
    assert outcome.rows["commits"] == len(places(truth, commits=True))
    assert (outcome.rows["decode_errors"], outcome.unknown, outcome.gaps) == (0, {}, ())
    again = once()
    assert (dict(again.rows), found(history, "commits")) == (
        {"commits": 0, "group_events": 0, "decode_errors": 0},
        places(truth, commits=True),
    )


def test_what_was_there_before_the_first_start_is_marked(cluster: EmbeddedKafka, history: History, once: Run) -> None:
    commit(cluster.bootstrap_servers, "marked", {("orders", 0): 1})
    once()
    commit(cluster.bootstrap_servers, "marked", {("orders", 0): 2})
    once()
    rows = history.query(
        "SELECT committed, bootstrap FROM commits WHERE group_id = 'marked' ORDER BY committed", "commits"
    )
    assert rows.to_pylist() == [{"committed": 1, "bootstrap": True}, {"committed": 2, "bootstrap": False}]


def test_a_batch_that_fails_half_way_is_neither_lost_nor_recorded_twice(
    cluster: EmbeddedKafka, history: History, once: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commits of the batch are in, its group events are not, when it ends: then it is repeated."""
    commit_files = History.commit

    def broken(self: History, name: str, *rest: Any) -> None:
        if name == "group_events":
            raise HistoryError("the disk is full", "free some")
        commit_files(self, name, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(History, "commit", broken)
        with pytest.raises(HistoryError, match="the disk is full"):
            once()
    truth = records(cluster.bootstrap_servers)
    assert (found(history, "commits"), found(history, "group_events")) == (places(truth, commits=True), [])
    once()
    assert found(history, "commits") == places(truth, commits=True)
    assert found(history, "group_events") == places(truth, commits=False)


def test_progress_is_told_with_what_is_left(
    spark: SparkSession, cluster: EmbeddedKafka, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "BATCH_OFFSETS", 20)
    commit(cluster.bootstrap_servers, "many", {("orders", partition): 1 for partition in range(60)})
    settings = load_settings(cluster.bootstrap_servers, None, {})
    told: list[Progress] = []
    made = Stream(spark, history, read_offsets_topic(settings), kafka_options(settings))
    outcome = made.run(once=True, tell=told.append)
    assert outcome.batches >= 3
    assert [one.batch for one in told] == list(range(outcome.batches))
    assert sum(one.records for one in told) == outcome.records
    assert (told[-1].behind, told[0].behind > told[-2].behind > 0) == (0, True)


def test_the_checkpoint_of_another_cluster_is_refused(history: History, once: Run) -> None:
    once()
    run = Path(history.root) / FOLDER / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"cluster_id": "other"}))
    with pytest.raises(HistoryError, match=r"belongs to cluster other, and this is cluster .* Name another --history"):
        once()


def test_a_topic_that_was_made_anew_is_refused(history: History, once: Run) -> None:
    once()
    run = Path(history.root) / FOLDER / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"topic_id": "6b2f8a10-3c4d-4e5f-8a9b-0c1d2e3f4a5b"}))
    with pytest.raises(HistoryError, match="__consumer_offsets was deleted and made anew"):
        once()


def test_a_history_whose_checkpoint_is_gone_is_refused(history: History, once: Run) -> None:
    once()
    (Path(history.root) / FOLDER / "run.json").unlink()
    with pytest.raises(HistoryError, match="all would be recorded twice"):
        once()


def test_records_that_were_deleted_unread_are_told(cluster: EmbeddedKafka, history: History, once: Run) -> None:
    """Between two runs the log's beginning moves past where the first one ended."""
    once()
    servers = cluster.bootstrap_servers
    for number in range(20):
        commit(servers, "deleted", {("orders", partition): number for partition in range(10)})
    ends = read_offsets_topic(load_settings(servers, None, {})).last_stable
    partition = max(range(len(ends)), key=lambda number: ends[number])
    move_log_start(cluster, partition, ends[partition] - 1)
    outcome = once()
    assert [(gap.partition, gap.until) for gap in outcome.gaps] == [(partition, ends[partition] - 1)]
    assert str(outcome.gaps[0]).endswith("were deleted before they were read")
    commit(servers, "after", {("orders", 0): 1})
    assert once().gaps == ()
    assert len(history.query("SELECT 1 FROM commits WHERE group_id = 'after'", "commits")) == 1


def move_log_start(cluster: EmbeddedKafka, partition: int, offset: int) -> None:
    """As DeleteRecords would, which brokers refuse for this topic: while the broker is down, in its own file."""
    (broker,) = cluster.brokers
    broker.kill()
    (file,) = cluster.folder.glob("data-1/log-start-offset-checkpoint")
    file.write_text(f"0\n1\n__consumer_offsets {partition} {offset}\n")
    broker.restart()
    wait_until(lambda: readable(cluster.bootstrap_servers))


def readable(servers: str) -> bool:
    try:
        return bool(read_offsets_topic(load_settings(servers, None, {})))
    except ConnectError:
        return False
