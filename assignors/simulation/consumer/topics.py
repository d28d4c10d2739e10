"""The cluster's topics as a coordinator sees them (Kafka: CoordinatorMetadataImage)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from assignors.model import Topic, TopicPartition
from assignors.simulation.consumer.messages import TopicIdPartition
from assignors.topic_ids import kafka_text, topic_uuid

Fingerprint = frozenset[tuple[str, str, int]]
"""Topics by id, name and number of partitions: equal when Kafka's metadata hash is (racks aside)."""


@lru_cache(maxsize=65536)
def _id_text(name: str, text: str | None) -> str:
    return kafka_text(topic_uuid(Topic(name, 0, topic_id=text)))


def topic_id(topic: Topic) -> str:
    """The topic's id as Kafka prints it; without one it derives from the name (see `topic_uuid`)."""
    return _id_text(topic.name, topic.topic_id)


@dataclass(frozen=True, slots=True)
class Topics:
    """All topics by name. Every change makes a new version, also of the same coordinator's successor.

    A topic that is deleted and made again needs another `topic_id`.
    """

    by_name: Mapping[str, Topic]
    version: int = 0
    names: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", {topic_id(topic): name for name, topic in self.by_name.items()})

    @classmethod
    def of(cls, topics: Iterable[Topic]) -> "Topics":
        """The first version."""
        return cls({topic.name: topic for topic in topics})

    def changed(self, topics: Iterable[Topic]) -> "Topics":
        """The next version, with these topics and no others."""
        return Topics({topic.name: topic for topic in topics}, self.version + 1)

    def ids(self, names: Iterable[str]) -> frozenset[str]:
        """The ids of those that exist."""
        return frozenset(topic_id(self.by_name[name]) for name in names if name in self.by_name)

    def fingerprint(self, names: Iterable[str]) -> Fingerprint:
        """What a group that subscribes to these sees of them."""
        known = (self.by_name[name] for name in names if name in self.by_name)
        return frozenset((topic_id(topic), topic.name, topic.partitions) for topic in known)

    def partition(self, partition: TopicPartition) -> TopicIdPartition | None:
        """The partition by topic id; None when there is no such topic."""
        topic = self.by_name.get(partition.topic)
        return None if topic is None else TopicIdPartition(topic_id(topic), partition.partition)

    def named(self, partitions: Iterable[TopicIdPartition]) -> Iterator[TopicPartition]:
        """The partitions by topic name, without those of deleted topics."""
        for uuid, number in partitions:
            if uuid in self.names:
                yield TopicPartition(self.names[uuid], number)

    def touched_since(self, before: "Topics") -> frozenset[str]:
        """Names of topics that were created, deleted or grew since."""
        old, new = before.fingerprint(before.by_name), self.fingerprint(self.by_name)
        return frozenset(name for _, name, _ in old ^ new)
