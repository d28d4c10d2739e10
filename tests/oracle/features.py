"""What makes a random group hard to plan: so that tests can check that the generators bring it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from assignors.javahash import string_hash, uuid_hash
from assignors.model import Group, TopicPartition
from assignors.topic_ids import topic_uuid

MANY_MEMBERS = 12  # beyond, a table of the default capacity has doubled


def features(group: Group) -> set[str]:
    """The features that a group has."""
    members, subscribed = group.members, {name for member in group.members for name in member.topics}
    partitions = sum(topic.partitions for name, topic in group.topics.items() if name in subscribed)
    generations = {-1 if member.generation is None else member.generation for member in members if member.owned}
    has_racks = any(topic.racks for topic in group.topics.values()) and any(member.rack for member in members)
    found = {
        "more than 12 members": len(members) > MANY_MEMBERS,
        "member ids of one hash code": _has_equals([string_hash(member.member_id) for member in members]),
        "topic names of one hash code": _has_equals([string_hash(name) for name in group.topics]),
        "topic ids of one bucket": _has_equals([uuid_hash(topic_uuid(one)) % 16 for one in group.topics.values()]),
        "stale owners": len(generations) > 1,
        "racks": has_racks,
        "more members than partitions": len(members) > partitions > 0,
        "empty subscription first": bool(members) and not members[0].topics and bool(subscribed),
        "different subscriptions": len({frozenset(member.topics) for member in members}) > 1,
        "static ids": any(member.instance_id is not None for member in members),
        "owns of a topic that is gone": any(tp.topic not in group.topics for tp in _owned(group)),
        "owns of a topic that it left": any(tp.topic not in m.topics for m in members for tp in m.owned),
        "owns a partition that does not exist": any(_is_beyond(group, tp) for tp in _owned(group)),
        "user data": any(member.user_data is not None for member in members),
    }
    return {name for name, there in found.items() if there} | _double_claims(group)


def changes(before: Group, after: Group) -> set[str]:
    """What happened to the topics of a group."""
    common = before.topics.keys() & after.topics.keys()
    return {
        name
        for name, there in {
            "a topic grows": any(after.topics[name].partitions > before.topics[name].partitions for name in common),
            "a topic is deleted": bool(before.topics.keys() - after.topics.keys()),
        }.items()
        if there
    }


def _has_equals(codes: Sequence[int]) -> bool:
    return len(set(codes)) < len(codes)


def _owned(group: Group) -> Collection[TopicPartition]:
    return [tp for member in group.members for tp in member.owned]


def _is_beyond(group: Group, tp: TopicPartition) -> bool:
    topic = group.topics.get(tp.topic)
    return topic is not None and not 0 <= tp.partition < topic.partitions


def _double_claims(group: Group) -> set[str]:
    claims: Mapping[TopicPartition, list[int]] = defaultdict(list)
    for member in group.members:
        for tp in dict.fromkeys(member.owned):
            claims[tp].append(-1 if member.generation is None else member.generation)
    found: Counter[str] = Counter()
    for first, *rest in claims.values():
        for other in rest:
            found["older" if first < other else "newer" if first > other else "equal"] += 1
    return {f"double claim, the {order} first" if order != "equal" else "double claim, equal" for order in found}
