"""The record types of `__consumer_offsets` by number, with which the key starts.

Source: org.apache.kafka.coordinator.group.generated.CoordinatorRecordType of Kafka 4.3.1. 9 and 18
no longer exist in it; numbers from 24 on are of later releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType

from lag.model import GroupType
from lag.records import group_values
from lag.records.message_schema import Message

OFFSET_COMMITS = (0, 1)
OFFSET_COMMIT_VERSIONS = range(5)


class Role(Enum):
    """What a record stores, whatever the type of its group."""

    GROUP = auto()  # a classic group with its members
    EPOCH = auto()  # the group epoch
    MEMBER = auto()  # a member's metadata
    TARGET_EPOCH = auto()  # the epoch of the target assignment
    TARGET = auto()  # a member's target assignment
    CURRENT = auto()  # a member's current assignment
    REGEX = auto()  # the topics that a regular expression matched
    OTHER = auto()


_SECOND_KEYS = dict.fromkeys((Role.MEMBER, Role.TARGET, Role.CURRENT), "member_id") | {Role.REGEX: "regular_expression"}


@dataclass(frozen=True, slots=True)
class RecordType:
    """The name of a record type, the class of its value, and what it stores."""

    name: str
    value: type[Message]
    role: Role = Role.OTHER

    @property
    def second_key(self) -> str | None:
        """The second field of its key, after the group id."""
        return _SECOND_KEYS.get(self.role)

    @property
    def group_type(self) -> GroupType:
        """The type of the groups that have such records."""
        return GroupType.CLASSIC if self.role is Role.GROUP else GroupType(self.name.partition("_")[0])


RECORD_TYPES: Mapping[int, RecordType] = MappingProxyType(
    {
        2: RecordType("group", group_values.GroupMetadata, Role.GROUP),
        3: RecordType("consumer_group_metadata", group_values.ConsumerGroupMetadata, Role.EPOCH),
        4: RecordType("consumer_group_partition_metadata", group_values.ConsumerGroupPartitionMetadata),
        5: RecordType("consumer_group_member_metadata", group_values.ConsumerGroupMemberMetadata, Role.MEMBER),
        6: RecordType(
            "consumer_group_target_assignment_metadata", group_values.TargetAssignmentMetadata, Role.TARGET_EPOCH
        ),
        7: RecordType("consumer_group_target_assignment_member", group_values.TargetAssignmentMember, Role.TARGET),
        8: RecordType(
            "consumer_group_current_member_assignment", group_values.ConsumerGroupCurrentMemberAssignment, Role.CURRENT
        ),
        10: RecordType("share_group_member_metadata", group_values.ShareGroupMemberMetadata, Role.MEMBER),
        11: RecordType("share_group_metadata", group_values.ShareGroupMetadata, Role.EPOCH),
        12: RecordType(
            "share_group_target_assignment_metadata", group_values.TargetAssignmentMetadata, Role.TARGET_EPOCH
        ),
        13: RecordType("share_group_target_assignment_member", group_values.TargetAssignmentMember, Role.TARGET),
        14: RecordType(
            "share_group_current_member_assignment", group_values.ShareGroupCurrentMemberAssignment, Role.CURRENT
        ),
        15: RecordType("share_group_state_partition_metadata", group_values.ShareGroupStatePartitionMetadata),
        16: RecordType("consumer_group_regular_expression", group_values.ConsumerGroupRegularExpression, Role.REGEX),
        17: RecordType("streams_group_metadata", group_values.StreamsGroupMetadata, Role.EPOCH),
        19: RecordType("streams_group_member_metadata", group_values.StreamsGroupMemberMetadata, Role.MEMBER),
        20: RecordType(
            "streams_group_target_assignment_metadata", group_values.TargetAssignmentMetadata, Role.TARGET_EPOCH
        ),
        21: RecordType(
            "streams_group_target_assignment_member", group_values.StreamsGroupTargetAssignmentMember, Role.TARGET
        ),
        22: RecordType(
            "streams_group_current_member_assignment", group_values.StreamsGroupCurrentMemberAssignment, Role.CURRENT
        ),
        23: RecordType("streams_group_topology", group_values.StreamsGroupTopology),
    }
)
