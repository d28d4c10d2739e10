"""What is left between a commit and the log end: records, or markers that no consumer can read. On a real log."""

import uuid
from collections.abc import Callable, Iterator

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as KafkaPartition
from kafka.admin import KafkaAdminClient, NewTopic

from assignors.model import TopicPartition
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader, open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.model import Remainder
from lag.offsets import PartitionLag
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


@pytest.fixture
def transaction(kafka: EmbeddedKafka, topic: str) -> Iterator[Callable[[int, bool], None]]:
    """Writes so many records in one transaction, and commits or aborts it: records, then one marker.

    The broker answers the end of a transaction before it writes the marker, so that is waited for.
    """
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=f"tx-{topic}")
    producer.init_transactions()
    ends = KafkaConsumer(bootstrap_servers=kafka.bootstrap_servers)
    place = KafkaPartition(topic, 0)

    def write(records: int, commit: bool) -> None:
        marker = ends.end_offsets([place])[place] + records
        producer.begin_transaction()
        for _ in range(records):
            producer.send(topic, b"x", partition=0)
        producer.flush()
        (producer.commit_transaction if commit else producer.abort_transaction)()
        wait_until(lambda: ends.end_offsets([place])[place] == marker + 1)

    yield write
    ends.close()
    producer.close()


def left(reader: ClusterReader, topic: str, committed: int, log_end: int) -> Remainder:
    reader.read(1, 0)
    row = PartitionLag(TopicPartition(topic, 0), committed, 0, log_end, log_end, log_end - committed, None, 0)
    (found,) = reader.remainders([row])
    return found


def test_commit_after_the_last_record_leaves_the_marker_only(
    reader: ClusterReader, topic: str, transaction: Callable[[int, bool], None]
) -> None:
    transaction(3, True)
    assert left(reader, topic, 3, 4) is Remainder.MARKERS_ONLY


def test_commit_before_the_last_record_leaves_a_record(
    reader: ClusterReader, topic: str, transaction: Callable[[int, bool], None]
) -> None:
    transaction(3, True)
    assert left(reader, topic, 2, 4) is Remainder.RECORDS


def test_aborted_records_are_no_records_to_a_reader_of_committed_data(
    reader: ClusterReader, topic: str, transaction: Callable[[int, bool], None]
) -> None:
    transaction(3, True)
    transaction(2, False)
    assert left(reader, topic, 3, 7) is Remainder.MARKERS_ONLY


def test_records_committed_after_aborted_ones_are_found(
    reader: ClusterReader, topic: str, transaction: Callable[[int, bool], None]
) -> None:
    transaction(2, False)
    transaction(1, True)
    assert left(reader, topic, 0, 5) is Remainder.RECORDS


def test_plain_record_is_a_record(kafka: EmbeddedKafka, reader: ClusterReader, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    producer.send(topic, b"x", partition=0)
    producer.close()
    assert left(reader, topic, 0, 1) is Remainder.RECORDS


def test_what_one_fetch_does_not_reach_stays_unknown(
    reader: ClusterReader, topic: str, transaction: Callable[[int, bool], None]
) -> None:
    transaction(1, True)
    assert left(reader, topic, 1, 900) is Remainder.UNKNOWN


def test_topic_that_is_gone_stays_unknown(reader: ClusterReader) -> None:
    assert left(reader, "never-was", 1, 2) is Remainder.UNKNOWN
