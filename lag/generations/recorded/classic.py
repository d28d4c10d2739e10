"""The next states of a classic group from its record, which has the whole group.

Source: GroupMetadataManager and GroupCoordinatorRecordHelpers.newGroupMetadataRecord of Kafka 4.3.1. The record is
written when the leader's assignment arrives, when the last member leaves, and when a static member is replaced without
a rebalance (KIP-345), which keeps the generation.
"""

from assignors.model import Group, Member, TopicPartition
from lag.generations.recorded import causes
from lag.generations.recorded.model import Reconciliation, RecordedState, Timeouts
from lag.records.group_values import ClassicMember, GroupMetadata


def states(group_id: str, at_ms: int, value: GroupMetadata, last: RecordedState | None) -> list[RecordedState]:
    """The states that follow `last`, oldest first; none if nothing has changed. Raises AssignorError.

    A lower generation than the last one means that the group was deleted and created again.
    """
    if last is not None and not last.modern and 0 < value.generation < last.number:
        last = causes.deleted_state(last, at_ms)
        return [last, *states(group_id, at_ms, value, last)]
    group = _group(group_id, value, last)
    if last is None and value.generation == 1 and group.members:
        last = causes.first_state(0, at_ms, Group(group_id, (), {}, group.assignor), modern=False)
        return [last, *states(group_id, at_ms, value, last)]
    if last is None:
        return [causes.first_state(value.generation, at_ms, group, modern=False)]
    if not last.modern and value.generation == last.number and _by_id(last.group) == _by_id(group):
        return []
    progress = Reconciliation(value.current_state_timestamp, at_ms)
    return [causes.next_state(last, value.generation, at_ms, group, progress, False, causes.REJOINED)]


def timeouts(value: GroupMetadata) -> dict[str, Timeouts]:
    """The timeouts of the members, by member id."""
    return {each.member_id: Timeouts(each.session_timeout_ms, each.rebalance_timeout_ms) for each in value.members}


def _group(group_id: str, value: GroupMetadata, last: RecordedState | None) -> Group:
    owned = [_partitions(member) for member in value.members]
    members = [_member(member) for member in value.members]
    return causes.build_group(group_id, value.protocol, members, owned, None if last is None else last.group)


def _member(member: ClassicMember) -> Member:
    subscription = member.subscription
    return Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        subscription.rack if subscription else None,
        subscription.topics if subscription else (),
    )


def _partitions(member: ClassicMember) -> list[TopicPartition]:
    given = member.assignment.partitions if member.assignment else ()
    return [TopicPartition(each.topic, number) for each in given for number in each.partitions]


def _by_id(group: Group) -> dict[str, tuple[object, ...]]:
    return {member.member_id: (member.topics, member.owned) for member in group.members}
