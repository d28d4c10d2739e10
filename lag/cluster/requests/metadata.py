"""The brokers, topics and partition leaders of a cluster, retention of topics, and topics that are hidden from us."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from kafka.errors import KafkaTimeoutError
from kafka.future import Future
from kafka.net.manager import KafkaConnectionManager
from kafka.protocol.admin import DescribeConfigsRequest
from kafka.protocol.metadata import MetadataRequest

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.requests.coordinators import NOT_VISIBLE, Coordinators, OffsetsLeader
from lag.cluster.requests.error_codes import is_unauthorized
from lag.cluster.requests.log_offsets import LedPartitions
from lag.cluster.requests.messages import Message
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, chunks
from lag.model import FOREVER, Broker, Topic

HEDGE_S = 0.5
"""If a broker has not answered after this time, the next one is asked as well."""

NO_LEADER = -1
TOPIC_CONFIG = 2
CONFIGS_CHUNK = 1_000

NO_SUCH_TOPIC = (3, 17)
"""UNKNOWN_TOPIC_OR_PARTITION and INVALID_TOPIC_EXCEPTION."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """`leaders`: topic -> node id of the leader of each partition, NO_LEADER if there is none.

    `coordinators` may be newer than `leaders`: they follow from all the answers so far.
    """

    cluster_id: str | None
    controller: int | None
    brokers: tuple[Broker, ...]
    topics: dict[str, Topic]
    leaders: dict[str, list[int]]
    coordinators: Coordinators = NOT_VISIBLE


async def fetch(client: PollClient, manager: KafkaConnectionManager) -> Metadata:
    """The metadata from the first broker that answers. Raises ConnectError if none does.

    One that has just started, in a cluster with ZooKeeper, may answer that there are no brokers. That does not
    count as an answer.
    """
    waiting: list[Future] = []
    nodes = client.nodes()
    while nodes or waiting:
        if nodes:
            waiting.append(client.start(client.send, nodes.pop(0), _request()))
        await _wait_for_one(manager, waiting, HEDGE_S if nodes else client.deadline_s)
        answers = (future.value for future in waiting if future.succeeded())
        answered = next((answer for answer in answers if answer.brokers), None)
        if answered is not None:
            manager.cluster.update_metadata(answered)
            return _parse(answered)
        waiting = [future for future in waiting if not future.is_done]
    raise client.no_answer()


async def _wait_for_one(manager: KafkaConnectionManager, waiting: list[Message], within_s: float) -> None:
    """Wait until one of `waiting` is answered or fails, at most `within_s`."""
    either = Future()

    def settle(_: object) -> None:
        if not either.is_done:
            either.success(None)

    for future in waiting:
        future.add_both(settle)
    with suppress(KafkaTimeoutError):  # after a pause of this machine, answer and timeout come together
        await manager.wait_for(either, within_s * 1000)


def _request(names: Iterable[str] | None = None) -> Message:
    topics = None if names is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False, min_version=1)


def _parse(answer: Message) -> Metadata:
    leaders = {t.name: leaders_of(t) for t in answer.topics if not t.error_code or t.partitions}
    rack_of = {b.node_id: b.rack for b in answer.brokers if b.rack}
    return Metadata(
        cluster_id=getattr(answer, "cluster_id", None),
        controller=None if answer.controller_id < 0 else answer.controller_id,
        brokers=tuple(
            Broker(broker.node_id, broker.host, broker.port, broker.rack or None)
            for broker in sorted(answer.brokers, key=lambda broker: broker.node_id)
        ),
        topics={t.name: _topic(t, leaders[t.name], rack_of) for t in answer.topics if t.name in leaders},
        leaders=leaders,
        coordinators=_coordinators(answer),
    )


def _coordinators(answer: Message) -> Coordinators:
    """Brokers before Kafka 2.1 give no epochs; the newest answer counts then."""
    for topic in answer.topics:
        if topic.name == OFFSETS_TOPIC and topic.partitions:
            parts = sorted(topic.partitions, key=lambda part: part.partition_index)
            leaders = tuple(OffsetsLeader(part.leader_id, getattr(part, "leader_epoch", -1)) for part in parts)
            return Coordinators(leaders, topic_id_of(topic))
    return NOT_VISIBLE


async def newest_coordinators(client: PollClient, known: Coordinators) -> Coordinators:
    """The newest of `known` and of what each broker that answers knows."""
    asked = [client.start(client.send, node, _request([OFFSETS_TOPIC])) for node in client.nodes()]
    for answer in asked:
        with suppress(BrokerFailed):
            known = known.newest(_coordinators(await answer))
    return known


def leaders_of(topic: Message) -> list[int]:
    """The node id of the leader of each partition in a metadata answer; NO_LEADER if there is none."""
    leaders = [NO_LEADER] * (1 + max((p.partition_index for p in topic.partitions), default=-1))
    for partition in topic.partitions:
        leaders[partition.partition_index] = partition.leader_id
    return leaders


def _racks(topic: Message, partitions: int, rack_of: dict[int, str]) -> tuple[tuple[str, ...], ...]:
    """The racks of each partition's replicas; equal tuples are shared, to save memory."""
    found: list[tuple[str, ...]] = [()] * partitions
    same: dict[tuple[int, ...], tuple[str, ...]] = {}
    for partition in topic.partitions:
        nodes = tuple(partition.replica_nodes)
        if nodes not in same:
            same[nodes] = tuple(dict.fromkeys(rack_of[node] for node in nodes if node in rack_of))
        found[partition.partition_index] = same[nodes]
    return tuple(found)


