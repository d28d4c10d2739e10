"""Members in describe responses -> `lag.model.Member`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from assignors.model import TopicPartition
from lag.cluster.requests.messages import Message
from lag.model import Member
from lag.records.consumer_protocol import PROTOCOL_TYPE, ReadMember, TopicPartitions, read_member


def classic(member: Message, protocol_type: str) -> Member:
    """A member of a classic group; of consumers, subscription and assignment are decoded (KIP-429, KIP-881)."""
    plain = Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=_host(member.client_host),
        instance_id=member.group_instance_id,
    )
    if protocol_type != PROTOCOL_TYPE:
        return plain
    read = read_member(bytes(member.member_metadata or b""), bytes(member.member_assignment or b""))
    return replace(
        plain,
        **_subscription(read),
        assigned=() if read.assignment is None else tuple(sorted(_flat(read.assignment.partitions))),
        problem="; ".join(f"its {part} cannot be decoded ({reason})" for part, reason in read.problems) or None,
    )


def _subscription(read: ReadMember) -> dict[str, Any]:
    """The fields of a subscription; a joining member has none yet."""
    subscription = read.subscription
    if subscription is None:
        return {}
    return {
        "topics": subscription.topics,
        "owned": tuple(_flat(subscription.owned)) if read.version >= 1 else None,  # new in version 1 (KIP-429)
        "rack": subscription.rack or None,
        "generation": None if subscription.generation < 0 else subscription.generation,
        "user_data": subscription.user_data,
        "subscription_version": read.version,
    }


def _flat(topics: Iterable[TopicPartitions]) -> Iterator[TopicPartition]:
    return (TopicPartition(each.topic, partition) for each in topics for partition in each.partitions)


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
