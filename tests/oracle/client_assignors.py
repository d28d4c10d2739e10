"""Kafka's own four client assignors, called through JPype, beside ours.

Subscriptions go to Java as the bytes of Kafka's consumer protocol, and plans come back as text: a handful of calls per
case instead of hundreds. An assignor is created for each case, because it remembers the highest generation.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import jpype

import assignors
from assignors.client.sticky.user_data import encode
from assignors.model import AssignorError, Group, Member, Topic, TopicPartition
from tests.oracle.client_cases import draw
from tests.oracle.tally import Checked, generator

CLASSES = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
NAMES = tuple(CLASSES)
LIVELOCK = "Livelock"
_PARTITION = re.compile(r"(.*?)-(-?\d+)")

Lists = dict[str, list[TopicPartition]]
Result = Lists | str


class JavaAssignors:
    """The four classes. The JVM must run."""

    def __init__(self) -> None:
        consumer = "org.apache.kafka.clients.consumer."
        log4j = "org.apache.logging.log4j."
        off = jpype.JClass(log4j + "Level").OFF  # dirty claims are logged one by one
        jpype.JClass(log4j + "core.config.Configurator").setLevel("org.apache.kafka.clients.consumer", off)
        self._assignors = {name: jpype.JClass(path) for name, path in CLASSES.items()}
        self._read = jpype.JClass(consumer + "internals.ConsumerProtocol").deserializeSubscription
        self._group = jpype.JClass(consumer + "ConsumerPartitionAssignor$GroupSubscription")
        self._wrap = jpype.JClass("java.nio.ByteBuffer").wrap
        self._optional = jpype.JClass("java.util.Optional").of
        self._hash_map = jpype.JClass("java.util.HashMap")
        self._list = jpype.JClass("java.util.ArrayList")
        self._set = jpype.JClass("java.util.HashSet")
        self._cluster = jpype.JClass("org.apache.kafka.common.Cluster")
        self._node = lru_cache(None)(self._new_node)
        self._partition = lru_cache(100_000)(self._new_partition)

    def _new_node(self, rack: str | None) -> Any:
        return jpype.JClass("org.apache.kafka.common.Node")(0 if rack is None else 1 + hash(rack) % 10**6, "h", 1, rack)

    def _new_partition(self, topic: str, number: int, racks: tuple[str, ...]) -> Any:
        nodes = jpype.JClass("org.apache.kafka.common.Node")[:]
        replicas = nodes([self._node(rack) for rack in racks])
        make = jpype.JClass("org.apache.kafka.common.PartitionInfo")
        return make(topic, number, replicas[0] if racks else None, replicas, replicas)

    def cluster(self, topics: Mapping[str, Topic]) -> Any:
        """Java's `Cluster` of those topics."""
        partitions, nodes, nothing = self._list(), self._list(), self._set()
        racks = {rack for topic in topics.values() for replicas in topic.racks or () for rack in replicas}
        for rack in racks:
            nodes.add(self._node(rack))
        for topic in topics.values():
            for number in range(topic.partitions):
                partitions.add(self._partition(topic.name, number, tuple(topic.racks[number]) if topic.racks else ()))
        return self._cluster("c", nodes, partitions, nothing, nothing)

    def subscriptions(self, name: str, members: Sequence[Member]) -> Any:
        """Java's map of subscriptions, in the order of the members."""
        made = self._hash_map()
        for member in members:
            subscription = self._read(self._wrap(on_the_wire(name, member)))
            if member.instance_id is not None:
                subscription.setGroupInstanceId(self._optional(member.instance_id))
            made.put(member.member_id, subscription)
        return made

    def assign(self, name: str, group: Group, cluster: Any = None) -> Result:
        """The lists by member; or the exception, as `Class`."""
        subscribed = self._group(self.subscriptions(name, group.members))
        try:
            plan = self._assignors[name]().assign(cluster or self.cluster(group.topics), subscribed).groupAssignment()
        except jpype.JException as error:
            return str(error.getClass().getSimpleName())
        return {member.member_id: _parse(str(plan.get(member.member_id).partitions())) for member in group.members}


def _parse(text: str) -> list[TopicPartition]:
    found = (_PARTITION.fullmatch(part) for part in text[1:-1].split(", ") if part)
    return [TopicPartition(match[1], int(match[2])) for match in found if match]


def on_the_wire(name: str, member: Member) -> bytes:
    """The member's subscription in Kafka's consumer protocol, version 3. What a member of a sticky group owns without
    reporting so in user data, is written there for it.
    """
    data = member.user_data
    generation = -1 if member.generation is None else member.generation
    if name == "sticky" and data is None:
        data = encode(member.owned, generation)
    parts = [struct.pack(">hi", 3, len(member.topics)), *map(_text, member.topics)]
    parts.append(struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data)
    parts.append(struct.pack(">i", len(member.owned)))
    parts += [_text(tp.topic) + struct.pack(">ii", 1, tp.partition) for tp in member.owned]
    rack = struct.pack(">h", -1) if member.rack is None else _text(member.rack)
    return b"".join((*parts, struct.pack(">i", generation), rack))


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded


def ours(name: str, group: Group) -> Result:
    """Our lists by member; or what our error begins with: the name of Java's exception, or `Livelock`."""
    try:
        plan = assignors.get(name).assign(group).by_member
    except AssignorError as error:
        return str(error).partition(":")[0]
    return {member: list(partitions) for member, partitions in plan.items()}


def compare(java: JavaAssignors, name: str, group: Group, cluster: Any = None) -> tuple[Result, Result]:
    """Ours and Java's. Where ours says that Java would never return, Java is not asked."""
    mine = ours(name, group)
    return mine, mine if mine == LIVELOCK else java.assign(name, group, cluster)


class ClientOracle:
    """Random groups through all four assignors. The JVM must run."""

    def __init__(self) -> None:
        self._java = JavaAssignors()

    def __call__(self, seed: int, number: int) -> Iterator[Checked]:
        """One group: a case for each assignor, but none where Java must be spared."""
        group = draw(generator(seed, number))
        cluster = self._java.cluster(group.topics)
        for name in NAMES:
            mine, theirs = compare(self._java, name, group, cluster)
            if mine != LIVELOCK:
                difference = "" if mine == theirs else f"{group}\nours: {mine}\nJava: {theirs}"
                yield Checked(name, difference, refused=isinstance(theirs, str))
