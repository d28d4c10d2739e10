"""Why is it so: plan a live group again with its own assignor, compare with what is assigned, and explain.

A classic group is planned from what its members claimed when they last joined, which is what its leader had before it.
A group whose broker plans (KIP-848, share) is planned from its target assignment, which is what its coordinator will
start from; whatever the assignor would keep there is explained by that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import assignors
from assignors.client.sticky import user_data
from assignors.model import Assignment, AssignorError, Group, TopicPartition
from assignors.registry import BUILT_IN
from lag.generations.changes import Owners, owners_of
from lag.generations.live_group import REBALANCING, UNSETTLED, assignor_of, generation_of, group_of, unsettled
from lag.model import GroupSnapshot, GroupType, Member, Topic

JAVA_SUBSCRIPTION = 3
"""The version in which Java consumers since 3.5 write their subscription (KIP-881)."""

GENERATION_BYTES = 4
"""All that Java's `cooperative-sticky` writes for user data."""

FOREIGN: Mapping[str, str] = {
    "cooperative-sticky": "librdkafka's does so, and deals what is free to members in descending order of their ids, "
    "where Java's takes the ascending one",
    "sticky": "Java's sticky reads nothing from it (kafka-python's has two bytes too many), so it is planned here as "
    "if the member owned nothing",
}
"""What is known of other libraries, by assignor."""

RANDOM_ORDER = frozenset({"range", "roundrobin", "server-range"})
"""Assignors that follow the order of member ids, and nothing else where there are no instance ids."""

RULES: Mapping[str, str] = {
    "range": "range cuts each topic into contiguous ranges, members in order of instance id, else of member id",
    "roundrobin": "roundrobin deals partitions one by one, members in order of instance id, else of member id",
    "sticky": "sticky keeps what members owned as far as balance allows, and deals out the rest",
    "cooperative-sticky": "cooperative-sticky keeps what members owned as far as balance allows; what moves is revoked "
    "in one rebalance and given in the next",
    "uniform": "uniform keeps what members have as far as balance allows; who has one more follows the hash order of "
    "member ids",
    "server-range": "range cuts each topic into contiguous ranges, members in order of instance id, else of member id",
    "share-simple": "simple shares each partition among as many members as it takes to keep all busy",
}
"""Why, in one clause, by assignor."""


class Verdict(StrEnum):
    """Whether the group's own assignor, run again, gives what is assigned."""

    SAME = "same"
    DIFFERS = "differs"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class Difference:
    """A partition with another owner than the assignor would give it; several owners in share groups, maybe none."""

    tp: TopicPartition
    assigned: tuple[str, ...]
    recomputed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Why:
    """The verdict with its sentence; when it differs, likely reasons with their evidence, the likeliest first.

    `moves_now` counts the partitions that a rebalance at this moment would move, `stay_if_fresh` those (of
    `partitions`) that would keep their owners if nobody said what it owned. None where they cannot be planned.
    """

    verdict: Verdict
    sentence: str
    reasons: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    partitions: int = 0
    moves_now: int | None = None
    stay_if_fresh: int | None = None


