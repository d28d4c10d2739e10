"""Every kind of record in `__consumer_offsets`, by the number that begins its key.

Source: org.apache.kafka.coordinator.group.generated.CoordinatorRecordType of Kafka 4.3.1. Of the numbers in between, 9
and 18 are no longer known to it; those from 24 on are of later releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lag.records import values
from lag.records.schema import Message

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
        2: Kind("group", values.GroupMetadata),
        3: Kind("consumer_group_metadata", values.ConsumerGroupMetadata),
        4: Kind("consumer_group_partition_metadata", values.ConsumerGroupPartitionMetadata),
        5: Kind("consumer_group_member_metadata", values.ConsumerGroupMemberMetadata, _MEMBER),
        6: Kind("consumer_group_target_assignment_metadata", values.TargetAssignmentMetadata),
        7: Kind("consumer_group_target_assignment_member", values.TargetAssignmentMember, _MEMBER),
        8: Kind("consumer_group_current_member_assignment", values.ConsumerGroupCurrentMemberAssignment, _MEMBER),
        10: Kind("share_group_member_metadata", values.ShareGroupMemberMetadata, _MEMBER),
        11: Kind("share_group_metadata", values.ShareGroupMetadata),
        12: Kind("share_group_target_assignment_metadata", values.TargetAssignmentMetadata),
        13: Kind("share_group_target_assignment_member", values.TargetAssignmentMember, _MEMBER),
        14: Kind("share_group_current_member_assignment", values.ShareGroupCurrentMemberAssignment, _MEMBER),
        15: Kind("share_group_state_partition_metadata", values.ShareGroupStatePartitionMetadata),
        16: Kind("consumer_group_regular_expression", values.ConsumerGroupRegularExpression, _REGEX),
        17: Kind("streams_group_metadata", values.StreamsGroupMetadata),
        19: Kind("streams_group_member_metadata", values.StreamsGroupMemberMetadata, _MEMBER),
        20: Kind("streams_group_target_assignment_metadata", values.TargetAssignmentMetadata),
        21: Kind("streams_group_target_assignment_member", values.StreamsGroupTargetAssignmentMember, _MEMBER),
        22: Kind("streams_group_current_member_assignment", values.StreamsGroupCurrentMemberAssignment, _MEMBER),
        23: Kind("streams_group_topology", values.StreamsGroupTopology),
    }
)
