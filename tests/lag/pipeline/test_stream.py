"""The stream on a real broker: every record once, whatever happens; what cannot be right is refused or reported."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata
from pyspark.sql import SparkSession

from lag.cluster.connection.settings import load_settings
from lag.cluster.offsets_log import open_offsets_log
from lag.cluster.offsets_topic import read_offsets_topic
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ConnectError, HistoryError
from lag.generations.recorded import RecordedGeneration
from lag.generations.recorded.history import stored_generations
from lag.generations.tail import Tail
from lag.history.resume.stream_progress import NEVER, read_until
from lag.history.store import History
from lag.pipeline import stream as stream_module
from lag.pipeline.checkpoint import FOLDER
from lag.pipeline.stream import Listeners, Outcome, Progress, Source, Stream
from tests.lag.pipeline.broker_side import (
    commit,
    create_topic,
    members_of,
    places,
    records,
    stable_groups,
    topic_names,
)
from tests.support.consumers import Crowd
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]

BEHIND = "behind-a-transaction"
Run = Callable[[], Outcome]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


@pytest.fixture
def once(spark: SparkSession, cluster: EmbeddedKafka, history: History) -> Run:
    """Read what is there into the history of this test."""

    def run() -> Outcome:
        made = Stream(spark, history, Source.of(load_settings(cluster.bootstrap_servers, None, {})))
        return made.run(once=True, listeners=Listeners())

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
    begun = datetime.now(UTC)
    outcome = once()
    assert begun < read_until(history)[outcome.cluster] < datetime.now(UTC)
    truth = records(servers)
    assert found(history, "commits") == places(truth, commits=True)
    assert found(history, "group_events") == places(truth, commits=False)
    assert outcome.rows["commits"] == len(places(truth, commits=True))
    assert (outcome.rows["decode_errors"], outcome.unknown, outcome.gaps) == (0, {}, ())
    begun = datetime.now(UTC)
    again = once()
    assert (dict(again.rows), found(history, "commits")) == (
        {"commits": 0, "group_events": 0, "decode_errors": 0},
        places(truth, commits=True),
    )
    assert begun < read_until(history)[again.cluster] < datetime.now(UTC)


def test_generations_of_the_history_are_those_that_the_live_tail_knows(
    cluster: EmbeddedKafka, history: History, once: Run
) -> None:
    servers = cluster.bootstrap_servers
    settings = load_settings(servers, None, {})
    create_topic(servers, "views", 4)
    with Crowd(servers) as crowd:
        for number in range(1, 3):
            crowd.join("librdkafka", "told-classic", ["views"], "range")
            crowd.join("librdkafka", "told-modern", ["views"], "consumer")
            wait_until(lambda: settled(servers, number), 60)  # noqa: B023
    once()
    names = topic_names(servers, "views")
    tail = Tail("test", lambda: open_offsets_log(settings))
    wait_until(lambda: tail.round() is not None and tail.problem("told-modern") is None, 60)
    id_ = read_offsets_topic(settings).cluster_id
    for group in ("told-classic", "told-modern"):
        live = tail.recorded(group)
        assert len(live) >= 3
        found = stored_generations(history, id_, group, names, datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC))
        assert [documented(one) for one in found] == [documented(one) for one in live]
    tail.stop()


def documented(one: RecordedGeneration) -> dict[str, Any]:
    """Everything that it says; members by their ids, partitions as a plain list."""
    made = one.generation
    plans = [{name: list(tps) for name, tps in plan.by_member.items()} for plan in (made.before, made.after)]
    times = (made.at_ms, one.began_ms, one.settled_ms)
    members = [(m.member_id, m.topics, list(m.owned)) for m in made.members]
    return {"number": made.number, "event": made.event, "plans": plans, "times": times, "members": members,
            "steps": one.steps, "skipped": one.skipped, "assignor": made.assignor, "topics": made.topics}  # fmt: skip


def settled(servers: str, members: int) -> bool:
    """Whether both groups are at rest with so many members."""
    wanted = {"told-classic", "told-modern"}
    return wanted <= stable_groups(servers) and all(len(one) == members for one in members_of(servers, wanted))


@pytest.mark.long
def test_a_broker_that_goes_away_ends_a_single_run_with_the_fix(
    spark: SparkSession, cluster: EmbeddedKafka, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark itself would wait for it without a word."""
    monkeypatch.setattr(stream_module, "SILENT_S", 1.0)
    monkeypatch.setattr(stream_module, "ANSWER_S", 3.0)
    made = Stream(spark, history, Source.of(load_settings(cluster.bootstrap_servers, None, {})))
    (broker,) = cluster.brokers
    broker.kill()
    try:
        with pytest.raises(ConnectError) as refused:
            made.run(once=True, listeners=Listeners())
        assert refused.value.hint
    finally:
        broker.restart()
        wait_until(lambda: readable(cluster.bootstrap_servers))


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
    assert list(read_until(history).values()) == [NEVER]
    once()
    assert found(history, "commits") == places(truth, commits=True)
    assert found(history, "group_events") == places(truth, commits=False)


