"""Topics and groups for the tests of resets, on a real broker; each test has its own names."""

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext

from kafka import KafkaProducer
from kafka import TopicPartition as KafkaPartition
from kafka.admin import KafkaAdminClient, NewTopic

from assignors.model import TopicPartition
from lag.cluster.connection.settings import load_settings
from lag.cluster.group_client import GroupClient, open_group_client
from lag.reset.model import Commit, Plan
from tests.support.waiting import wait_until

FIRST_MS = 1_700_000_000_000
"""The time of the record at offset 0; each following one is a second later."""


class KeptUndo:
    """Keeps undo plans instead of storing them. Another machine has another lock, and this one has none."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []

    def lock(self, group_id: str) -> AbstractContextManager[None]:
        return nullcontext()

    def store(self, undo: Plan) -> None:
        self.plans.append(undo)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def unique(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex[:8]}"


@contextmanager
def group_client(bootstrap_servers: str) -> Iterator[GroupClient]:
    with closing(open_group_client(load_settings(bootstrap_servers, None, {}), 30.0)) as client:
        yield client


def make_topic(bootstrap_servers: str, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        admin.create_topics(
            [NewTopic(name, partitions, 1, topic_configs={"retention.ms": "-1", **(config or {})})],
            wait_for_metadata=True,
        )


def drop_topic(bootstrap_servers: str, name: str) -> None:
    """Until the metadata no longer has it."""
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        admin.delete_topics([name])
        wait_until(lambda: name not in admin.list_topics())


def produce(bootstrap_servers: str, topic: str, counts: Mapping[int, int]) -> None:
    """So many records for each partition, the key `k<offset>` and a header, one second apart from FIRST_MS on."""
    producer = KafkaProducer(bootstrap_servers=bootstrap_servers)
    for partition, count in counts.items():
        for n in range(count):
            producer.send(
                topic, b"v%d" % n, key=b"k%d" % n, headers=[("source", b"test")], partition=partition,
                timestamp_ms=FIRST_MS + n * 1000,
            )  # fmt: skip
    producer.flush()
    producer.close()


def delete_records(bootstrap_servers: str, topic: str, partition: int, before: int) -> None:
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        admin.delete_records({KafkaPartition(topic, partition): before})


def commits(topic: str, offsets: Mapping[int, int]) -> dict[TopicPartition, Commit]:
    return {TopicPartition(topic, partition): Commit(offset) for partition, offset in offsets.items()}


def targets(plan: Plan) -> dict[tuple[str, int], int | None]:
    return {(row.tp.topic, row.tp.partition): row.to_offset for row in plan.partitions}
