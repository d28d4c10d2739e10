"""What the client of one group reads of a real broker: partial failures, transactions, compaction, share groups."""

import json
from collections.abc import Iterator

import pytest
from kafka import KafkaProducer

from assignors.model import TopicPartition
from lag.cluster.connection.settings import load_settings
from lag.cluster.group_client import GroupClient
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.errors import ResetRefused
from lag.offsets import PartitionProblem
from lag.reset import summary
from lag.reset.applying.apply import apply_plan
from lag.reset.applying.verify import Outcome
from lag.reset.asked.specification import Earliest, Latest, parse_skip
from lag.reset.files.plan_document import plan_text
from lag.reset.files.plan_file import plan_from_document
from lag.reset.model import Action, Commit
from lag.reset.planning.make_plan import Request, plan_offsets
from lag.reset.remarks import record_text
from tests.conftest import Demo
from tests.support.known import known
from tests.support.reset_cluster import KeptUndo, commits, group_client, make_topic, now_ms, produce, unique
from tests.support.waiting import wait_until


@pytest.fixture
def client(kafka: EmbeddedKafka) -> Iterator[GroupClient]:
    with group_client(kafka.bootstrap_servers) as made:
        yield made


def test_a_group_that_does_not_exist(client: GroupClient) -> None:
    found = client.read(unique("nobody"), ())
    assert (found.type, found.state, found.members, dict(found.positions)) == (None, "Dead", (), {})


def test_the_lag_is_that_of_the_snapshot(kafka: EmbeddedKafka, client: GroupClient) -> None:
    topic, group = unique("orders"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic, 2)
    produce(kafka.bootstrap_servers, topic, {0: 10})
    client.commit(group, commits(topic, {0: 4, 1: 0}))
    ours = client.read(group, ())
    reader = open_reader(load_settings(kafka.bootstrap_servers, None, {}), "test", 30.0)
    snapshot = known(reader.read(1, ours.at_ms).group(group))
    reader.close()
    assert [position.lag for _, position in sorted(ours.positions.items())] == list(snapshot.partitions)


def test_a_transaction_that_is_open_is_named(kafka: EmbeddedKafka, client: GroupClient) -> None:
    topic, group = unique("transactions"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic)
    produce(kafka.bootstrap_servers, topic, {0: 5})
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=unique("tx"))
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, b"held", partition=0).get(30)
    client.commit(group, commits(topic, {0: 1}))
    plan = plan_offsets(client, Request(group, Latest(), (topic,)))
    (row,) = plan.partitions
    assert (row.last_stable, row.log_end, row.to_offset, row.held_records) == (5, 6, 6, 1)
    assert any("never reads them" in warning for warning in summary.warnings(plan))
    producer.abort_transaction()
    producer.close()


def test_the_marker_of_a_transaction_is_no_record_to_skip(kafka: EmbeddedKafka, client: GroupClient) -> None:
    topic, group = unique("transactions"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic)
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=unique("tx"))
    producer.init_transactions()
    for _ in range(2):  # records at 0 and 2, markers at 1 and 3
        producer.begin_transaction()
        producer.send(topic, b"v", partition=0).get(30)
        producer.commit_transaction()
    producer.close()
    client.commit(group, commits(topic, {0: 0}))
    (row,) = plan_offsets(client, Request(group, parse_skip([f"{topic}:0:0-2"]))).partitions
    assert (row.to_offset, [record.offset for record in row.records]) == (3, [0, 2])


def test_offsets_without_a_record_are_counted_in_a_compacted_topic(kafka: EmbeddedKafka, client: GroupClient) -> None:
    topic, group = unique("compacted"), unique("billing")
    config = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "100",
        "segment.bytes": "1048576",
    }
    make_topic(kafka.bootstrap_servers, topic, 1, config)
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for n in range(10):
        producer.send(topic, b"%d" % n, key=b"same", partition=0)
    producer.flush()

    def gaps() -> int:
        producer.send(topic, b"rolls the segment", key=b"roll", partition=0).get(30)
        row = plan_offsets(client, Request(group, Latest(), (f"{topic}:0",))).partitions[0]
        return row.gaps or 0

    client.commit(group, commits(topic, {0: 0}))
    wait_until(lambda: gaps() >= 9, 120)
    producer.close()


