"""Thousands of groups with commits, made fast: OffsetCommit as a simple consumer, many requests in flight."""

import time
from collections import deque

from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import CoordinatorNotAvailableError, NoError, RetriableError, for_code
from kafka.future import Future
from kafka.protocol.consumer import OffsetCommitRequest

IN_FLIGHT = 8
SETTLED_WITHIN_S = 60
PAUSE_S = 0.2


def groups(bootstrap: str, prefix: str, groups: int, partitions: int) -> None:
    """`groups` empty groups, each with a commit on every partition of one topic of `partitions` partitions.

    A cluster that has just started makes its offsets topic first: what it refuses meanwhile is tried again.
    """
    admin = KafkaAdminClient(bootstrap_servers=bootstrap, max_in_flight_requests_per_connection=2 * IN_FLIGHT)
    deadline = time.monotonic() + SETTLED_WITHIN_S
    left = [f"{prefix}-{number:05d}" for number in range(groups)]
    try:
        admin.create_topics([NewTopic(f"{prefix}-topic", partitions, 1)])
        while left:
            left = admin._manager.run(_commit_all, admin, left, f"{prefix}-topic", partitions)
            if left and time.monotonic() > deadline:
                raise TimeoutError(f"{len(left)} groups could not be made within {SETTLED_WITHIN_S} s")
    finally:
        admin.close()


async def _commit_all(admin: KafkaAdminClient, groups: list[str], topic: str, partitions: int) -> list[str]:
    """Commit for each group; those that were refused for now."""
    manager = admin._manager
    manager.cluster._coordinators.clear()
    try:
        coordinators = await admin._find_coordinator_ids(groups)
    except CoordinatorNotAvailableError:
        await manager._net.sleep(PAUSE_S)
        return groups
    waiting: deque[tuple[str, Future]] = deque()
    refused: list[str] = []
    for group in groups:
        waiting.append((group, manager.send(_commit(group, topic, partitions), node_id=coordinators[group])))
        if len(waiting) >= IN_FLIGHT:
            refused += await _refused(*waiting.popleft())
    while waiting:
        refused += await _refused(*waiting.popleft())
    return refused


async def _refused(group: str, answer: Future) -> list[str]:
    errors = {for_code(part.error_code) for topic in (await answer).topics for part in topic.partitions}
    for error in errors - {NoError}:
        if not issubclass(error, RetriableError):
            raise error
    return [group] if errors != {NoError} else []


def _commit(group: str, topic: str, partitions: int) -> OffsetCommitRequest:
    named = OffsetCommitRequest.OffsetCommitRequestTopic
    part = named.OffsetCommitRequestPartition
    rows = [
        part(partition_index=p, committed_offset=0, committed_leader_epoch=-1, committed_metadata="")
        for p in range(partitions)
    ]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        group_instance_id=None,
        topics=[named(name=topic, partitions=rows)],
        max_version=8,
    )