def why(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Why:
    """Plan the group again and compare. Never raises: what cannot be planned has the verdict CANNOT and says why."""
    obstacle = _obstacle(group)
    if obstacle:
        return Why(Verdict.CANNOT, obstacle)
    now = group_of(group, topics)
    assigned = owners_of((member.member_id, member.assigned) for member in group.members)
    try:
        planned = _planned(as_last_planned(group, now))
    except AssignorError as error:
        return Why(Verdict.CANNOT, f"{now.assignor} cannot plan this group: {error}", partitions=len(assigned))
    different = tuple(_differences(assigned, planned))
    moves_now, fresh = _or_none(now), _or_none(_without_ownership(now))
    return Why(
        Verdict.DIFFERS if different else Verdict.SAME,
        _sentence(now, different, len({*assigned, *planned})),
        tuple(_reasons(group, topics, different)) if different else (),
        different,
        len({*assigned, *planned}),
        None if moves_now is None else sum(assigned.get(tp) != moves_now.get(tp) for tp in {*assigned, *moves_now}),
        None if fresh is None else sum(owners == fresh.get(tp) for tp, owners in assigned.items()),
    )


def as_last_planned(group: GroupSnapshot, now: Group) -> Group:
    """The group as whoever planned it last had it before it; `now` is what `group_of` makes of it."""
    if group.type is not GroupType.CLASSIC:
        have = [member.assigned if member.target is None else member.target for member in group.members]
        members = tuple(replace(m, owned=owned) for m, owned in zip(now.members, have, strict=True))
        return replace(now, members=members)
    claims = [_claims(member, now.assignor) for member in group.members]
    members = tuple(
        replace(m, owned=owned, generation=said.generation, user_data=said.user_data)
        for m, owned, said in zip(now.members, claims, group.members, strict=True)
    )
    return replace(now, members=members)


def _claims(member: Member, assignor: str | None) -> tuple[TopicPartition, ...]:
    """Kafka's `sticky` reads user data alone."""
    return () if assignor == "sticky" and member.user_data is None else member.owned or ()


def _obstacle(group: GroupSnapshot) -> str | None:
    """Why the group cannot be planned again at all."""
    if not group.members:
        return "The group has no members, so nothing is assigned."
    if group.type is GroupType.STREAMS:
        return "The broker plans tasks for a streams group, not partitions; none of Kafka's assignors has a part in it."
    if group.type is GroupType.CLASSIC and group.state in REBALANCING:
        return "The group is rebalancing: until that is over, the coordinator tells neither subscriptions nor plan."
    if assignor_of(group) not in BUILT_IN:
        return _not_kafkas(group)
    unread = [member for member in group.members if member.problem is not None]
    return f"Of member {unread[0].member_id}, {unread[0].problem}." if unread else None


def _not_kafkas(group: GroupSnapshot) -> str:
    """Plugins are not asked: this is computed where one that hangs or dies would take all pages along."""
    if group.assignor is None:
        return "It names no assignor, so it cannot be planned again."
    if assignor_of(group) is None:
        return f"Its assignor, {group.assignor!r}, is not known here; What if can run a plugin of that name."
    return f"Its assignor, {group.assignor!r}, is a plugin, which only What if runs, in a process of its own."


def _planned(group: Group) -> Owners:
    plan: Assignment = assignors.get(group.assignor or "").assign(group)
    return owners_of(plan.by_member.items())


def _or_none(group: Group) -> Owners | None:
    try:
        return _planned(group)
    except AssignorError:
        return None


def _without_ownership(group: Group) -> Group:
    return replace(group, members=tuple(replace(m, owned=(), generation=None) for m in group.members))


def _differences(assigned: Owners, planned: Owners) -> Iterator[Difference]:
    nobody: frozenset[str] = frozenset()
    for tp in sorted({*assigned, *planned}):
        have, would = assigned.get(tp, nobody), planned.get(tp, nobody)
        if have != would:
            yield Difference(tp, tuple(sorted(have)), tuple(sorted(would)))


def _sentence(group: Group, different: tuple[Difference, ...], partitions: int) -> str:
    name = group.assignor or ""
    if different:
        return f"{len(different)} of {partitions} partitions are not where {name}, run again, would put them."
    rule = RULES.get(name, f"{name} has a rule of its own")
    said = f"The plan is what the assignor gives from what members own: {rule}."
    if name in RANDOM_ORDER and any(member.instance_id is None for member in group.members):
        said += " Member ids are random, so after a restart the same clients may stand in another order."
    return said


def _reasons(group: GroupSnapshot, topics: Mapping[str, Topic], different: tuple[Difference, ...]) -> Iterator[str]:
    found = [*_of_state(group), *_of_topics(group, topics, different), *_of_members(group, topics)]
    yield from found or ["No sign of the reason: whoever planned the group may run another version of the assignor."]


def _of_state(group: GroupSnapshot) -> Iterator[str]:
    waiting = unsettled(group)
    if waiting:
        yield f"In mid-rebalance: {len(waiting)} of {len(group.members)} members do not have their target yet."
    elif group.state in UNSETTLED:
        yield f"In mid-rebalance: the group is {group.state}."
    if group.epoch is not None and group.assignment_epoch is not None and group.assignment_epoch < group.epoch:
        epochs = f"epoch {group.epoch}, target of epoch {group.assignment_epoch}"
        yield f"Members or topics have changed since the target was computed: the group is at {epochs}."
    if not group.complete:
        yield f"The group was read in part only: {'; '.join(problem.cause for problem in group.problems)}."


def _of_topics(group: GroupSnapshot, topics: Mapping[str, Topic], different: tuple[Difference, ...]) -> Iterator[str]:
    new = sorted({d.tp.topic for d in different if not d.assigned})
    for name in new:
        beyond = sum(d.tp.topic == name and not d.assigned for d in different)
        yield f"Topic {name} has {beyond} partitions that nobody has: it grew, or came, after the last rebalance."
    gone = sorted({d.tp.topic for d in different} - set(topics))
    yield from (f"Topic {name}, which is assigned, does not exist any more." for name in gone)


def _of_members(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Iterator[str]:
    stale = [m for m in group.members if {tp.topic for tp in m.assigned} - {*m.topics} and m.topic_regex is None]
    if stale:
        yield f"{_first(stale)} has partitions of topics that it does not subscribe to (any more)."
    if group.type is not GroupType.CLASSIC:
        yield from _of_server(group, topics)
        return
    back = [member for member in group.members if _came_back(member, generation_of(group))]
    if back:
        yield f"{_first(back)} is static and has come back since the last rebalance; what it had claimed is lost."
    old = [m for m in group.members if m.subscription_version is not None and m.subscription_version < 1]
    if old and assignor_of(group) == "cooperative-sticky":
        yield f"{_first(old)} is an older client, whose subscription (version 0) does not say what it owns."
    yield from _of_clients(group)


def _came_back(member: Member, generation: int | None) -> bool:
    nothing_claimed = not member.owned and member.generation is None
    return bool(member.instance_id and member.assigned and nothing_claimed and generation is not None)


def _of_clients(group: GroupSnapshot) -> Iterator[str]:
    """Signs that the leader, whose assignor planned the group, is not Java's of today."""
    versions = sorted({m.subscription_version for m in group.members if m.subscription_version is not None})
    if versions and versions[0] < JAVA_SUBSCRIPTION:
        who = f"subscriptions of version {', '.join(map(str, versions))} (Java since 3.5: {JAVA_SUBSCRIPTION})"
        yield f"The group has {who}: another or older client may have planned it, with an assignor of its own."
    foreign = [member for member in group.members if _is_foreign(member.user_data, assignor_of(group))]
    if foreign:
        yield f"{_first(foreign)} writes user data as Java's consumer does not: {FOREIGN.get(group.assignor or '')}."


def _is_foreign(data: bytes | None, assignor: str | None) -> bool:
    """Whether user data is not what Java's assignor of that name writes."""
    if not data:
        return False
    if assignor == "cooperative-sticky":
        return len(data) != GENERATION_BYTES
    return assignor == "sticky" and user_data.decode(data) == user_data.NOTHING


def _of_server(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Iterator[str]:
    names = {tp.topic for member in group.members for tp in member.assigned}
    if any(name in topics and topics[name].topic_id is None for name in names):
        yield "The cluster tells no topic ids, on which the broker's plan depends."
    if any(member.topic_regex is not None for member in group.members):
        yield "Members subscribe by regular expression; what it matches is not told, only what is assigned."


def _first(members: list[Member]) -> str:
    """One of several members, by a name for people."""
    name = members[0].instance_id or members[0].client_id or members[0].member_id
    return name if len(members) == 1 else f"{name} (and {len(members) - 1} more)"