def test_records_without_codec_or_value(kafka: EmbeddedKafka, client: GroupClient) -> None:
    topic = unique("records")
    make_topic(kafka.bootstrap_servers, topic)
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, compression_type="gzip", linger_ms=200)
    producer.send(topic, None, key=b"\xff", partition=0)
    producer.send(topic, b"three", partition=0)
    producer.flush()
    producer.close()
    tp = TopicPartition(topic, 0)
    found = client.first_records({tp: 0}, 5, with_values=True)[tp]
    assert not isinstance(found, str)
    assert [(r.key, r.value_bytes, r.value) for r in found] == [(b"\xff", None, None), (None, 5, b"three")]
    assert client.count_records({tp: (0, 2)}) == {tp: 2}
    assert client.count_records({tp: (1, 2)}) == {tp: 1}


def test_a_record_time_that_is_no_date_breaks_no_plan(kafka: EmbeddedKafka, client: GroupClient) -> None:
    topic, group = unique("odd-times"), unique("billing")
    make_topic(kafka.bootstrap_servers, topic, 3, {"message.timestamp.after.max.ms": str(2**63 - 1)})
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    times = (0, 9 * 10**15, 9 * 10**18)
    for partition, time_ms in enumerate(times):
        producer.send(topic, b"v", key=b"k", partition=partition, timestamp_ms=time_ms).get(30)
    producer.close()
    client.commit(group, commits(topic, dict.fromkeys(range(3), 1)))
    plan = plan_offsets(client, Request(group, Earliest(), (topic,)))
    assert [row.to_ms for row in plan.partitions] == list(times)
    assert plan_from_document(json.loads(plan_text(plan))) == plan

    client.commit(group, commits(topic, dict.fromkeys(range(3), 0)))
    skip = parse_skip([f"{topic}:1:0", f"{topic}:2:0"])
    heads = [
        record_text(record) for row in plan_offsets(client, Request(group, skip)).partitions for record in row.records
    ]
    assert [text.split(",")[0] for text in heads] == ["9000000000000000 ms", "9000000000000000000 ms"]


def test_a_partition_without_a_leader_takes_no_other_along(kafka3: EmbeddedKafka) -> None:
    topic, group = unique("orders"), unique("billing")
    make_topic(kafka3.bootstrap_servers, topic, 3)
    produce(kafka3.bootstrap_servers, topic, dict.fromkeys(range(3), 10))
    with group_client(kafka3.bootstrap_servers) as client:
        client.commit(group, commits(topic, dict.fromkeys(range(3), 5)))
        coordinator = known(client.read(group, ()).coordinator)
        broker = next(b for b in kafka3.brokers if b.node_id != coordinator)
        broker.kill()

        def leaderless() -> bool:
            positions = client.read(group, ()).positions.values()
            return [p.lag.problem for p in positions].count(PartitionProblem.LEADERLESS) == 1

        wait_until(leaderless, 120)
        plan = plan_offsets(client, Request(group, Earliest(), (topic,)))
        assert [row.action for row in plan.partitions].count(Action.NONE) == 1
        applied = apply_plan(plan, client, KeptUndo(), now_ms)
        assert applied.is_done
        assert sorted(each.outcome for each in applied.results) == [Outcome.DONE, Outcome.DONE, Outcome.UNPLANNED]
        after = client.commits(group)
        assert sorted(commit.offset for commit in after.values()) == [0, 0, 5]
        broker.restart()


def test_commits_of_a_topic_that_does_not_exist_and_share_groups(demo: Demo) -> None:
    with group_client(demo.kafka.bootstrap_servers) as client:
        snapshot_groups = _groups(demo)
        gone = client.read(snapshot_groups["deleted"], ())
        assert {p.lag.problem for p in gone.positions.values()} == {PartitionProblem.TOPIC_DELETED}
        tp, position = next(iter(gone.positions.items()))
        assert isinstance(position.commit, Commit)
        assert "does not exist" in client.delete_offsets(gone.group_id, [tp])[tp]
        with pytest.raises(ResetRefused, match="kafka-share-groups"):
            plan_offsets(client, Request(snapshot_groups["share"], Earliest(), all_topics=True))


def _groups(demo: Demo) -> dict[str, str]:
    reader = open_reader(load_settings(demo.kafka.bootstrap_servers, None, {}), "demo", 30.0)
    snapshot = reader.read(1, now_ms())
    reader.close()
    deleted = next(
        g.group_id for g in snapshot.groups if any(p.problem is PartitionProblem.TOPIC_DELETED for p in g.partitions)
    )
    return {"deleted": deleted, "share": next(g.group_id for g in snapshot.groups if g.type == "share")}
