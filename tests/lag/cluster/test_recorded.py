"""Recorded generations of real groups on a real broker are what the callbacks of their consumers saw."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np
import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as KafkaPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.structs import OffsetAndMetadata

from lag.cluster.connection.settings import load_settings
from lag.cluster.offsets_log import open_offsets_log
from lag.cluster.reader import open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.generations.recorded import RecordedGeneration
from lag.generations.tail import Tail
from lag.verdict.onset import RowCommits
from tests.support.member import Held, Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

TOPIC, PARTITIONS = "orders", 6
QUICK = {
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.assignment.interval.ms": "0",
}
CLASSIC = {"session.timeout.ms": 45_000, "heartbeat.interval.ms": 300}
SETTINGS: Mapping[str, Mapping[str, object]] = {
    "range": CLASSIC | {"partition.assignment.strategy": "range"},
    "cooperative-sticky": CLASSIC | {"partition.assignment.strategy": "cooperative-sticky"},
    "consumer": {"group.protocol": "consumer"},
}


class World(NamedTuple):
    """A broker with the topic, and a tail that follows it."""

    kafka: EmbeddedKafka
    tail: Tail

    def member(self, group: str, name: str) -> Member:
        settings = {"client.id": name, **SETTINGS[group.partition("/")[0]]}
        return Member(self.kafka.bootstrap_servers, group, [TOPIC], settings)

    def until(self, group: str, *there: Member) -> RecordedGeneration:
        """The last generation, once these members share all partitions evenly and the records say the same."""

        def look() -> RecordedGeneration | None:
            reported = self.tail.recorded(group)
            is_even = {len(one.held) for one in there} == {PARTITIONS // len(there)}
            is_reported = (
                reported
                and reported[-1].settled_ms is not None
                and held(reported[-1]) == {one.name: one.held for one in there}
            )
            return reported[-1] if is_even and is_reported else None

        return wait_until(look, within_s=60) or pytest.fail("never")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with EmbeddedKafka(properties=QUICK, initial_rebalance_delay_ms=100) as kafka:
        with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)], wait_for_metadata=True)
        tail = Tail("test", lambda: open_offsets_log(load_settings(kafka.bootstrap_servers, None, {})))
        tail.start()
        yield World(kafka, tail)
        tail.stop()


def held(one: RecordedGeneration) -> dict[str, Held]:
    """What each client had."""
    clients = {member.member_id: member.client_id for member in one.generation.members}
    plan = one.generation.after.by_member.items()
    return {clients[name]: frozenset(tps) for name, tps in plan}


def of(reported: Sequence[RecordedGeneration], name: str) -> list[Held]:
    """What one client had, generation by generation, while it was there."""
    return [plan[name] for plan in map(held, reported) if name in plan]


def changes(seen: Sequence[Held]) -> list[Held]:
    """The same, without what repeats itself."""
    return [now for before, now in zip([frozenset(), *seen], seen, strict=False) if now != before]


@pytest.fixture(scope="module", params=SETTINGS)
def course(request: pytest.FixtureRequest, world: World) -> Iterator[tuple[str, Member, Member]]:
    """One group each: a is there, b joins, a leaves."""
    group: str = request.param
    a = world.member(group, "a")
    world.until(group, a)
    b = world.member(group, "b")
    world.until(group, a, b)
    a.leave()
    world.until(group, b)
    yield group, a, b
    b.leave()


def test_each_member_had_what_its_callbacks_reported(world: World, course: tuple[str, Member, Member]) -> None:
    group, *members = course
    reported = world.tail.recorded(group)
    for member in members:
        assert changes(of(reported, member.name)) == changes([now for now in member.log if now or group != "range"])


def test_events_are_the_joins_and_leaves_in_order(world: World, course: tuple[str, Member, Member]) -> None:
    reported = world.tail.recorded(course[0])
    events = {"range": [], "cooperative-sticky": ["b joined (rebalance 2)"], "consumer": []}[course[0]]
    assert [one.generation.event for one in reported] == [
        "the group has no members", "a joined", "b joined", *events, "a left or timed out",
    ]  # fmt: skip
    assert [one.generation.at_ms for one in reported] == sorted(one.generation.at_ms for one in reported)


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_a_late_recorder_goes_on_from_what_a_poll_saw(world: World, protocol: str) -> None:
    group, settings = f"{protocol}/late", load_settings(world.kafka.bootstrap_servers, None, {})
    a = world.member(group, "a")
    world.until(group, a)
    late, reader = Tail("late", lambda: open_offsets_log(settings), look_back=0), open_reader(settings, "test")
    late.round()
    late.observe(reader.read(1, 1000))
    late.round()
    b = world.member(group, "b")
    last = world.until(group, a, b)
    wait_until(lambda: late.round() is not None and late.recorded(group) and late.recorded(group)[-1].settled_ms)
    reported = late.recorded(group)
    assert [one.generation.event for one in reported] == ["as seen in a poll", "b joined"]
    assert (held(reported[0]), held(reported[1])) == (
        {"a": frozenset((TOPIC, number) for number in range(PARTITIONS))},
        held(last),
    )
    assert (reported[1].generation.number, reported[1].began_ms, reported[1].settled_ms, reported[1].steps) == (
        last.generation.number, last.began_ms, last.settled_ms, last.steps,
    )  # fmt: skip
    late.stop()
    reader.close()
    for member in (a, b):
        member.leave()


@pytest.mark.long
def test_restart_of_the_broker_loses_nothing(world: World) -> None:
    a = world.member("range/restart", "a")
    world.until("range/restart", a)
    world.kafka.broker(1).restart()
    b = world.member("range/restart", "b")
    world.until("range/restart", a, b)
    for member in (a, b):
        member.leave()
    events = [one.generation.event for one in world.tail.recorded("range/restart")]
    assert events[:3] == ["the group has no members", "a joined", "b joined"]
    assert world.tail.status().problems == ()


def test_commits_of_a_real_group_are_known_with_their_first_time(world: World) -> None:
    settings, tp = load_settings(world.kafka.bootstrap_servers, None, {}), KafkaPartition(TOPIC, 0)
    reader = open_reader(settings, "test")
    with closing(KafkaConsumer(bootstrap_servers=world.kafka.bootstrap_servers, group_id="commits")) as consumer:

        def committed(offset: int) -> RowCommits:
            read = world.tail.status().records
            consumer.commit({tp: OffsetAndMetadata(offset, "", -1)})
            wait_until(lambda: world.tail.status().records > read and offset in known().offset, within_s=60)
            return known()

        def known() -> RowCommits:
            return world.tail.commits().of_rows(reader.read(1, 1000))

        consumer.assign([tp])
        first, second, third = committed(3), committed(7), committed(7)
    (row,) = np.flatnonzero(third.offset == 7)
    assert 0 < first.first_ms[row] <= second.first_ms[row] == third.first_ms[row]
    assert third.is_exact[row]
    assert third.follows[row]
    reader.close()


def test_a_commit_of_an_aborted_transaction_is_none(world: World) -> None:
    name, tp = "transactions", KafkaPartition(TOPIC, 1)
    producer = KafkaProducer(bootstrap_servers=world.kafka.bootstrap_servers, transactional_id=name)
    producer.init_transactions()

    def commits_after(offset: int, *, commit: bool) -> int:
        read = world.tail.status().records
        producer.begin_transaction()
        producer.send_offsets_to_transaction({tp: OffsetAndMetadata(offset, "", -1)}, name)
        producer.commit_transaction() if commit else producer.abort_transaction()
        wait_until(lambda: world.tail.status().records >= read + 2, within_s=60)  # the commit and its marker
        return world.tail.status().commits.get(name, 0)

    counted = [commits_after(5, commit=True), commits_after(6, commit=False), commits_after(7, commit=True)]
    producer.close()
    assert counted == [1, 1, 2]
