"""Explains a live assignment: computes it again with the group's own assignor and compares.

For a classic group the input is what its members reported at their last join, which is what the leader had. For KIP-848
and share groups it is the target assignment, from which the coordinator starts; so partitions that the assignor keeps
are explained by it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import assignors
from assignors.client.sticky import user_data
from assignors.model import Assignment, AssignorError, Group, TopicPartition
from assignors.registry import BUILT_IN
from lag.generations.changes import Owners, owners_of
from lag.generations.live_group import REBALANCING, UNSETTLED_STATES, assignor_of, generation_of, group_of, unreconciled
from lag.model import GroupSnapshot, GroupType, Member, Topic

JAVA_SUBSCRIPTION = 3
"""The subscription version of Java consumers since 3.5 (KIP-881)."""

GENERATION_BYTES = 4
"""The length of the user data of Java's `cooperative-sticky`."""

OTHER_CLIENTS: Mapping[str, str] = {
    "cooperative-sticky": "librdkafka does, and assigns free partitions to members in descending order of their ids, "
    "while Java uses the ascending order",
    "sticky": "Java's sticky reads nothing from it (kafka-python writes two bytes too many), so here the member owns "
    "nothing",
}
"""What other client libraries do, by assignor."""

RANDOM_ORDER = frozenset({"range", "roundrobin", "server-range"})
"""Assignors whose result depends only on the order of member ids, unless there are instance ids."""

RULES: Mapping[str, str] = {
    "range": "range cuts each topic into contiguous ranges, members in order of instance id, else of member id",
    "roundrobin": "roundrobin assigns partitions one by one, members in order of instance id, else of member id",
    "sticky": "sticky keeps what members owned as far as balance allows, and distributes the rest",
    "cooperative-sticky": "cooperative-sticky keeps what members owned as far as balance allows; what moves is revoked "
    "in one rebalance and assigned in the next",
    "uniform": "uniform keeps what members have as far as balance allows; which members get one more follows the hash "
    "order of member ids",
    "server-range": "range cuts each topic into contiguous ranges, members in order of instance id, else of member id",
    "share-simple": "simple shares each partition among as many members as it takes to keep all busy",
}
"""The rule of each assignor, in one clause."""


class Comparison(StrEnum):
    """Whether the group's own assignor, run again, gives the present assignment."""

    SAME = "same"
    DIFFERS = "differs"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class Difference:
    """A partition whose owners differ from the recomputed ones; share groups have several owners, or none."""

    tp: TopicPartition
    assigned: tuple[str, ...]
    recomputed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The comparison with its sentence; if it differs, likely reasons with evidence, the likeliest first.

    `moves_now`: owned partitions that a rebalance now would move; `assigns_now`: those without an owner that would get
    one. `stay_if_fresh`: those (of `partitions`) that would keep their owners without ownership claims. None: the
    assignor cannot assign the group.
    """

    verdict: Comparison
    sentence: str
    reasons: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    partitions: int = 0
    moves_now: int | None = None
    assigns_now: int | None = None
    stay_if_fresh: int | None = None


def explain(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Explanation:
    """Compute the assignment again and compare. Never raises: if it cannot be computed, the result is CANNOT."""
    obstacle = _obstacle(group)
    if obstacle:
        return Explanation(Comparison.CANNOT, obstacle)
    now = group_of(group, topics)
    assigned = owners_of((member.member_id, member.assigned) for member in group.members)
    try:
        planned = _planned(as_last_planned(group, now))
    except AssignorError as error:
        return Explanation(
            Comparison.CANNOT, f"{now.assignor} cannot assign this group: {error}", partitions=len(assigned)
        )
    different = tuple(_differences(assigned, planned))
    moves_now, fresh = _or_none(now), _or_none(_without_ownership(now))
    return Explanation(
        Comparison.DIFFERS if different else Comparison.SAME,
        _sentence(now, different, len({*assigned, *planned})),
        tuple(_reasons(group, topics, different)) if different else (),
        different,
        len({*assigned, *planned}),
        None if moves_now is None else sum(owners != moves_now.get(tp) for tp, owners in assigned.items()),
        None if moves_now is None else len(moves_now.keys() - assigned.keys()),
        None if fresh is None else sum(owners == fresh.get(tp) for tp, owners in assigned.items()),
    )


def as_last_planned(group: GroupSnapshot, now: Group) -> Group:
    """The group as its last assignment was computed from it; `now` is of `group_of`."""
    if group.type is not GroupType.CLASSIC:
        have = [member.assigned if member.target is None else member.target for member in group.members]
        members = tuple(replace(m, owned=owned) for m, owned in zip(now.members, have, strict=True))
        return replace(now, members=members)
    claims = [_claims(member, now.assignor) for member in group.members]
    members = tuple(
        replace(m, owned=owned, generation=seen.generation, user_data=seen.user_data)
        for m, owned, seen in zip(now.members, claims, group.members, strict=True)
    )
    return replace(now, members=members)


def _claims(member: Member, assignor: str | None) -> tuple[TopicPartition, ...]:
    """Kafka's `sticky` reads user data only."""
    return () if assignor == "sticky" and member.user_data is None else member.owned or ()


def _obstacle(group: GroupSnapshot) -> str | None:
    """Why the group cannot be planned again at all."""
    if not group.members:
        return "The group has no members, so nothing is assigned."
    if group.type is GroupType.STREAMS:
        return "The broker assigns tasks to a streams group, not partitions; Kafka's partition assignors are not used."
    if group.type is GroupType.CLASSIC and group.state in REBALANCING:
        return "The group is rebalancing. Until it is stable, its coordinator reports no subscriptions or assignments."
    if assignor_of(group) not in BUILT_IN:
        return _not_kafkas(group)
    unread = [member for member in group.members if member.problem is not None]
    return f"Member {unread[0].member_id}: {unread[0].problem}." if unread else None


