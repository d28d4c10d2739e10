"""Real consumers of three libraries on a real broker: what their groups have is what the same assignor gives here."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pytest
from kafka.admin import KafkaAdminClient, NewTopic

import assignors
from assignors.client.sticky import user_data
from assignors.javahash.hashes import spread, uuid_hash
from assignors.model import Group, Member, TopicPartition
from assignors.topic_ids import topic_uuid
from assignors.whatif.events import Event, Join, Leave, Scenario
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader, open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.generations.explanation import Comparison, as_last_planned, explain
from lag.generations.live_group import group_of, planned_topics
from lag.model import ClusterSnapshot, GroupSnapshot, Topic
from tests.support.consumers import Crowd, Running
from tests.support.member import Member as KafkaPythonMember
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("java_classes")]

TOPICS = {"five": 5, "seven": 7}
QUICK = {
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.assignment.interval.ms": "0",
    "broker.rack": "here",
}
"""Groups settle within a second or two, and brokers have a rack."""

JOINS_WITHIN_MS = 10_000
"""Who comes later, on a busy machine, makes a second rebalance, which librdkafka plans in its own way."""

CLIENT = ("range", "roundrobin", "cooperative-sticky")
GROUPS = (
    *(("java", strategy) for strategy in (*CLIENT, "sticky", "consumer", "consumer:range")),
    *(("librdkafka", strategy) for strategy in (*CLIENT, "consumer", "consumer:range")),
    *(("kafka-python", strategy) for strategy in (*CLIENT, "sticky")),
)
PREDICTED = ("consumer", "cooperative-sticky", "sticky")
CHANGING = {f"predicted/{strategy}": ("java", strategy, 3) for strategy in PREDICTED} | {
    "librdkafka/leaves": ("librdkafka", "cooperative-sticky", 4),
    "kafka-python/joins": ("kafka-python", "sticky", 3),
}
"""Groups that members join or leave later: their library, strategy and number of members."""

Plan = Mapping[str, set[TopicPartition]]


class World(NamedTuple):
    """A broker with the topics, a reader, and consumers that come and go; `first`: a member of each group."""

    bootstrap_servers: str
    reader: ClusterReader
    crowd: Crowd
    first: Mapping[str, Running | KafkaPythonMember]

    def settled(self, group_id: str, members: int) -> tuple[GroupSnapshot, Mapping[str, Topic]]:
        """The group and the topics, as soon as that many members share all partitions and want nothing else."""

        def look() -> tuple[GroupSnapshot, Mapping[str, Topic]] | None:
            seen: ClusterSnapshot = self.reader.read(1, 0)
            group = seen.group(group_id)
            return (group, seen.topics) if group is not None and is_settled(group, members) else None

        return wait_until(look, within_s=90, every_s=0.1) or pytest.fail("never")


def is_settled(group: GroupSnapshot, members: int) -> bool:
    given = sum(len(member.assigned) for member in group.members)
    there = all(member.target is None or set(member.target) == set(member.assigned) for member in group.members)
    return group.state == "Stable" and len(group.members) == members and given == sum(TOPICS.values()) and there


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """All groups join at once, so that they settle side by side, each in one rebalance."""
    with (
        EmbeddedKafka(properties=QUICK, initial_rebalance_delay_ms=JOINS_WITHIN_MS) as kafka,
        Crowd(kafka.bootstrap_servers) as crowd,
    ):
        reader = open_reader(load_settings(kafka.bootstrap_servers, None, {}), "test")
        create_topics(kafka.bootstrap_servers, reader)
        wanted = {f"{library}/{strategy}": (library, strategy, 3) for library, strategy in GROUPS} | CHANGING
        first = {
            group_id: crowd.join(library, group_id, list(TOPICS), strategy, count)[0]
            for group_id, (library, strategy, count) in wanted.items()
        }
        yield World(kafka.bootstrap_servers, reader, crowd, first)
        reader.close()


def create_topics(bootstrap_servers: str, reader: ClusterReader) -> None:
    """Their ids share a bucket, so that a broker lists them in the order in which it came to know them."""
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name, count, 1) for name, count in TOPICS.items()], wait_for_metadata=True)
        while len(buckets := {bucket(topic) for topic in topics_of(reader)}) != 1:
            assert len(buckets) == len(TOPICS)
            admin.delete_topics(["five"])
            wait_until(lambda: len(topics_of(reader)) == 1, within_s=30, every_s=0.02)
            admin.create_topics([NewTopic("five", TOPICS["five"], 1)])
            wait_until(lambda: len(topics_of(reader)) == len(TOPICS), within_s=30, every_s=0.02)


def topics_of(reader: ClusterReader) -> list[Topic]:
    return [topic for name, topic in reader.read(1, 0).topics.items() if name in TOPICS and topic.partitions]


def bucket(topic: Topic) -> int:
    """Of a HashMap that has not grown."""
    (planned,) = planned_topics([topic.name], {topic.name: topic}).values()
    return spread(uuid_hash(topic_uuid(planned))) % 16


def has(group: GroupSnapshot) -> Plan:
    return {member.member_id: set(member.assigned) for member in group.members}


def planned(group: Group) -> Plan:
    plan = assignors.get(group.assignor or "").assign(group).by_member
    return {member_id: set(partitions) for member_id, partitions in plan.items()}


@pytest.mark.parametrize(("library", "strategy"), GROUPS, ids=["/".join(pair) for pair in GROUPS])
def test_assignment_of_a_new_group_is_what_its_assignor_gives_here(world: World, library: str, strategy: str) -> None:
    group, topics = world.settled(f"{library}/{strategy}", 3)
    now = group_of(group, topics)
    assert {topic.name: topic.partitions for topic in now.topics.values()} == TOPICS
    assert planned(as_last_planned(group, now)) == has(group)
    assert planned(now) == has(group)
    assert explain(group, topics).verdict is Comparison.SAME


def test_topics_carry_the_racks_of_their_replicas_and_ids(world: World) -> None:
    _, topics = world.settled("java/range", 3)
    assert {name: topics[name].racks for name in TOPICS} == {name: (("here",),) * n for name, n in TOPICS.items()}
    assert all(topics[name].topic_id for name in TOPICS)


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_order_of_partitions_within_a_topic_is_that_of_the_leader(world: World, strategy: str) -> None:
    """The wire keeps it, and the order in which topics appear."""
    group, topics = world.settled(f"java/{strategy}", 3)
    plan = assignors.get(strategy).assign(as_last_planned(group, group_of(group, topics))).by_member
    assert {member_id: by_topic(partitions) for member_id, partitions in plan.items()} == sent(world, group.group_id)


def by_topic(partitions: Sequence[TopicPartition]) -> list[tuple[str, list[int]]]:
    found: dict[str, list[int]] = {}
    for tp in partitions:
        found.setdefault(tp.topic, []).append(tp.partition)
    return list(found.items())


def sent(world: World, group_id: str) -> dict[str, list[tuple[str, list[int]]]]:
    """What each member was sent, topic by topic, in the order of the bytes."""
    with KafkaAdminClient(bootstrap_servers=world.bootstrap_servers) as admin:
        members = admin.describe_groups([group_id])[group_id]["members"]
    parts = {member["member_id"]: member["member_assignment"]["assigned_partitions"] for member in members}
    return {name: [(part["topic"], part["partitions"]) for part in mine] for name, mine in parts.items()}


def predicted(group: Group, action: Join | Leave) -> Plan:
    """What the group will have once that has happened and no rebalance is left to do."""
    scenario = Scenario(group.group_id, group.assignor or "", group.topics, group.members, (Event(0, action),))
    plan = assignors.fold(scenario)[-1].after.by_member
    return {member_id: set(partitions) for member_id, partitions in plan.items()}


@pytest.mark.parametrize("strategy", PREDICTED)
def test_join_and_leave_of_java_members_are_predicted(world: World, strategy: str) -> None:
    group_id = f"predicted/{strategy}"
    first = world.first[group_id]
    group, topics = world.settled(group_id, 3)
    prediction = predicted(group_of(group, topics), Join(Member("new", topics=tuple(TOPICS))))
    world.crowd.join("java", group_id, list(TOPICS), strategy, 1)
    joined, _ = world.settled(group_id, 4)
    (new,) = has(joined).keys() - has(group).keys()
    assert {new if name == "new" else name: tps for name, tps in prediction.items()} == has(joined)
    assert explain(joined, topics).verdict is Comparison.SAME

    gone = next(member.member_id for member in joined.members if member.client_id == first.name)
    prediction = predicted(group_of(joined, topics), Leave(gone))
    first.leave()
    left, _ = world.settled(group_id, 3)
    assert prediction == has(left)
    assert explain(left, topics).verdict is Comparison.SAME


def test_librdkafka_deals_what_a_leaver_had_in_descending_order_of_member_ids(world: World) -> None:
    """Java's cooperative-sticky takes them in ascending order; the rest is the same."""
    leaver = world.first["librdkafka/leaves"]
    before, topics = world.settled("librdkafka/leaves", 4)
    gone = next(member for member in before.members if member.client_id == leaver.name)
    leaver.leave()
    after, _ = world.settled("librdkafka/leaves", 3)
    kept = {member_id: set(tps) for member_id, tps in has(before).items() if member_id != gone.member_id}
    freed = sorted(gone.assigned)
    ids = sorted(kept)
    assert has(after) == {name: kept[name] | {tp} for name, tp in zip(reversed(ids), freed, strict=True)}
    javas = {name: kept[name] | {tp} for name, tp in zip(ids, freed, strict=True)}
    assert planned(as_last_planned(after, group_of(after, topics))) == javas
    found = explain(after, topics)
    assert (found.verdict, len(found.differences)) == (Comparison.DIFFERS, 2)
    assert "librdkafka" in found.reasons[0]


def test_kafka_pythons_sticky_members_seem_to_own_nothing_to_java(world: World) -> None:
    """Its user data begins with two bytes that Kafka's has not; what they keep looks like a fresh deal gone wrong."""
    before, _ = world.settled("kafka-python/joins", 3)
    world.crowd.join("kafka-python", "kafka-python/joins", list(TOPICS), "sticky", 1)
    after, topics = world.settled("kafka-python/joins", 4)
    stayed = [member for member in after.members if member.member_id in has(before)]
    for member in stayed:
        stated = member.user_data or b""
        assert user_data.decode(stated) == user_data.NOTHING
        assert has(after)[member.member_id] <= set(user_data.decode(stated[2:]).partitions)
    assert [len(has(before)[member.member_id] & set(member.assigned)) for member in stayed] == [3, 3, 3]
    found = explain(after, topics)
    assert found.verdict is Comparison.DIFFERS
    assert any("Java's sticky reads nothing from it" in reason for reason in found.reasons)