def test_progress_is_reported_with_what_is_left(
    spark: SparkSession, cluster: EmbeddedKafka, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "BATCH_OFFSETS", 20)
    commit(cluster.bootstrap_servers, "many", {("orders", partition): 1 for partition in range(60)})
    settings = load_settings(cluster.bootstrap_servers, None, {})
    reported: list[Progress] = []
    outcome = Stream(spark, history, Source.of(settings)).run(once=True, listeners=Listeners(batch=reported.append))
    assert outcome.batches >= 3
    assert [one.batch for one in reported] == list(range(outcome.batches))
    assert sum(one.records for one in reported) == outcome.records
    assert (reported[-1].behind, reported[0].behind > reported[-2].behind > 0) == (0, True)


def test_the_checkpoint_of_another_cluster_is_refused(history: History, once: Run) -> None:
    once()
    run = Path(history.root) / FOLDER / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"cluster_id": "other"}))
    with pytest.raises(HistoryError, match=r"belongs to cluster other, but this is cluster .* Use another --history"):
        once()


def test_a_topic_that_was_recreated_is_refused(history: History, once: Run) -> None:
    once()
    run = Path(history.root) / FOLDER / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"topic_id": "6b2f8a10-3c4d-4e5f-8a9b-0c1d2e3f4a5b"}))
    with pytest.raises(HistoryError, match="__consumer_offsets was deleted and created again"):
        once()


def test_a_history_whose_checkpoint_is_gone_is_refused(history: History, once: Run) -> None:
    once()
    (Path(history.root) / FOLDER / "run.json").unlink()
    with pytest.raises(HistoryError, match="all of them would be recorded twice"):
        once()


def test_records_that_were_deleted_unread_are_reported(cluster: EmbeddedKafka, history: History, once: Run) -> None:
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
    assert str(outcome.gaps[0]).endswith("were deleted before or while they were read")
    commit(servers, "after", {("orders", 0): 1})
    assert once().gaps == ()
    assert len(history.query("SELECT 1 FROM commits WHERE group_id = 'after'", "commits")) == 1


def test_commits_behind_an_open_transaction_are_not_read_until_it_ends(
    cluster: EmbeddedKafka, history: History, once: Run
) -> None:
    """`read_until` stays: they are valid for the coordinator, and missing here."""
    servers, tp = cluster.bootstrap_servers, TopicPartition("orders", 0)
    before = once()
    until = read_until(history)[before.cluster]
    producer = KafkaProducer(bootstrap_servers=servers, transactional_id="stays-open")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send_offsets_to_transaction({tp: OffsetAndMetadata(5, "", -1)}, BEHIND)
    commit(servers, BEHIND, {("orders", 1): 7})
    assert (once().rows["commits"], read_until(history)[before.cluster]) == (0, until)
    producer.commit_transaction()
    producer.close()
    assert once().rows["commits"] == 2
    assert read_until(history)[before.cluster] > until


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
