"""A broker at rest with the groups on which exporters differ, always made the same.

| Topic  | Partitions | Records each |
|--------|-----------:|--------------|
| orders |          3 | 100          |
| single |          1 | 10           |
| old    |          1 | 100, of which the first 70 are deleted |
| gone   |          1 | 10; deleted after the commits          |
| halved |          2 | 10; partition 1 loses its only replica |
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import confluent_kafka
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from app.metrics.view import Polled
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader, open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.storage import random_uuid
from lag.model import ClusterSnapshot
from lag.polling.report import CollectorStatus
from tests.app.metrics.clusters import report
from tests.lag.cluster.test_reader import commit, fill
from tests.support.consumers import Running
from tests.support.member import Member
from tests.support.streams_member import StreamsMember
from tests.support.waiting import wait_until

CLUSTER = "peers"
TOPICS = {"orders": 3, "single": 1, "old": 1, "gone": 1, "halved": 2}
INTERNAL = {"__consumer_offsets": 1, "__share_group_state": 1, "__transaction_state": 1}
COMMITS: Mapping[str, Mapping[tuple[str, int], int]] = {
    "all-deleted": {("gone", 0): 5},
    "behind": {("old", 0): 10},
    "beyond": {("orders", 0): 150, ("orders", 1): 90},
    "caught-up": {("orders", 0): 100, ("orders", 1): 100, ("orders", 2): 100},
    "half-deleted": {("gone", 0): 5, ("orders", 0): 10},
    "leaderless": {("halved", 0): 5, ("halved", 1): 5},
    "partial": {("orders", 0): 40},
}
"""Groups without members."""

STEADY = "steady"
"""A group without members that commits every record of `single`, one after the other; we poll after each commit."""

KIP_848, PAIR, SHARE, SILENT, STREAMS, LEFT = "kip-848", "pair", "share", "silent", "streams", "left"
"""Groups with members: one of each, but two of `pair`; all but `silent` commit, and the member of `left` is gone."""

STATES = dict.fromkeys((*COMMITS, LEFT), ("Empty", 0)) | {
    PAIR: ("Stable", 1),
    **dict.fromkeys((KIP_848, SHARE, SILENT, STREAMS), ("Stable", 3)),
}
"""The state of each group, and how many partitions its members have."""


DISK, SECOND_DISK = "data-1", "data-1b"
PROPERTIES = {
    "replica.high.watermark.checkpoint.interval.ms": "500",  # how soon the broker sees that a disk is gone
    "share.coordinator.state.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.streams.session.timeout.ms": "3600000",  # its member sends no heartbeats
    "group.streams.max.session.timeout.ms": "3600000",
}


class TwoDisks(EmbeddedKafka):
    """A broker with a second folder for logs."""

    def _format(self, command: list[str], classpath: list[Path]) -> None:
        super()._format(command, classpath)
        first, second = self.folder / DISK, self.folder / SECOND_DISK
        second.mkdir()
        meta = (first / "meta.properties").read_text()
        (second / "meta.properties").write_text(re.sub(r"(?<=directory\.id=).*", random_uuid(), meta))
        with (self.folder / "broker-1.properties").open("a") as file:
            file.write(f"log.dirs={first},{second}\n")


class Scene(NamedTuple):
    """The broker at rest, and what we have polled of it."""

    kafka: EmbeddedKafka
    polled: Polled


@contextmanager
def at_rest() -> Iterator[Scene]:
    """The scene, until it is no longer needed."""
    with TwoDisks(offsets_partitions=1, properties=PROPERTIES) as kafka, ExitStack() as members:
        _topics_and_commits(kafka)
        _members(kafka, members)
        _lose_a_disk(kafka)
        with _reader(kafka) as reader:
            wait_until(lambda: _states(reader.read(1, 0)) == STATES, 180, 0.5)
            polls = [_poll(reader, number) for number in _commits(kafka)]
        yield Scene(kafka, Polled(CLUSTER, report(polls), CollectorStatus(1.0, polls=len(polls)), polls[-1].at_ms))


def _commits(kafka: EmbeddedKafka) -> Iterator[int]:
    """The commits of STEADY, and nothing the last time."""
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        for offset in range(1, 11):
            commit(admin, STEADY, {("single", 0): offset})
            yield offset
    yield 11


def _poll(reader: ClusterReader, number: int) -> ClusterSnapshot:
    return reader.read(number, time.time_ns() // 1_000_000)


def _topics_and_commits(kafka: EmbeddedKafka) -> None:
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        _place(admin)
        admin.create_topics([NewTopic(name, count, 1) for name, count in TOPICS.items()], wait_for_metadata=True)
        for topic, records in {"orders": 100, "single": 10, "old": 100, "gone": 10, "halved": 10}.items():
            fill(kafka, topic, TOPICS[topic], records)
        for group, offsets in COMMITS.items():
            commit(admin, group, dict(offsets))
        admin.delete_records({TopicPartition("old", 0): 70})
        admin.delete_topics(["gone"])


def _members(kafka: EmbeddedKafka, members: ExitStack) -> None:
    def join(group: str, topic: str, **settings: str) -> Member:
        silent = {"enable.auto.commit": False, "client.id": group, **settings}
        made = Member(kafka.bootstrap_servers, group, [topic], silent)
        members.callback(made.leave)
        return made

    left = join(LEFT, "single")
    moved = join(KIP_848, "orders", **{"group.protocol": "consumer"})
    pair = [join(PAIR, "single"), join(PAIR, "single")]
    silent = join(SILENT, "orders")
    share = Running(lambda: _share_consumer(kafka), lambda consumer: consumer.poll(0.1), SHARE)
    members.callback(share.leave)
    wait_until(lambda: left.held and len(moved.held) == len(silent.held) == 3 and any(m.held for m in pair), 240)
    left.leave()
    moved.commit("orders", 0, 60)
    next(member for member in pair if member.held).commit("single", 0, 4)
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        StreamsMember(admin, STREAMS, "orders").commit({0: 30, 1: 100})


def _place(admin: KafkaAdminClient) -> None:
    """Before there are topics: partition 1 of `halved` alone comes to the second disk."""
    (broker,) = admin.describe_log_dirs()
    paths = {Path(disk["log_dir"]).name: disk["log_dir"] for disk in broker["log_dirs"]}
    replicas = [(topic, partition) for topic, count in (TOPICS | INTERNAL).items() for partition in range(count)]
    admin.alter_replica_log_dirs(
        {(*replica, 1): paths[SECOND_DISK if replica == ("halved", 1) else DISK] for replica in replicas}
    )


def _lose_a_disk(kafka: EmbeddedKafka) -> None:
    """The second disk goes away, and with it the only replica of a partition."""
    (kafka.folder / SECOND_DISK).rename(kafka.folder / "lost")
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        wait_until(lambda: _leaders(admin)[1] == -1, 60, 0.2)


def _leaders(admin: KafkaAdminClient) -> dict[int, int]:
    (topic,) = admin.describe_topics(["halved"])
    return {each["partition_index"]: each["leader_id"] for each in topic["partitions"]}


def _share_consumer(kafka: EmbeddedKafka) -> confluent_kafka.ShareConsumer:
    consumer = confluent_kafka.ShareConsumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": SHARE, "log_level": 0}
    )
    consumer.subscribe(["orders"])
    return consumer


@contextmanager
def _reader(kafka: EmbeddedKafka) -> Iterator[ClusterReader]:
    reader = open_reader(load_settings(kafka.bootstrap_servers, None, {}), CLUSTER)
    try:
        yield reader
    finally:
        reader.close()


def _states(snapshot: ClusterSnapshot) -> dict[str, tuple[str, int]]:
    return {g.group_id: (g.state, sum(len(member.assigned) for member in g.members)) for g in snapshot.groups}
