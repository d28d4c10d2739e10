"""The record types of `__consumer_offsets` by number, with which the key starts.

Source: org.apache.kafka.coordinator.group.generated.CoordinatorRecordType of Kafka 4.3.1. 9 and 18
no longer exist in it; numbers from 24 on are of later releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lag.records import group_values
from lag.records.message_schema import Message

OFFSET_COMMITS = (0, 1)
OFFSET_COMMIT_VERSIONS = range(5)


@dataclass(frozen=True, slots=True)
class RecordType:
    """The name of a record type, the class of its value, and the second field of its key."""

    name: str
    value: type[Message]
    second_key: str | None = None


_MEMBER, _REGEX = "member_id", "regular_expression"

RECORD_TYPES: Mapping[int, RecordType] = MappingProxyType(
    {
        2: RecordType("group", group_values.GroupMetadata),
        3: RecordType("consumer_group_metadata", group_values.ConsumerGroupMetadata),
        4: RecordType("consumer_group_partition_metadata", group_values.ConsumerGroupPartitionMetadata),
        5: RecordType("consumer_group_member_metadata", group_values.ConsumerGroupMemberMetadata, _MEMBER),
        6: RecordType("consumer_group_target_assignment_metadata", group_values.TargetAssignmentMetadata),
        7: RecordType("consumer_group_target_assignment_member", group_values.TargetAssignmentMember, _MEMBER),
        8: RecordType(
            "consumer_group_current_member_assignment", group_values.ConsumerGroupCurrentMemberAssignment, _MEMBER
        ),
        10: RecordType("share_group_member_metadata", group_values.ShareGroupMemberMetadata, _MEMBER),
        11: RecordType("share_group_metadata", group_values.ShareGroupMetadata),
        12: RecordType("share_group_target_assignment_metadata", group_values.TargetAssignmentMetadata),
        13: RecordType("share_group_target_assignment_member", group_values.TargetAssignmentMember, _MEMBER),
        14: RecordType(
            "share_group_current_member_assignment", group_values.ShareGroupCurrentMemberAssignment, _MEMBER
        ),
        15: RecordType("share_group_state_partition_metadata", group_values.ShareGroupStatePartitionMetadata),
        16: RecordType("consumer_group_regular_expression", group_values.ConsumerGroupRegularExpression, _REGEX),
        17: RecordType("streams_group_metadata", group_values.StreamsGroupMetadata),
        19: RecordType("streams_group_member_metadata", group_values.StreamsGroupMemberMetadata, _MEMBER),
        20: RecordType("streams_group_target_assignment_metadata", group_values.TargetAssignmentMetadata),
        21: RecordType(
            "streams_group_target_assignment_member", group_values.StreamsGroupTargetAssignmentMember, _MEMBER
        ),
        22: RecordType(
            "streams_group_current_member_assignment", group_values.StreamsGroupCurrentMemberAssignment, _MEMBER
        ),
        23: RecordType("streams_group_topology", group_values.StreamsGroupTopology),
    }
)