def _nodes(of_partition: Iterable[tuple[int, list[int]]], partitions: int) -> tuple[tuple[int, ...], ...]:
    """The nodes of each partition; equal tuples are shared, to save memory."""
    found: list[tuple[int, ...]] = [()] * partitions
    same: dict[tuple[int, ...], tuple[int, ...]] = {}
    for partition, nodes in of_partition:
        found[partition] = same.setdefault(tuple(nodes), tuple(nodes))
    return tuple(found)


def topic_id_of(topic: Message) -> str | None:
    """The id of a topic in a metadata answer; None before Kafka 2.8 (KIP-516)."""
    identity = getattr(topic, "topic_id", None)
    return str(identity) if identity is not None and identity.int else None


def _topic(topic: Message, leaders: list[int], rack_of: dict[int, str]) -> Topic:
    return Topic(
        name=topic.name,
        topic_id=topic_id_of(topic),
        partitions=len(leaders),
        internal=bool(topic.is_internal),
        leaderless=tuple(number for number, leader in enumerate(leaders) if leader == NO_LEADER),
        racks=_racks(topic, len(leaders), rack_of) if rack_of else None,
        replicas=_nodes(((p.partition_index, p.replica_nodes) for p in topic.partitions), len(leaders)),
        in_sync=_nodes(((p.partition_index, p.isr_nodes) for p in topic.partitions), len(leaders)),
    )


def by_leader(leaders: dict[str, list[int]], numbers: dict[str, int]) -> dict[int, LedPartitions]:
    """Leader -> the partitions that it leads, as `log_offsets.fetch` takes them."""
    led: dict[int, list[tuple[str, int, list[int]]]] = defaultdict(list)
    for name, nodes in leaders.items():
        mine: dict[int, list[int]] = defaultdict(list)
        for partition, node in enumerate(nodes):
            if node != NO_LEADER:
                mine[node].append(partition)
        for node, partitions in mine.items():
            led[node].append((name, numbers[name], partitions))
    return dict(led)


class Absent(NamedTuple):
    """Topics that the metadata of the cluster does not have: those that we may not describe, and those that are not."""

    denied: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()


async def absent(client: PollClient, names: list[str]) -> Absent:
    """Why `names` are not in the metadata; a name is in neither set if no broker says so.

    An answer about all topics leaves them out; an answer about named topics has an error for them.
    """
    codes: dict[str, int] = {}
    for chunk in chunks(names, CONFIGS_CHUNK):
        answer = await client.send_to_any(partial(_request, chunk))
        if answer is not None:
            codes |= {topic.name: topic.error_code for topic in answer.topics}
    return Absent(
        frozenset(name for name, code in codes.items() if is_unauthorized(code)),
        frozenset(name for name, code in codes.items() if code in NO_SUCH_TOPIC),
    )


class Retention(NamedTuple):
    """How a topic's records are deleted: its `cleanup.policy` and `retention.ms` (FOREVER: not by age)."""

    cleanup_policy: str | None
    retention_ms: int


async def retention(client: PollClient, names: list[str]) -> dict[str, Retention]:
    """The retention of each topic whose settings we may read."""
    found: dict[str, Retention] = {}
    for chunk in chunks(names, CONFIGS_CHUNK):
        answer = await client.send_to_any(partial(_retention_request, chunk))
        if answer is not None:
            found |= {r.resource_name: _retention(r) for r in answer.results if not r.error_code}
    return found


def _retention_request(names: list[str]) -> Message:
    resource, keys = DescribeConfigsRequest.DescribeConfigsResource, ["retention.ms", "cleanup.policy"]
    ask = [resource(resource_type=TOPIC_CONFIG, resource_name=name, configuration_keys=keys) for name in names]
    return DescribeConfigsRequest(resources=ask)


def _retention(result: Message) -> Retention:
    values = {config.name: config.value for config in result.configs}
    policy = values.get("cleanup.policy") or None
    by_age = policy is None or "delete" in policy
    return Retention(policy, max(FOREVER, int(values.get("retention.ms") or FOREVER)) if by_age else FOREVER)
