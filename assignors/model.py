"""The common types: topic partitions, topics, members, groups, assignments, and the protocol of an assignor.

A sequence of topic partitions may be a tuple or an `assignors.layout.PartitionList`, which holds int32 codes and
creates `TopicPartition` objects only when it is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable


class TopicPartition(NamedTuple):
    """One partition of one topic, by name and number (Kafka: `org.apache.kafka.common.TopicPartition`).

    A tuple, because there are millions, and tuples are created, hashed and compared several times faster than
    dataclasses.
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Numbers by topic, both in the order of the partitions."""
    found: dict[str, list[int]] = {}
    for topic, number in partitions:
        found.setdefault(topic, []).append(number)
    return found


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with partitions 0 to `partitions` - 1.

    `racks[p]` lists the racks of partition p's replicas; None when no rack is known. `topic_id` is the topic's UUID as
    text, on which server-side plans depend; None when unknown.
    """

    name: str
    partitions: int
    racks: Sequence[Sequence[str]] | None = None
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A member as its subscription describes it.

    `topics` keeps the order and the duplicates of the subscription; of one by `pattern` (None: by name) it has what
    matches, as far as it is known. `owned` is what it claims to own, as of `generation` (None: it does not say).
    `user_data` is what the assignor's user data held on the wire, where that and
    not `owned` is the assignor's source of truth (Kafka's `sticky`). `owned_topics` are the topics of its assignment in
    the order of Kafka's map, where that has topics without partitions (share groups); empty: the topics of `owned`.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    rack: str | None = None
    topics: tuple[str, ...] = ()
    owned: Sequence[TopicPartition] = ()
    generation: int | None = None
    user_data: bytes | None = None
    pattern: str | None = None
    owned_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A group: members in the order in which they joined, and the topics of the cluster."""

    group_id: str
    members: tuple[Member, ...]
    topics: Mapping[str, Topic]
    assignor: str | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment. `by_member` has all members, with their partitions in Kafka's order.

    `topics_by_member` has the topics of members whose map keeps topics without partitions (share groups), in its order.
    """

    generation: int | None
    by_member: Mapping[str, Sequence[TopicPartition]] = field(default_factory=dict)
    topics_by_member: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@runtime_checkable
class Assignor(Protocol):
    """An assignor: Kafka's own, or a plugin with these two members."""

    @property
    def name(self) -> str:
        """The name under which it is chosen, as Kafka spells it."""

    def assign(self, group: Group) -> Assignment:
        """Assign the partitions. Pure: equal groups give equal assignments. Raises AssignorError when it cannot."""


class AssignorError(Exception):
    """An assignor cannot assign a group's partitions; the message gives the reason."""
