"""What is left between a commit and the log end: records, or what no read_committed consumer reads. On a real log."""

import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from typing import Protocol

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as KafkaPartition
from kafka.admin import KafkaAdminClient, NewTopic

from assignors.model import TopicPartition
from lag.cluster import unread_check
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader, open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.model import Unread, UnreadRange
from lag.polling import marker_checks
from lag.polling.evaluation import Evaluator, default_policy
from lag.times import wall_clock_ms
from lag.verdict.health import GroupHealth, TimeLag
from lag.verdict.status import Status
from tests.support.known import known
from tests.support.reset_cluster import commits, group_client
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.fixture
def reader(kafka: EmbeddedKafka) -> Iterator[ClusterReader]:
    made = open_reader(load_settings(kafka.bootstrap_servers, None, {}), "test")
    yield made
    made.close()


@pytest.fixture
def topic(kafka: EmbeddedKafka) -> str:
    name = f"left-{uuid.uuid4().hex[:8]}"
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name, 1, 1)], wait_for_metadata=True)
    return name


class Transaction(Protocol):
    def __call__(self, records: int, commit: bool, value: bytes = b"x") -> None: ...


@pytest.fixture
def transaction(kafka: EmbeddedKafka, topic: str) -> Iterator[Transaction]:
    """Writes so many records in one transaction, and commits or aborts it: records, then one marker.

    The broker answers the end of a transaction before it writes the marker, so that is waited for.
    """
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=f"tx-{topic}")
    producer.init_transactions()
    ends = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
    place = KafkaPartition(topic, 0)

    def write(records: int, commit: bool, value: bytes = b"x") -> None:
        marker = ends.end_offsets([place])[place] + records
        producer.begin_transaction()
        for _ in range(records):
            producer.send(topic, value, partition=0)
        producer.flush()
        (producer.commit_transaction if commit else producer.abort_transaction)()
        wait_until(lambda: ends.end_offsets([place])[place] == marker + 1)

    yield write
    ends.close()
    producer.close()


def left(reader: ClusterReader, topic: str, first: int, end: int) -> Unread:
    return replace(looked_up(reader, topic, first, end), record_ms=None)


def looked_up(reader: ClusterReader, topic: str, first: int, end: int) -> Unread:
    """The same with the time of the first record."""
    reader.read(1, 0)
    (found,) = reader.unread([UnreadRange(TopicPartition(topic, 0), first, end)])
    return known(found)


