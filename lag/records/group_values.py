"""The values of group records, one dataclass each, fields in wire order.

Source: the generated classes of org.apache.kafka.coordinator.group in Kafka 4.3.1. Times are in ms since 1970, unless
the name says otherwise.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from lag.records.consumer_protocol import MemberAssignment, Subscription
from lag.records.message_schema import (
    NULLABLE,
    Bytes,
    Int8,
    Int16,
    Int32,
    Int32OrAbsent,
    Int64,
    Int64OrAbsent,
    Since,
    Tag,
    Text,
    TextOrNone,
    UInt16,
    Uuid,
)


class Flexible:
    """A value with a single version, which is flexible."""

    __slots__ = ()
    VERSIONS: ClassVar = range(1)
    FLEXIBLE_SINCE: ClassVar = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMember:
    """A member of a classic group. The last two fields are decoded if the protocol type is `consumer`."""

    member_id: Text
    instance_id: Annotated[TextOrNone, Since(3)] = None
    client_id: Text
    client_host: Text
    rebalance_timeout_ms: Annotated[Int32OrAbsent, Since(1)] = None
    session_timeout_ms: Int32
    subscription_bytes: Bytes
    assignment_bytes: Bytes
    subscription: Subscription | None = None
    assignment: MemberAssignment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetadata:
    """A classic group after a rebalance; without members it is Empty."""

    VERSIONS: ClassVar = range(5)
    FLEXIBLE_SINCE: ClassVar = 4

    protocol_type: Text
    generation: Int32
    protocol: TextOrNone
    leader: TextOrNone
    current_state_timestamp: Annotated[Int64OrAbsent, Since(2)] = None
    members: tuple[ClassicMember, ...]


@dataclass(frozen=True, slots=True)
class TopicIdPartitions:
    """Partitions of one topic, by its id."""

    topic_id: Uuid
    partitions: tuple[Int32, ...]


@dataclass(frozen=True, slots=True)
class OwnedPartitions:
    """Partitions of one topic with the epoch of each assignment; empty: not known (KIP-1251)."""

    topic_id: Uuid
    partitions: tuple[Int32, ...]
    assignment_epochs: Annotated[tuple[Int32, ...] | None, NULLABLE, Tag(0)] = ()


@dataclass(frozen=True, slots=True)
class ConsumerGroupMetadata(Flexible):
    """A KIP-848 group's epoch; the hash of its topics' metadata (4.1 and later, else 0)."""

    epoch: Int32
    metadata_hash: Annotated[Int64, Tag(0)] = 0


@dataclass(frozen=True, slots=True)
class PartitionRacks:
    """Racks of one partition's replicas."""

    partition: Int32
    racks: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    """A topic as the group's coordinator knew it."""

    topic_id: Uuid
    topic: Text
    num_partitions: Int32
    partition_metadata: tuple[PartitionRacks, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupPartitionMetadata(Flexible):
    """The topics a KIP-848 group subscribes to (before 4.1)."""

    topics: tuple[TopicMetadata, ...]


@dataclass(frozen=True, slots=True)
class ClassicProtocol:
    """A protocol that a member with the classic protocol supports."""

    name: Text
    metadata: Bytes


@dataclass(frozen=True, slots=True)
class ClassicMemberMetadata:
    """The classic-protocol metadata of a member in a KIP-848 group; omitted if the member has none."""

    session_timeout_ms: Int32
    supported_protocols: tuple[ClassicProtocol, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupMemberMetadata(Flexible):
    """A member of a KIP-848 group."""

    instance_id: TextOrNone
    rack_id: TextOrNone
    client_id: Text
    client_host: Text
    subscribed_topic_names: tuple[Text, ...]
    subscribed_topic_regex: TextOrNone
    rebalance_timeout_ms: Int32
    server_assignor: TextOrNone
    classic_member_metadata: Annotated[ClassicMemberMetadata | None, NULLABLE, Tag(0)] = ClassicMemberMetadata(0, ())


@dataclass(frozen=True, slots=True)
class TargetAssignmentMetadata(Flexible):
    """The epoch of a group's target assignment; when it was computed (4.3 and later, else 0)."""

    assignment_epoch: Int32
    assignment_timestamp: Annotated[Int64, Tag(0)] = 0


@dataclass(frozen=True, slots=True)
class TargetAssignmentMember(Flexible):
    """The target assignment of a member."""

    topic_partitions: tuple[TopicIdPartitions, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupCurrentMemberAssignment(Flexible):
    """The current assignment of a member. States: 0 stable, 1 unrevoked, 2 unreleased partitions, 127 unknown."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: tuple[OwnedPartitions, ...]
    partitions_pending_revocation: tuple[OwnedPartitions, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupRegularExpression(Flexible):
    """The topics that a regular expression matched, the version of the metadata image, and the time."""

    topics: tuple[Text, ...]
    version: Int64
    timestamp: Int64


@dataclass(frozen=True, slots=True)
class ShareGroupMemberMetadata(Flexible):
    """A member of a share group."""

    rack_id: TextOrNone
    client_id: Text
    client_host: Text
    subscribed_topic_names: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class ShareGroupMetadata(Flexible):
    """A share group's epoch."""

    epoch: Int32
    metadata_hash: Int64


@dataclass(frozen=True, slots=True)
class ShareGroupCurrentMemberAssignment(Flexible):
    """The current assignment of a member of a share group."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: tuple[TopicIdPartitions, ...]


@dataclass(frozen=True, slots=True)
class NamedPartitions:
    """Partitions of one topic, by id and name."""

    topic_id: Uuid
    topic: Text
    partitions: tuple[Int32, ...]


@dataclass(frozen=True, slots=True)
class NamedTopic:
    """A topic, by id and name."""

    topic_id: Uuid
    topic: Text


@dataclass(frozen=True, slots=True)
class ShareGroupStatePartitionMetadata(Flexible):
    """The partitions for which a share group has state."""

    initializing_topics: tuple[NamedPartitions, ...]
    initialized_topics: tuple[NamedPartitions, ...]
    deleting_topics: tuple[NamedTopic, ...]


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A setting or a tag."""

    key: Text
    value: Text


@dataclass(frozen=True, slots=True)
class StreamsGroupMetadata(Flexible):
    """A streams group's epoch, its last validated topology, and its assignment settings."""

    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Annotated[Int32, Tag(0)] = -1
    last_assignment_configs: Annotated[tuple[KeyValue, ...] | None, NULLABLE, Tag(1)] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint for interactive queries of a Streams application."""

    host: Text
    port: UInt16


@dataclass(frozen=True, slots=True)
class StreamsGroupMemberMetadata(Flexible):
    """A member of a streams group."""

    instance_id: TextOrNone
    rack_id: TextOrNone
    client_id: Text
    client_host: Text
    rebalance_timeout_ms: Int32
    topology_epoch: Int32
    process_id: Text
    user_endpoint: Annotated[Endpoint | None, NULLABLE]
    client_tags: tuple[KeyValue, ...]


@dataclass(frozen=True, slots=True)
class Tasks:
    """Partitions of one subtopology."""

    subtopology_id: Text
    partitions: tuple[Int32, ...]


@dataclass(frozen=True, slots=True)
class OwnedTasks:
    """Partitions of one subtopology with the epoch of each assignment; empty: not known."""

    subtopology_id: Text
    partitions: tuple[Int32, ...]
    assignment_epochs: Annotated[tuple[Int32, ...] | None, NULLABLE, Tag(0)] = ()


@dataclass(frozen=True, slots=True)
class StreamsGroupTargetAssignmentMember(Flexible):
    """The target tasks of a member."""

    active_tasks: tuple[Tasks, ...]
    standby_tasks: tuple[Tasks, ...]
    warmup_tasks: tuple[Tasks, ...]


@dataclass(frozen=True, slots=True)
class StreamsGroupCurrentMemberAssignment(Flexible):
    """The current tasks of a member, and those that it must revoke."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: tuple[OwnedTasks, ...]
    standby_tasks: tuple[OwnedTasks, ...]
    warmup_tasks: tuple[OwnedTasks, ...]
    active_tasks_pending_revocation: tuple[OwnedTasks, ...]
    standby_tasks_pending_revocation: tuple[OwnedTasks, ...]
    warmup_tasks_pending_revocation: tuple[OwnedTasks, ...]


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """An internal topic of Streams."""

    name: Text
    partitions: Int32
    replication_factor: Int16
    topic_configs: tuple[KeyValue, ...]


@dataclass(frozen=True, slots=True)
class CopartitionGroup:
    """Topics with equal numbers of partitions, as indices of the subtopology's lists."""

    source_topics: tuple[Int16, ...]
    source_topic_regex: tuple[Int16, ...]
    repartition_source_topics: tuple[Int16, ...]


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A connected part of a Streams application."""

    subtopology_id: Text
    source_topics: tuple[Text, ...]
    source_topic_regex: tuple[Text, ...]
    state_changelog_topics: tuple[InternalTopic, ...]
    repartition_sink_topics: tuple[Text, ...]
    repartition_source_topics: tuple[InternalTopic, ...]
    copartition_groups: tuple[CopartitionGroup, ...]


@dataclass(frozen=True, slots=True)
class StreamsGroupTopology(Flexible):
    """The topology of a streams group."""

    epoch: Int32
    subtopologies: tuple[Subtopology, ...]
