"""What the broker has in `__consumer_offsets`, read without anything of ours; and ways to put something there."""

import itertools
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

import confluent_kafka
import confluent_kafka.admin
from confluent_kafka import TopicPartition as Place
from confluent_kafka.cimpl import NewTopic

from lag.model import INTERNAL_GROUP_PREFIX
from tests.support.known import known, the
from tests.support.waiting import wait_until

NAME = "__consumer_offsets"
COMMIT_TYPES = (0, 1)
COMMITTED = 25
SETTLING = (
    confluent_kafka.KafkaError.NOT_COORDINATOR,
    confluent_kafka.KafkaError.COORDINATOR_NOT_AVAILABLE,
    confluent_kafka.KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)

Record = tuple[int, int, bytes, bytes | None]
"""Partition, offset, key and value."""


class TimedRecord(NamedTuple):
    """A record and its time, in ms since 1970."""

    partition: int
    offset: int
    key: bytes
    value: bytes | None
    at_ms: int


def records(bootstrap: str) -> list[Record]:
    """All of them, of our own readers' groups none."""
    return [one[:4] for one in timed_records(bootstrap)]


def timed_records(bootstrap: str) -> list[TimedRecord]:
    """The same with their times."""
    config = {"bootstrap.servers": bootstrap, "group.id": "nobody", "enable.auto.commit": False}
    consumer = confluent_kafka.Consumer({**config, "isolation.level": "read_uncommitted", "enable.partition.eof": True})
    try:
        numbers = consumer.list_topics(NAME).topics[NAME].partitions
        consumer.assign([Place(NAME, number, confluent_kafka.OFFSET_BEGINNING) for number in numbers])
        read = list(_until_ends(consumer, len(numbers)))
    finally:
        consumer.close()
    return [one for one in read if not group_of(one.key).startswith(INTERNAL_GROUP_PREFIX)]


def _until_ends(consumer: confluent_kafka.Consumer, partitions: int) -> Iterator[TimedRecord]:
    """What is there until each partition has come to its end."""
    ended = set[int]()
    while len(ended) < partitions:
        for message in consumer.consume(10_000, timeout=0.5):
            if (error := message.error()) is None:
                place = known(message.partition()), known(message.offset())
                yield TimedRecord(*place, the(bytes, message.key()), message.value(), message.timestamp()[1])
            elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                ended.add(known(message.partition()))
            else:
                raise confluent_kafka.KafkaException(error)


def group_of(key: bytes) -> str:
    """The group that a key names: after its type and the name's length."""
    return key[4 : 4 + int.from_bytes(key[2:4], "big")].decode()


def places(found: Iterable[Record], commits: bool) -> list[tuple[int, int]]:
    """Where the commits are, or all the others."""
    return sorted(
        (partition, offset)
        for partition, offset, key, _ in found
        if (int.from_bytes(key[:2], "big") in COMMIT_TYPES) == commits
    )


def stable_groups(bootstrap: str) -> set[str]:
    """The groups that have members and an assignment."""
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    stable = {confluent_kafka.ConsumerGroupState.STABLE}
    return {group.group_id for group in admin.list_consumer_groups(states=stable).result().valid}


def members_of(bootstrap: str, groups: Iterable[str]) -> list[list[str]]:
    """The ids of each group's members."""
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    described = admin.describe_consumer_groups(list(groups))
    return [[member.member_id for member in one.result().members] for one in described.values()]


def topic_names(bootstrap: str, *topics: str) -> dict[UUID, str]:
    """The topics by their ids."""
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    described = admin.describe_topics(confluent_kafka.TopicCollection(list(topics)))
    found = {name: one.result().topic_id for name, one in described.items()}
    return {
        UUID(int=(id_.get_most_significant_bits() % 2**64 << 64) + id_.get_least_significant_bits() % 2**64): name
        for name, id_ in found.items()
    }


def commit(bootstrap: str, group: str, offsets: dict[tuple[str, int], int]) -> None:
    """One commit for each partition, as a consumer without a group's protocol makes it."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    try:
        wanted = [confluent_kafka.TopicPartition(topic, part, offset) for (topic, part), offset in offsets.items()]
        wait_until(lambda: _committed(consumer, wanted))
    finally:
        consumer.close()


@contextmanager
def committing(servers: str) -> Iterator[None]:
    """A commit for each of so many partitions every 50 ms, by 40 groups in turn, until the block ends."""
    stopping = threading.Event()

    def work() -> None:
        for number in itertools.count(1):
            if stopping.wait(0.05):
                return
            commit(servers, f"group-{number % 40}", {("orders", part): number for part in range(COMMITTED)})

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def _committed(consumer: Any, offsets: list[Any]) -> bool:
    """False while a new or restarted broker is about to take up its groups."""
    try:
        consumer.commit(offsets=offsets, asynchronous=False)
    except confluent_kafka.KafkaException as error:
        if error.args[0].code() not in SETTLING:
            raise
        return False
    return True


def create_topic(bootstrap: str, name: str, partitions: int) -> None:
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result()
