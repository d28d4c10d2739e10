"""Members in describe responses -> `lag.model.Member`."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from assignors.model import TopicPartition
from lag.cluster.messages import UNREADABLE, Message
from lag.model import Member


def classic(member: Message, protocol_type: str) -> Member:
    """A member of a classic group; of consumers, subscription and assignment are decoded (KIP-429, KIP-881)."""
    plain = Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=_host(member.client_host),
        instance_id=member.group_instance_id,
    )
    if protocol_type != "consumer":
        return plain
    try:
        return replace(plain, **_subscription(member.member_metadata), **_assignment(member.member_assignment))
    except UNREADABLE as error:
        return replace(plain, problem=f"its subscription or assignment cannot be decoded ({type(error).__name__})")


def _subscription(blob: bytes | None) -> dict[str, Any]:
    """Fields of `ConsumerProtocolSubscription`; a joining member has no bytes yet."""
    if not blob:
        return {}
    subscription = ConsumerProtocolSubscription.decode(bytes(blob))
    return {
        "topics": tuple(subscription.topics),
        "owned": _owned(subscription),
        "rack": getattr(subscription, "rack_id", None) or None,
        "generation": _generation(subscription),
        "user_data": None if subscription.user_data is None else bytes(subscription.user_data),
        "subscription_version": subscription.version,
    }


def _owned(subscription: Message) -> tuple[TopicPartition, ...] | None:
    if subscription.version < 1:  # ownedPartitions came with version 1 (KIP-429)
        return None
    return tuple(TopicPartition(owned.topic, p) for owned in subscription.owned_partitions for p in owned.partitions)


def _generation(subscription: Message) -> int | None:
    generation = getattr(subscription, "generation_id", -1)
    return None if generation is None or generation < 0 else generation


def _assignment(blob: bytes | None) -> dict[str, Any]:
    if not blob:
        return {}
    assignment = ConsumerProtocolAssignment.decode(bytes(blob))
    return {
        "assigned": tuple(
            sorted(TopicPartition(t.topic, p) for t in assignment.assigned_partitions for p in t.partitions)
        )
    }


def consumer_or_share(member: Message) -> Member:
    """A member of a consumer group (KIP-848) or share group (KIP-932); share members have no target assignment."""
    return Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=_host(member.client_host),
        instance_id=getattr(member, "instance_id", None),
        rack=member.rack_id or None,
        epoch=member.member_epoch,
        topics=tuple(member.subscribed_topic_names),
        topic_regex=getattr(member, "subscribed_topic_regex", None) or None,
        assigned=tuple(sorted(_partitions(member.assignment))),
        target=tuple(_partitions(member.target_assignment)) if hasattr(member, "target_assignment") else None,
    )


def _partitions(assignment: Message) -> Iterator[TopicPartition]:
    return (TopicPartition(t.topic_name, p) for t in assignment.topic_partitions for p in t.partitions)


def streams(member: Message, sources: Mapping[str, tuple[str, ...]]) -> Member:
    """A member of a streams group (KIP-1071): an active task owns its partition of each source topic."""
    return Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=_host(member.client_host),
        instance_id=member.instance_id,
        rack=member.rack_id or None,
        epoch=member.member_epoch,
        topics=tuple(sorted({topic for topics in sources.values() for topic in topics})),
        assigned=_tasks(member.assignment, sources),
        target=_tasks(member.target_assignment, sources),
    )


def _tasks(assignment: Message, sources: Mapping[str, tuple[str, ...]]) -> tuple[TopicPartition, ...]:
    return tuple(
        sorted(
            TopicPartition(topic, partition)
            for task in assignment.active_tasks
            for topic in sources.get(task.subtopology_id, ())
            for partition in task.partitions
        )
    )


def source_topics(topology: Message | None) -> dict[str, tuple[str, ...]]:
    """Subtopology id -> its source topics; empty if the topology is unknown."""
    if topology is None or topology.subtopologies is None:
        return {}
    return {
        sub.subtopology_id: (*sub.source_topics, *(topic.name for topic in sub.repartition_source_topics))
        for sub in topology.subtopologies
    }


def _host(client_host: str) -> str:
    """Without the slash of Java's `/10.0.0.1`."""
    return client_host.removeprefix("/")
