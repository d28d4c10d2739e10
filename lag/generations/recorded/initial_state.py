"""A group as a poll saw it -> where its records go on from, when it has written nothing as far back as we read.

Only groups at rest will do: in mid-rebalance neither a poll nor the next record tells what was before.
"""

from itertools import groupby

from assignors.model import Member, TopicPartition
from lag.generations.live_group import STAND_INS, assignor_of, generation_of, matched, unsettled
from lag.generations.recorded import causes
from lag.generations.recorded.consumer import Asked, Given, ModernGroup, NameOf
from lag.generations.recorded.model import Written
from lag.model import GroupSnapshot, GroupType
from lag.model import Member as Seen

AT_REST = frozenset({"Stable", "Empty"})
TYPES = frozenset({GroupType.CLASSIC, GroupType.CONSUMER, GroupType.SHARE})


def is_at_rest(group: GroupSnapshot) -> bool:
    """Whether the group's records go on from what the poll saw."""
    read = group.complete and not any(member.problem for member in group.members)
    settled = group.epoch == group.assignment_epoch or not group.members
    return read and settled and group.type in TYPES and group.state in AT_REST and not unsettled(group)


def is_modern(group: GroupSnapshot) -> bool:
    """Whether its broker plans."""
    return group.type is not GroupType.CLASSIC


def state(group: GroupSnapshot) -> Written:
    """The group's state as it was seen. Raises AssignorError on a partition that cannot be."""
    members = [_member(member, matched(group, member)) for member in group.members]
    owned = [_has(member) for member in group.members]
    made = causes.grouped(group.group_id, assignor_of(group) or _stand_in(group), members, owned, None)
    number = generation_of(group) or 0
    return causes.begun(number, group.at_ms, made, modern=is_modern(group), event=causes.AS_IT_WAS)


def modern(group: GroupSnapshot, name_of: NameOf) -> ModernGroup:
    """What the records of a KIP-848 or share group must have told by then."""
    epoch, ids = group.epoch or 0, [member.member_id for member in group.members]
    made = ModernGroup(group.group_id, group.type is GroupType.SHARE, name_of, True, epoch)
    made.planned_hash = None
    made.asked = {member.member_id: _asked(group, member) for member in group.members}
    made.targets = {member.member_id: _given(_has(member)) for member in group.members}
    made.regexes = {m.topic_regex: matched(group, m) for m in group.members if m.topic_regex is not None}
    made.stable_at, made.planned = dict.fromkeys(ids, epoch), frozenset(ids)
    return made


def _stand_in(group: GroupSnapshot) -> str | None:
    return STAND_INS.get(group.type, group.assignor)


def _has(member: Seen) -> tuple[TopicPartition, ...]:
    return member.assigned if member.target is None else member.target


def _member(member: Seen, topics: tuple[str, ...]) -> Member:
    return Member(member.member_id, member.instance_id, member.client_id, member.host, member.rack, topics)


def _asked(group: GroupSnapshot, member: Seen) -> Asked:
    return Asked(_member(member, member.topics), member.topic_regex, group.assignor)


def _given(partitions: tuple[TopicPartition, ...]) -> Given:
    by_topic = groupby(sorted(partitions), lambda tp: tp.topic)
    return tuple((topic, tuple(tp.partition for tp in tps)) for topic, tps in by_topic)
