"""The committed offsets of one group, read with their metadata and written, as the Java admin client does (KIP-396).

A commit with generation -1 and no member id is accepted only while the group has no members, in any protocol.
"""

from collections.abc import Collection, Iterable, Mapping

from kafka.protocol.consumer import OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest

from assignors.model import TopicPartition, by_topic
from lag.cluster.requests.error_codes import change_problem, raise_if_not_ready
from lag.cluster.requests.messages import Message
from lag.cluster.requests.poll_client import PollClient, UnsupportedRequest
from lag.errors import ResetRefused
from lag.reset.model import Commit

LAST_BY_NAME = 9
"""The last versions of OffsetFetch and OffsetCommit with topic names; version 9 is the first for KIP-848 groups."""
ADMIN_GENERATION = -1


async def fetch(client: PollClient, node: int, group_id: str) -> dict[TopicPartition, Commit]:
    """What the group has committed. Raises BrokerFailed, CoordinatorNotReady, or ResetRefused where it refuses."""
    ask = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group_id, topics=None)
    try:
        answer = await client.send(node, OffsetFetchRequest(groups=[ask], min_version=8, max_version=LAST_BY_NAME))
        found = answer.groups[0]
    except UnsupportedRequest:
        found = await client.send(
            node, OffsetFetchRequest(group_id=group_id, topics=None, min_version=2, max_version=7)
        )
    raise_if_not_ready([found.error_code])
    if found.error_code:
        problem = change_problem(found.error_code, group_id, "DESCRIBE")
        raise ResetRefused(f"The offsets of group {group_id} cannot be read: {problem}")
    return {
        TopicPartition(topic.name, part.partition_index): Commit(part.committed_offset, part.metadata or "")
        for topic in found.topics
        for part in topic.partitions
        if not part.error_code and part.committed_offset >= 0
    }


async def commit(
    client: PollClient, node: int, group_id: str, offsets: Mapping[TopicPartition, Commit]
) -> dict[TopicPartition, str]:
    """Commit the offsets; the errors in words. Raises BrokerFailed or CoordinatorNotReady."""
    topic = OffsetCommitRequest.OffsetCommitRequestTopic
    answer = await client.send(
        node,
        OffsetCommitRequest(
            group_id=group_id,
            generation_id_or_member_epoch=ADMIN_GENERATION,
            member_id="",
            group_instance_id=None,
            retention_time_ms=-1,
            topics=[
                topic(name=name, partitions=_committed(name, numbers, offsets)) for name, numbers in _grouped(offsets)
            ],
            min_version=2,
            max_version=LAST_BY_NAME,
        ),
    )
    raise_if_not_ready([part.error_code for topic in answer.topics for part in topic.partitions])
    return _errors(group_id, answer.topics)


def _committed(topic: str, numbers: Iterable[int], offsets: Mapping[TopicPartition, Commit]) -> list[Message]:
    partition = OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition
    return [
        partition(
            partition_index=number,
            committed_offset=offsets[TopicPartition(topic, number)].offset,
            committed_leader_epoch=-1,
            committed_metadata=offsets[TopicPartition(topic, number)].metadata,
        )
        for number in numbers
    ]


async def delete(
    client: PollClient, node: int, group_id: str, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, str]:
    """Delete committed offsets; the errors in words. Raises BrokerFailed or CoordinatorNotReady."""
    topic = OffsetDeleteRequest.OffsetDeleteRequestTopic
    partition = topic.OffsetDeleteRequestPartition
    topics = [
        topic(name=name, partitions=[partition(partition_index=number) for number in numbers])
        for name, numbers in _grouped(partitions)
    ]
    answer = await client.send(node, OffsetDeleteRequest(group_id=group_id, topics=topics))
    raise_if_not_ready([answer.error_code])
    if answer.error_code:
        return dict.fromkeys(partitions, change_problem(answer.error_code, group_id, "DELETE"))
    return _errors(group_id, answer.topics)


def _grouped(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    return sorted(by_topic(sorted(partitions)).items())


def _errors(group_id: str, topics: Iterable[Message]) -> dict[TopicPartition, str]:
    return {
        TopicPartition(topic.name, part.partition_index): change_problem(part.error_code, group_id, topic=topic.name)
        for topic in topics
        for part in topic.partitions
        if part.error_code
    }
