"""A member of a streams group (KIP-1071) without Kafka Streams: it joins, takes its tasks and commits.

It sends no heartbeat afterwards: the broker's `group.streams.session.timeout.ms` is how long it stays.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from kafka.admin import KafkaAdminClient
from kafka.errors import NoError, RetriableError, for_code
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer import OffsetCommitRequest

from tests.support.waiting import wait_until

SCHEMAS = "tests.support.schemas"
SUBTOPOLOGY = "0"
COMMIT_WITH_EPOCH, COMMIT_BY_NAME = 9, 9
"""The first version of OffsetCommit that takes the epoch of a member, and the last one with topic names."""


class StreamsGroupHeartbeatRequest(ApiMessage, load_json=SCHEMAS):
    """Joins a streams group, or says what a member of it owns."""


class StreamsGroupHeartbeatResponse(ApiMessage, load_json=SCHEMAS):
    """The tasks of the member."""


class StreamsMember:
    """Joins the group at a cluster of one broker, node 1, with a topology that reads the topic."""

    def __init__(self, admin: KafkaAdminClient, group: str, topic: str) -> None:
        self._admin, self._group, self._topic = admin, group, topic
        self._id, self._epoch = str(uuid.uuid4()), 0
        self.tasks: tuple[int, ...] = ()
        """The partitions of the topic that it has."""
        wait_until(self._joined, 60, 0.2)
        wait_until(self._assigned, 60, 0.2)
        self._beat(**self._owned())

    def commit(self, offsets: Mapping[int, int]) -> None:
        """Commit these offsets of partitions."""
        named = OffsetCommitRequest.OffsetCommitRequestTopic
        parts = [
            named.OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_leader_epoch=-1, committed_metadata=""
            )
            for partition, offset in offsets.items()
        ]
        answer = self._sent(
            OffsetCommitRequest(
                group_id=self._group,
                generation_id_or_member_epoch=self._epoch,
                member_id=self._id,
                group_instance_id=None,
                topics=[named(name=self._topic, partitions=parts)],
                min_version=COMMIT_WITH_EPOCH,
                max_version=COMMIT_BY_NAME,
            )
        )
        errors = {for_code(part.error_code) for topic in answer.topics for part in topic.partitions}
        assert errors == {NoError}, errors

    def _joined(self) -> bool:
        its = StreamsGroupHeartbeatRequest.Topology
        reads = its.Subtopology(
            subtopology_id=SUBTOPOLOGY,
            source_topics=[self._topic],
            source_topic_regex=[],
            state_changelog_topics=[],
            repartition_sink_topics=[],
            repartition_source_topics=[],
            copartition_groups=[],
        )
        topology = its(epoch=0, subtopologies=[reads])
        return self._beat(topology=topology, rebalance_timeout_ms=60_000, process_id=self._id, **self._owned())

    def _assigned(self) -> bool:
        return self._beat() and bool(self.tasks)

    def _owned(self) -> dict[str, Any]:
        task = StreamsGroupHeartbeatRequest.TaskIds
        active = [task(subtopology_id=SUBTOPOLOGY, partitions=list(self.tasks))] if self.tasks else []
        return {"active_tasks": active, "standby_tasks": [], "warmup_tasks": []}

    def _beat(self, **changes: Any) -> bool:
        """Whether the coordinator took it; it may not be there yet."""
        answer = self._sent(
            StreamsGroupHeartbeatRequest(
                group_id=self._group,
                member_id=self._id,
                member_epoch=self._epoch,
                endpoint_information_epoch=0,
                **changes,
            )
        )
        error = for_code(answer.error_code)
        assert error is NoError or issubclass(error, RetriableError), (error, answer.error_message)
        if error is NoError:
            self._epoch = answer.member_epoch
            if answer.active_tasks is not None:
                self.tasks = tuple(p for task in answer.active_tasks for p in task.partitions)
        return error is NoError

    def _sent(self, request: Any) -> Any:
        async def answer() -> Any:
            return await self._admin._manager.send(request, node_id=1)

        return self._admin._manager.run(answer)