def _not_kafkas(group: GroupSnapshot) -> str:
    """Plugins are not run here: one that hangs or crashes would stop all pages."""
    if group.assignor is None:
        return "The group reports no assignor, so its assignment cannot be computed again."
    if assignor_of(group) is None:
        return f"Its assignor, {group.assignor!r}, is not known here; What if can run a plugin of that name."
    return f"Its assignor, {group.assignor!r}, is a plugin; only What if runs plugins, in a separate process."


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
        have = "partition has" if partitions == 1 else "partitions have"
        return f"{len(different)} of {partitions} {have} a different owner than {name} computes from what it last knew."
    rule = RULES.get(name, f"{name} follows its own rule")
    text = f"The assignor computes exactly this assignment from what the members own: {rule}."
    if name in RANDOM_ORDER and any(member.instance_id is None for member in group.members):
        text += " Member ids are random, so after a restart the same clients may be in a different order."
    return text


def _reasons(group: GroupSnapshot, topics: Mapping[str, Topic], different: tuple[Difference, ...]) -> Iterator[str]:
    found = [*_of_state(group), *_of_topics(group, topics, different), *_of_members(group, topics)]
    yield from found or ["No reason found: the leader or broker may run a different version of the assignor."]


def _of_state(group: GroupSnapshot) -> Iterator[str]:
    waiting = unreconciled(group)
    if waiting:
        lack = "does not have its" if len(waiting) == 1 else "do not have their"
        yield f"Rebalancing: {len(waiting)} of {len(group.members)} members {lack} target assignment yet."
    elif group.state in UNSETTLED_STATES:
        yield f"Rebalancing: the group is {group.state}."
    if group.epoch is not None and group.assignment_epoch is not None and group.assignment_epoch < group.epoch:
        epochs = f"epoch {group.epoch}, the target at epoch {group.assignment_epoch}"
        yield f"Members or topics have changed since the target was computed: the group is at {epochs}."
    if not group.complete:
        yield f"The group was read only in part: {'; '.join(problem.cause for problem in group.problems)}."


def _of_topics(group: GroupSnapshot, topics: Mapping[str, Topic], different: tuple[Difference, ...]) -> Iterator[str]:
    new = sorted({d.tp.topic for d in different if not d.assigned})
    for name in new:
        beyond = sum(d.tp.topic == name and not d.assigned for d in different)
        yield f"Topic {name} has {beyond} partitions without an owner: it grew or was created after the last rebalance."
    gone = sorted({d.tp.topic for d in different} - set(topics))
    yield from (f"Topic {name}, which is assigned, no longer exists." for name in gone)


def _of_members(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Iterator[str]:
    unsubscribed = [m for m in group.members if {tp.topic for tp in m.assigned} - {*m.topics} and m.topic_regex is None]
    if unsubscribed:
        yield f"{_first(unsubscribed)} has partitions of topics that it does not subscribe to."
    if group.type is not GroupType.CLASSIC:
        yield from _of_server(group, topics)
        return
    back = [member for member in group.members if _came_back(member, generation_of(group))]
    if back:
        yield f"{_first(back)} is static and has rejoined since the last rebalance; what it reported then is lost."
    old = [m for m in group.members if m.subscription_version is not None and m.subscription_version < 1]
    if old and assignor_of(group) == "cooperative-sticky":
        yield f"{_first(old)} is an older client, whose subscription (version 0) has no owned partitions."
    yield from _of_clients(group)


def _came_back(member: Member, generation: int | None) -> bool:
    nothing_claimed = not member.owned and member.generation is None
    return bool(member.instance_id and member.assigned and nothing_claimed and generation is not None)


def _of_clients(group: GroupSnapshot) -> Iterator[str]:
    """Signs that the leader, which computed the assignment, is not a recent Java client."""
    versions = sorted({m.subscription_version for m in group.members if m.subscription_version is not None})
    if versions and versions[0] < JAVA_SUBSCRIPTION:
        who = f"subscriptions of version {', '.join(map(str, versions))} (Java since 3.5: {JAVA_SUBSCRIPTION})"
        yield f"The group has {who}: an older or different client may have computed the assignment."
    foreign = [member for member in group.members if _is_foreign(member.user_data, assignor_of(group))]
    if foreign:
        difference = OTHER_CLIENTS.get(group.assignor or "")
        yield f"{_first(foreign)} writes different user data than the Java consumer: {difference}."


def _is_foreign(data: bytes | None, assignor: str | None) -> bool:
    """Whether Java's assignor with that name writes other user data."""
    if not data:
        return False
    if assignor == "cooperative-sticky":
        return len(data) != GENERATION_BYTES
    return assignor == "sticky" and user_data.decode(data) == user_data.NOTHING


def _of_server(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Iterator[str]:
    names = {tp.topic for member in group.members for tp in member.assigned}
    if any(name in topics and topics[name].topic_id is None for name in names):
        yield "The cluster has no topic ids, on which the broker's assignment depends."
    if any(member.topic_regex is not None for member in group.members):
        yield "Members subscribe by regular expression; the broker reports only what is assigned."


def _first(members: list[Member]) -> str:
    """The first member by its most readable name, and the number of others."""
    name = members[0].instance_id or members[0].client_id or members[0].member_id
    return name if len(members) == 1 else f"{name} (and {len(members) - 1} more)"
