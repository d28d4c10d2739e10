"""The metadata images and deltas of Kafka's controller, made from our `Topics`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

import jpype

from assignors.model import Topic
from assignors.simulation.consumer import Topics, topic_id
from assignors.topic_ids import topic_uuid
from tests.oracle.coordinator_shard import EPOCH_MS, array_list, java, no_metadata
from tests.oracle.server_assignors import java_uuid


class JavaTopics:
    """The newest image, and the delta that led to it. The JVM must run."""

    def __init__(self, topics: Topics) -> None:
        self.image = no_metadata()
        self._seen: Mapping[str, Topic] = {}
        self.change(topics)

    def change(self, topics: Topics) -> tuple[Any, list[tuple[Any, str]]]:
        """The delta to these, and ids and names of the topics that it deletes."""
        delta = jpype.JClass("org.apache.kafka.image.MetadataDelta$Builder")().setImage(self.image).build()
        before = self._seen
        self._seen = {topic_id(topic): topic for topic in topics.by_name.values()}
        deleted = [topic for uuid, topic in before.items() if uuid not in self._seen]
        for topic in deleted:
            delta.replay(java("metadata.RemoveTopicRecord")().setTopicId(_uuid(topic)))
        for uuid, topic in self._seen.items():
            _grow(delta, topic, before.get(uuid))
        provenance = java("org.apache.kafka.image.MetadataProvenance")
        self.image = delta.apply(provenance(jpype.JLong(topics.version), 1, jpype.JLong(EPOCH_MS), True))
        return delta, [(_uuid(topic), topic.name) for topic in deleted]


def _uuid(topic: Topic) -> Any:
    uuid: UUID = topic_uuid(topic)
    return java_uuid(uuid)


def _grow(delta: Any, topic: Topic, before: Topic | None) -> None:
    uuid = _uuid(topic)
    if before is None:
        delta.replay(java("metadata.TopicRecord")().setName(topic.name).setTopicId(uuid))
    for number in range(0 if before is None else before.partitions, topic.partitions):
        delta.replay(_partition(topic_id(topic), number))


@lru_cache(1000)
def _partition(uuid_text: str, number: int) -> Any:
    replicas = array_list([java("java.lang.Integer").valueOf(0)])
    record = java("metadata.PartitionRecord")().setTopicId(java("Uuid").fromString(uuid_text)).setPartitionId(number)
    return record.setLeader(0).setReplicas(replicas).setIsr(replicas)
