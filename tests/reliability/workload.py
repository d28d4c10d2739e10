"""Groups whose verdicts are known: one reads, one reads and does not commit, others have only committed offsets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from kafka import KafkaAdminClient, TopicPartition

from tests.lag.pipeline.broker_side import commit
from tests.support.waiting import wait_until

READS, STUCK, MOVED = "reads", "stuck", "moved"
LONELY_NODE = 3
_RATE_PAUSE_S = 0.05
_PARTITIONS = 6
_QUIET = {"log_level": 0}
_SESSION = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000, "max.poll.interval.ms": 3_600_000}


def create(servers: str, name: str, partitions: int, placed: dict[int, list[int]] | None = None) -> None:
    """A topic on three brokers, or where `placed` says (partition -> node ids), once every broker knows it."""
    if placed is None:
        topic = NewTopic(name, partitions, 3)
    else:
        topic = NewTopic(name, partitions, replica_assignment=[placed[number] for number in range(partitions)])
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([topic])[name].result()
    wait_until(lambda: name in admin.list_topics(timeout=10).topics)


def fill(servers: str, name: str, partitions: int, records: int) -> None:
    """Write that many records into each partition."""
    producer = Producer({"bootstrap.servers": servers, "acks": "all"})
    for number in range(records * partitions):
        producer.produce(name, b"record", partition=number % partitions)
    assert producer.flush(60) == 0


def resting_groups(servers: str) -> None:
    """Groups without members: `parked` has lag, `done` has none, `late` has lost records.

    `lonely` reads from a topic that is on one broker only, `moved` from one that is to be created again.
    """
    create(servers, "ledger", 2)
    fill(servers, "ledger", 2, 100)
    commit(servers, "parked", {("ledger", 0): 40, ("ledger", 1): 40})
    commit(servers, "done", {("ledger", 0): 100, ("ledger", 1): 100})
    create(servers, "short", 1)
    fill(servers, "short", 1, 100)
    commit(servers, "late", {("short", 0): 10})
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.delete_records({TopicPartition("short", 0): 50})
    create(servers, "single", 1, {0: [LONELY_NODE]})
    fill(servers, "single", 1, 50)
    commit(servers, "lonely", {("single", 0): 30})
    create(servers, "recreated", 1)
    fill(servers, "recreated", 1, 50)
    commit(servers, MOVED, {("recreated", 0): 30})


@dataclass(slots=True)
class Members:
    """The members of `reads` and `stuck`, and the producer that both read from."""

    servers: str
    stopping: threading.Event = field(default_factory=threading.Event)

    def produce(self) -> None:
        """A record every 50 ms; a broker that is gone is waited for."""
        producer = Producer({"bootstrap.servers": self.servers, "acks": "all", "linger.ms": 5, **_QUIET})
        number = 0
        while not self.stopping.wait(_RATE_PAUSE_S):
            with suppress(BufferError):
                producer.produce("orders", b"order", partition=number % _PARTITIONS)
            producer.poll(0)
            number += 1
        producer.flush(5)

    def read(self, group: str, commits: bool) -> None:
        """Read `orders`, and commit what was read or nothing."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": group,
                "enable.auto.commit": commits,
                "auto.commit.interval.ms": 500,
                "auto.offset.reset": "earliest",
                **_SESSION,
                **_QUIET,
            }
        )
        consumer.subscribe(["orders"])
        while not self.stopping.is_set():
            consumer.poll(0.2)
        with suppress(KafkaException):
            consumer.close()


@contextmanager
def working(servers: str) -> Iterator[None]:
    """All groups, until the block ends."""
    create(servers, "orders", _PARTITIONS)
    commit(servers, STUCK, {("orders", number): 0 for number in range(_PARTITIONS)})
    resting_groups(servers)
    members = Members(servers)
    threads = [
        threading.Thread(target=members.produce, name="producer"),
        threading.Thread(target=members.read, args=(READS, True), name=READS),
        threading.Thread(target=members.read, args=(STUCK, False), name=STUCK),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        members.stopping.set()
        for thread in threads:
            thread.join(30)
