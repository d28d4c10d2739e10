"""A classic group's record -> its next state. The record has the whole group, and is written when a rebalance is over.

Source: GroupMetadataManager and GroupCoordinatorRecordHelpers.newGroupMetadataRecord of Kafka 4.3.1. It is written when
the leader's plan has arrived, when the last member is gone, and when a static member was replaced without a rebalance
(KIP-345), which keeps the generation.
"""

from collections.abc import Sequence

from assignors.model import Group, Member, TopicPartition
from lag.generations.recorded import causes
from lag.generations.recorded.model import Progress, Timeouts, Written
from lag.records.group_values import ClassicMember, GroupMetadata


def states(group_id: str, at_ms: int, value: GroupMetadata, last: Written | None) -> list[Written]:
    """The states that follow `last`, oldest first; none when nothing has changed. Raises AssignorError.

    A generation below the last one, or the first one, is that of a group made anew.
    """
    if last is not None and not last.modern and 0 < value.generation < last.number:
        last = causes.gone(last, at_ms)
        return [last, *states(group_id, at_ms, value, last)]
    group = _group(group_id, value, last)
    if last is None and value.generation == 1 and group.members:
        last = causes.begun(0, at_ms, Group(group_id, (), {}, group.assignor), modern=False)
        return [last, *states(group_id, at_ms, value, last)]
    if last is None:
        return [causes.begun(value.generation, at_ms, group, modern=False)]
    if not last.modern and value.generation == last.number and _is_same(last.group, group):
        return []
    progress = Progress(value.current_state_timestamp, at_ms)
    return [causes.followed(last, value.generation, at_ms, group, progress, False, causes.CAME_BACK)]


def timeouts(value: GroupMetadata) -> dict[str, Timeouts]:
    """Those of the members, by id."""
    return {each.member_id: Timeouts(each.session_timeout_ms, each.rebalance_timeout_ms) for each in value.members}


def _group(group_id: str, value: GroupMetadata, last: Written | None) -> Group:
    owned = [_partitions(member) for member in value.members]
    members = [_member(member) for member in value.members]
    return causes.grouped(group_id, value.protocol, members, owned, last.group if last is not None else None)


def _member(member: ClassicMember) -> Member:
    said = member.subscription
    return Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        said.rack if said else None,
        said.topics if said else (),
    )


def _partitions(member: ClassicMember) -> list[TopicPartition]:
    given = member.assignment.partitions if member.assignment else ()
    return [TopicPartition(each.topic, number) for each in given for number in each.partitions]


def _is_same(old: Group, new: Group) -> bool:
    return _told(old.members) == _told(new.members)


def _told(members: Sequence[Member]) -> dict[str, tuple[object, ...]]:
    return {member.member_id: (member.topics, member.owned) for member in members}
