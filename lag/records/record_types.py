"""Every kind of record in `__consumer_offsets`, by the number that begins its key.

Source: org.apache.kafka.coordinator.group.generated.CoordinatorRecordType of Kafka 4.3.1. Of the numbers in between, 9
and 18 are no longer known to it; those from 24 on are of later releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lag.records import group_values
from lag.records.message_schema import Message

OFFSET_COMMITS = (0, 1)
OFFSET_COMMIT_VERSIONS = range(5)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a group record is called, the class of its value, and what its key names beside the group."""

    name: str
    value: type[Message]
    second_key: str | None = None


_MEMBER, _REGEX = "member_id", "regular_expression"

KINDS: Mapping[int, Kind] = MappingProxyType(
    {
        2: Kind("group", group_values.GroupMetadata),
        3: Kind("consumer_group_metadata", group_values.ConsumerGroupMetadata),
        4: Kind("consumer_group_partition_metadata", group_values.ConsumerGroupPartitionMetadata),
        5: Kind("consumer_group_member_metadata", group_values.ConsumerGroupMemberMetadata, _MEMBER),
        6: Kind("consumer_group_target_assignment_metadata", group_values.TargetAssignmentMetadata),
        7: Kind("consumer_group_target_assignment_member", group_values.TargetAssignmentMember, _MEMBER),
        8: Kind("consumer_group_current_member_assignment", group_values.ConsumerGroupCurrentMemberAssignment, _MEMBER),
        10: Kind("share_group_member_metadata", group_values.ShareGroupMemberMetadata, _MEMBER),
        11: Kind("share_group_metadata", group_values.ShareGroupMetadata),
        12: Kind("share_group_target_assignment_metadata", group_values.TargetAssignmentMetadata),
        13: Kind("share_group_target_assignment_member", group_values.TargetAssignmentMember, _MEMBER),
        14: Kind("share_group_current_member_assignment", group_values.ShareGroupCurrentMemberAssignment, _MEMBER),
        15: Kind("share_group_state_partition_metadata", group_values.ShareGroupStatePartitionMetadata),
        16: Kind("consumer_group_regular_expression", group_values.ConsumerGroupRegularExpression, _REGEX),
        17: Kind("streams_group_metadata", group_values.StreamsGroupMetadata),
        19: Kind("streams_group_member_metadata", group_values.StreamsGroupMemberMetadata, _MEMBER),
        20: Kind("streams_group_target_assignment_metadata", group_values.TargetAssignmentMetadata),
        21: Kind("streams_group_target_assignment_member", group_values.StreamsGroupTargetAssignmentMember, _MEMBER),
        22: Kind("streams_group_current_member_assignment", group_values.StreamsGroupCurrentMemberAssignment, _MEMBER),
        23: Kind("streams_group_topology", group_values.StreamsGroupTopology),
    }
)