def test_commit_after_the_last_record_leaves_the_marker_only(
    reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(3, True)
    assert left(reader, topic, 3, 4) == Unread(4)


def test_commit_before_the_last_record_leaves_a_record(
    reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(3, True)
    assert left(reader, topic, 2, 4) == Unread(2, has_records=True)


def test_aborted_records_are_no_records_to_a_reader_of_committed_data(
    reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(3, True)
    transaction(2, False)
    transaction(200, False)
    assert left(reader, topic, 3, 208) == Unread(208)


def test_a_commit_amid_aborted_records_leaves_none(reader: ClusterReader, topic: str, transaction: Transaction) -> None:
    transaction(5, False)
    assert left(reader, topic, 2, 6) == Unread(6)


def test_records_committed_after_aborted_ones_are_found(
    reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(2, False)
    transaction(1, True)
    assert left(reader, topic, 0, 5) == Unread(3, has_records=True)


def test_plain_record_is_a_record(kafka: EmbeddedKafka, reader: ClusterReader, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    producer.send(topic, b"x", partition=0)
    producer.close()
    assert left(reader, topic, 0, 1) == Unread(0, has_records=True)


@pytest.mark.parametrize("codec", [None, "gzip"])
def test_the_first_record_has_its_timestamp(
    kafka: EmbeddedKafka, reader: ClusterReader, topic: str, codec: str | None
) -> None:
    """Also within a batch of several records, of which a commit has passed the first ones."""
    with closing(
        KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, compression_type=codec, linger_ms=200)
    ) as producer:
        for number in range(5):
            producer.send(topic, b"x", partition=0, timestamp_ms=1_700_000_000_000 + 1_000 * number)
        producer.flush()
    assert looked_up(reader, topic, 3, 5) == Unread(3, has_records=True, record_ms=1_700_000_003_000)


def test_the_time_lag_of_a_group_that_is_hours_behind_is_exact_at_the_first_poll(
    kafka: EmbeddedKafka, reader: ClusterReader, topic: str
) -> None:
    now_ms = wall_clock_ms()
    with closing(KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)) as producer:
        for hours in (5, 4, 3):
            producer.send(topic, b"x", partition=0, timestamp_ms=now_ms - hours * 3_600_000)
        producer.flush()
    with group_client(kafka.bootstrap_servers) as client:
        client.commit(f"late-{topic}", commits(topic, {0: 1}))
    found = Evaluator(default_policy).evaluate(reader, 1, now_ms).health.group(f"late-{topic}")
    assert known(found).time_lag == TimeLag(4 * 3600.0, 0.0)


def test_an_open_transaction_is_not_passed(kafka: EmbeddedKafka, reader: ClusterReader, topic: str) -> None:
    with closing(KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=topic)) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"x", partition=0).get(30)
        assert left(reader, topic, 0, 1) == Unread(0, reason="the broker returned no records")
        producer.abort_transaction()


def test_a_log_that_ends_too_early_is_passed_up_to_its_end(
    reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(1, True)
    assert left(reader, topic, 1, 900) == Unread(2, reason="the broker returned no records")


def test_what_one_poll_does_not_reach_is_continued_by_the_next(
    monkeypatch: pytest.MonkeyPatch, reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    monkeypatch.setattr(unread_check, "FETCH_BYTES", 1)  # one batch each
    monkeypatch.setattr(unread_check, "MOST_FETCHES", 3)
    for _ in range(4):
        transaction(1, False)
    assert [left(reader, topic, first, 8) for first in (0, 3, 6)] == [Unread(3), Unread(6), Unread(8)]


def test_a_batch_larger_than_the_fetch_is_passed_whole(
    reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(1, False, b"x" * 4 * unread_check.FETCH_BYTES)
    assert left(reader, topic, 0, 2) == Unread(2)


def test_each_range_is_read_once_before_any_is_read_on(
    monkeypatch: pytest.MonkeyPatch, reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    monkeypatch.setattr(unread_check, "FETCH_BYTES", 1)
    monkeypatch.setattr(unread_check, "MOST_FETCHES", 2)
    for _ in range(2):
        transaction(1, False)
    reader.read(1, 0)
    ranges = [UnreadRange(TopicPartition(topic, 0), first, 4) for first in (0, 2, 0, 3)]
    assert reader.unread(ranges) == [Unread(1), Unread(3), Unread(1), None]


def test_no_fetch_begins_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch, reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    monkeypatch.setattr(unread_check, "MOST_S", -1.0)
    transaction(1, False)
    reader.read(1, 0)
    assert reader.unread([UnreadRange(TopicPartition(topic, 0), 0, 2)]) == [None]


def test_topic_that_is_gone_has_no_leader(reader: ClusterReader) -> None:
    assert left(reader, "never-was", 1, 2) == Unread(1, reason="the partition has no leader")


def test_offsets_that_are_deleted_have_a_reason(
    kafka: EmbeddedKafka, reader: ClusterReader, topic: str, transaction: Transaction
) -> None:
    transaction(3, True)
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.delete_records({KafkaPartition(topic, 0): 4})
    assert left(reader, topic, 1, 4) == Unread(1, reason="OffsetOutOfRangeError")


LAST_BEFORE_THE_RECORD = 8
"""A poll of the next test: those before and after it are 20 s apart, and the age of a record is by the real clock."""


def test_a_reader_of_committed_data_behind_aborted_transactions_is_ok(
    kafka: EmbeddedKafka,
    reader: ClusterReader,
    topic: str,
    transaction: Transaction,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """akhq#613, librdkafka#3917: from 11 offsets on it was "stopped", with a time lag without end."""
    monkeypatch.setattr(marker_checks, "CHECKS_PER_POLL", 1_000)  # groups of other tests are checked as well
    monkeypatch.setattr(unread_check, "MOST_FETCHES", 1_000)
    monkeypatch.setattr(unread_check, "MOST_S", 30.0)
    transaction(10, True)
    group, polls = f"reader-{topic}", count(1)
    with group_client(kafka.bootstrap_servers) as client:
        client.commit(group, commits(topic, {0: 10}))
        transaction(200, False)
        evaluator = Evaluator(default_policy)

        def poll() -> GroupHealth:
            number = next(polls)
            at_ms = int(time.time() * 1_000) + 20_000 * (number - LAST_BEFORE_THE_RECORD) - 10_000
            return known(evaluator.evaluate(reader, number, at_ms).health.group(group))

        for _ in range(6):
            health = poll()
            assert (health.finding.status, health.time_lag.seconds, health.is_markers_only) == (Status.OK, 0.0, True)
            assert health.lag.records == 202
        transaction(5, False)
        assert (poll().finding.status, poll().time_lag.seconds) == (Status.OK, 0.0)
        transaction(1, True)
        health = poll()
        assert (health.finding.status, 0 < known(health.time_lag.seconds) <= 20) == (Status.NO_MEMBERS, True)
        client.commit(group, commits(topic, {0: 219}))
        assert (poll().finding.status, poll().time_lag.seconds) == (Status.OK, 0.0)


WRITTEN_MS = 1_700_000_000_000
"""When the first record was written; each later one has been written a minute after the one before."""


@pytest.mark.parametrize(
    ("committed", "deleted_below", "first_unread"),
    [(0, 0, 0), (7, 0, 7), (19, 0, 19), (7, 5, 7), (7, 12, None)],
    ids=["nothing was read", "in the middle of a batch", "one is left", "retention behind it", "retention passed it"],
)
def test_the_time_lag_is_the_age_of_the_first_unread_record_at_the_first_poll(
    kafka: EmbeddedKafka,
    reader: ClusterReader,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
    committed: int,
    deleted_below: int,
    first_unread: int | None,
) -> None:
    monkeypatch.setattr(marker_checks, "CHECKS_PER_POLL", 1_000)  # groups of other tests are read as well
    monkeypatch.setattr(unread_check, "MOST_FETCHES", 1_000)
    monkeypatch.setattr(unread_check, "MOST_S", 30.0)
    with closing(KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, linger_ms=200)) as producer:
        for number in range(20):
            producer.send(topic, b"x", partition=0, timestamp_ms=WRITTEN_MS + 60_000 * number)
        producer.flush()
    if deleted_below:
        with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
            admin.delete_records({KafkaPartition(topic, 0): deleted_below})
    group, now_ms = f"late-{topic}", WRITTEN_MS + 86_400_000
    with group_client(kafka.bootstrap_servers) as client:
        client.commit(group, commits(topic, {0: committed}))
    found = known(Evaluator(default_policy).evaluate(reader, 1, now_ms).health.group(group)).time_lag
    if first_unread is None:
        assert found.seconds is None
    else:
        assert (found.seconds, found.error_bound_s) == (86_400 - 60 * first_unread, 0.0)
