"""The state of a group from a poll, for groups whose last records are further back than the topic is read.

Only for stable groups: during a rebalance neither a poll nor the next record has the previous assignment.
"""

from itertools import groupby

from assignors.model import Member, TopicPartition
from lag.generations.live_group import (
    DEFAULT_ASSIGNORS,
    TargetPartitions,
    assignor_of,
    generation_of,
    subscribed_topics,
    unreconciled,
)
from lag.generations.recorded import causes
from lag.generations.recorded.consumer import MemberMetadata, ModernGroup, TopicNameOf
from lag.generations.recorded.model import RecordedState
from lag.model import GroupSnapshot, GroupType
from lag.model import Member as Seen

STABLE_STATES = frozenset({"Stable", "Empty"})
TYPES = frozenset({GroupType.CLASSIC, GroupType.CONSUMER, GroupType.SHARE})


def is_stable(group: GroupSnapshot) -> bool:
    """Whether the group's next records continue from this poll."""
    read = group.complete and not any(member.problem for member in group.members)
    settled = group.epoch == group.assignment_epoch or not group.members
    return read and settled and group.type in TYPES and group.state in STABLE_STATES and not unreconciled(group)


def is_modern(group: GroupSnapshot) -> bool:
    """Whether the broker computes its assignment."""
    return group.type is not GroupType.CLASSIC


def state(group: GroupSnapshot) -> RecordedState:
    """The group's state at the poll. Raises AssignorError for an invalid partition."""
    members = [_member(member, subscribed_topics(group, member)) for member in group.members]
    owned = [_partitions(member) for member in group.members]
    assignor = assignor_of(group) or DEFAULT_ASSIGNORS.get(group.type, group.assignor)
    made = causes.build_group(group.group_id, assignor, members, owned, None)
    number = generation_of(group) or 0
    return causes.first_state(number, group.at_ms, made, modern=is_modern(group), event=causes.SEEN_IN_POLL)


def modern(group: GroupSnapshot, name_of: TopicNameOf) -> ModernGroup:
    """A KIP-848 or share group as its records up to the poll describe it."""
    epoch, ids = group.epoch or 0, [member.member_id for member in group.members]
    made = ModernGroup(group.group_id, group.type is GroupType.SHARE, name_of, True, epoch)
    made.planned_hash = None
    made.members = {
        member.member_id: MemberMetadata(_member(member, member.topics), member.topic_regex, group.assignor)
        for member in group.members
    }
    made.targets = {member.member_id: _given(_partitions(member)) for member in group.members}
    made.regexes = {m.topic_regex: subscribed_topics(group, m) for m in group.members if m.topic_regex is not None}
    made.stable_at, made.planned, made.polled = dict.fromkeys(ids, epoch), frozenset(ids), set(ids)
    return made


def _partitions(member: Seen) -> tuple[TopicPartition, ...]:
    return member.assigned if member.target is None else member.target


def _member(member: Seen, topics: tuple[str, ...]) -> Member:
    return Member(member.member_id, member.instance_id, member.client_id, member.host, member.rack, topics)


def _given(partitions: tuple[TopicPartition, ...]) -> TargetPartitions:
    by_topic = groupby(sorted(partitions), lambda tp: tp.topic)
    return tuple((topic, tuple(tp.partition for tp in tps)) for topic, tps in by_topic)
