"""A live group as the assignors see it: the start of a what-if, and of the explanation of its assignment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType

import assignors
from assignors import model as plan
from assignors.durations import duration
from assignors.model import AssignorError, Group, TopicPartition
from assignors.patterns import matching
from assignors.whatif.events import Loads, Scenario
from lag.errors import GroupscopeError
from lag.model import GroupSnapshot, GroupType, Member, Topic
from lag.offsets import PartitionLag
from lag.verdict.health import Health, PartitionHealth

SERVER_NAMES: Mapping[GroupType, Mapping[str, str]] = {
    GroupType.CONSUMER: {"uniform": "uniform", "range": "server-range"},
    GroupType.SHARE: {"simple": "share-simple"},
}
"""The broker's name of an assignor -> its name here."""

DEFAULT_ASSIGNORS: Mapping[GroupType, str] = {GroupType.CONSUMER: "uniform", GroupType.SHARE: "share-simple"}
"""Kafka's default assignors by group type; `range` for all others."""

REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance"})
"""States of a classic group in which DescribeGroups has no subscriptions and assignments."""

BACKLOG_S = 30.0
"""A member with at least this much work waiting works at capacity; less may be between two commits or polls."""
UNSETTLED_STATES = REBALANCING | {"Assigning", "Reconciling"}

TargetPartitions = tuple[tuple[str, tuple[int, ...]], ...]
"""(topic, partitions) of a member's target assignment, in the order of its record; a topic may have no partitions."""

_NO_TARGETS: Mapping[str, TargetPartitions] = MappingProxyType({})

MAX_NAMED = 3
"""The most partitions that a note names; of the others only the number is given."""


@dataclass(frozen=True, slots=True)
class LiveScenario:
    """The present group as a scenario without events.

    `notes` are sentences on what is estimated, unknown or unstable. A different `revision` later means that the group
    has changed; `lag.generations.changes` describes how.
    """

    scenario: Scenario
    notes: tuple[str, ...]
    revision: str


class NoWhatIfError(GroupscopeError):
    """A what-if cannot start from this group; the message has the reason."""


def assignor_of(group: GroupSnapshot) -> str | None:
    """The group's assignor by its name here; None if it is not reported or unknown."""
    if group.assignor is None:
        return None
    if group.type in SERVER_NAMES:
        return SERVER_NAMES[group.type].get(group.assignor)
    known = set(assignors.names()) - {name for names in SERVER_NAMES.values() for name in names.values()}
    return group.assignor if group.type is GroupType.CLASSIC and group.assignor in known else None


def generation_of(group: GroupSnapshot) -> int | None:
    """The group epoch; for a classic group, one more than the highest generation in its members' subscriptions.

    DescribeGroups has no generation. The estimate is exact if every rebalance since then succeeded. None: not known.
    """
    if group.epoch is not None:
        return group.epoch
    claimed = [member.generation for member in group.members if member.generation is not None]
    return max(claimed) + 1 if claimed else None


def group_of(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Group:
    """The group as an assignor would see it in a rebalance now: members own what is assigned to them.

    Topics are those that exist and that a member subscribes to or owns. Members are in the coordinator's order. For
    regular expressions see `subscribed_topics`. `assignor` is None if it is not known.
    """
    generation = generation_of(group)
    members = tuple(_member(member, subscribed_topics(group, member), generation) for member in group.members)
    names = {name for member in members for name in member.topics}
    names |= {tp.topic for member in group.members for tp in member.assigned}
    return Group(group.group_id, members, planned_topics(names, topics), assignor_of(group))


def subscribed_topics(group: GroupSnapshot, member: Member) -> tuple[str, ...]:
    """The topics of a member: those subscribed by name, and those assigned to members with the same expression.

    The broker does not report what an expression matches. It is not evaluated here: RE2/J's syntax differs from
    Python's, and Python has no bound on the time of a hostile expression.
    """
    if member.topic_regex is None:
        return member.topics
    alike = [other for other in group.members if other.topic_regex == member.topic_regex]
    assigned = {tp.topic for other in alike for tp in (*other.assigned, *(other.target or ()))}
    return tuple(dict.fromkeys((*member.topics, *sorted(assigned))))


def planned_topics(names: Iterable[str], topics: Mapping[str, Topic]) -> dict[str, plan.Topic]:
    """The topics that exist, as the assignors' type."""
    found = (topics[name] for name in sorted(names) if name in topics)
    return {topic.name: plan.Topic(topic.name, topic.partitions, topic.racks, topic.topic_id) for topic in found}


def exists(tp: TopicPartition, topics: Mapping[str, plan.Topic]) -> bool:
    """Whether the partition exists."""
    return tp.topic in topics and 0 <= tp.partition < topics[tp.topic].partitions


def _member(member: Member, topics: tuple[str, ...], generation: int | None) -> plan.Member:
    return plan.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.host,
        rack=member.rack,
        topics=topics,
        owned=_as_listed(member),
        generation=generation if member.assigned else None,
        pattern=member.topic_regex,
    )


def _as_listed(member: Member) -> tuple[TopicPartition, ...]:
    """The member's partitions in the order of its target assignment; others at the end."""
    place = {tp: at for at, tp in enumerate(member.target or ())}
    return tuple(sorted(member.assigned, key=lambda tp: place.get(tp, len(place))))


def scenario_of(
    group: GroupSnapshot, health: Health, share_targets: Mapping[str, TargetPartitions] = _NO_TARGETS
) -> LiveScenario:
    """The present group with its lag and rates. Raises NoWhatIfError if a what-if cannot start from it.

    A group without members has the topics that it committed to. Capacity is an estimate: the highest commit rate of a
    member with records waiting. The rate of a member that keeps up is that of its input, not its capacity.
    `share_targets`: the target assignments in the records of a share group, by member id, as far as they were read.
    """
    times_ms = health.times_ms
    span_s = (int(times_ms[-1]) - int(times_ms[0])) // 1000 if len(times_ms) else 0
    return scenario_at(group, health.snapshot.topics, health.partitions(group), span_s, share_targets)


def scenario_at(
    group: GroupSnapshot,
    topics: Mapping[str, Topic],
    of_each: Sequence[PartitionHealth],
    span_s: int,
    share_targets: Mapping[str, TargetPartitions] = _NO_TARGETS,
) -> LiveScenario:
    """The scenario of a group. `of_each`: one element for each partition of the group, over `span_s` seconds.

    `share_targets` is that of `scenario_of`.

    Owned partitions and lags of partitions that do not exist are left out. A member's regular expression is kept if it
    is safe to evaluate and matches the topics that the member has.
    """
    _check(group)
    seen = group_of(group, topics)
    found = seen.topics if group.members else planned_topics({row.tp.topic for row in group.partitions}, topics)
    if not found:
        raise NoWhatIfError(f"No topic of {group.group_id} exists", "Write a scenario by hand instead.")
    rows = list(zip(group.partitions, of_each, strict=True))
    loads = _loads(rows, found)
    kept = {of.member_id: _kept_topics(of, share_targets.get(of.member_id), found) for of in group.members}
    members = tuple(
        replace(_scenario_member(of, member, found), owned_topics=kept[of.member_id] or ())
        for of, member in zip(group.members, seen.members, strict=True)
    )
    assignor = seen.assignor or DEFAULT_ASSIGNORS.get(group.type, "range")
    scenario = Scenario(group.group_id, assignor, found, members, loads=loads)
    notes = [*_notes(group, scenario, seen.assignor, rows, span_s), *_share_notes(group, scenario, kept)]
    return LiveScenario(scenario, tuple(notes), revision(group))


def _scenario_member(of: Member, member: plan.Member, topics: Mapping[str, plan.Topic]) -> plan.Member:
    """The member as a scenario can describe it: each topic and each partition once."""
    owned = tuple(tp for tp in dict.fromkeys(member.owned) if exists(tp, topics))
    pattern = None if of.topics or not _matches(of.topic_regex, member.topics, topics) else of.topic_regex
    generation = member.generation if owned else None
    return replace(
        member, topics=tuple(dict.fromkeys(member.topics)), owned=owned, generation=generation, pattern=pattern
    )


def _matches(pattern: str | None, expected: Sequence[str], topics: Iterable[str]) -> bool:
    """Whether the pattern matches exactly these of the topics."""
    try:
        return pattern is not None and matching(pattern, topics) == tuple(expected)
    except AssignorError:
        return False


def _kept_topics(
    of: Member, target: TargetPartitions | None, topics: Mapping[str, plan.Topic]
) -> tuple[str, ...] | None:
    """The topics of the member's target assignment with those without partitions, in the order of its record.

    None: the record was not read, is not that of the present assignment, or has a topic that no longer exists.
    """
    if target is None or any(name not in topics for name, _ in target):
        return None
    given = {TopicPartition(name, number) for name, numbers in target for number in numbers}
    return tuple(name for name, _ in target) if given == set(of.assigned) else None


def _check(group: GroupSnapshot) -> None:
    """Raises NoWhatIfError if the group's members or their topics are not known, or it assigns no partitions."""
    causes = "; ".join(problem.cause for problem in group.problems)
    if group.type is GroupType.STREAMS:
        raise NoWhatIfError(f"{group.group_id} is a streams group: its broker assigns tasks, not partitions")
    if not group.members and (causes or group.state not in ("Empty", "Stable")):
        reason = causes or f"its state is {group.state}"
        raise NoWhatIfError(f"The members of {group.group_id} are not known: {reason}", "Try again when they are.")
    if group.type is GroupType.CLASSIC and group.state in REBALANCING:
        hidden = "until it is stable, its coordinator reports no subscriptions or assignments"
        raise NoWhatIfError(f"{group.group_id} is rebalancing; {hidden}", "Try again in a few seconds.")
    if group.members and not any(m.topics or m.topic_regex or m.assigned for m in group.members):
        problem = next((f": {member.problem}" for member in group.members if member.problem), "")
        raise NoWhatIfError(f"No member of {group.group_id} is known to subscribe to a topic{problem}")


_Rows = list[tuple[PartitionLag, PartitionHealth]]


def _loads(rows: _Rows, topics: Mapping[str, plan.Topic]) -> Loads:
    rates = _busy_rates(rows)
    there = [(row, of) for row, of in rows if exists(row.tp, topics)]
    return Loads(
        lag_records={row.tp: row.lag_records for row, _ in there if row.lag_records is not None},
        produced_per_s={row.tp: of.produce_rate for row, of in there if of.produce_rate is not None},
        default_capacity_per_s=max(rates.values(), default=None),
    )


def _busy_rates(rows: _Rows) -> dict[str, float]:
    """Commit rates in records per second of the members with at least `BACKLOG_S` of work waiting."""
    lags: dict[str, int] = {}
    rates = _member_rates(rows)
    for row, of in rows:
        if row.member_id is not None and of.consume_rate:
            lags[row.member_id] = lags.get(row.member_id, 0) + (row.lag_records or 0)
    return {member: rate for member, rate in rates.items() if lags.get(member, 0) >= rate * BACKLOG_S > 0}


def _member_rates(rows: _Rows) -> dict[str, float]:
    """Commit rates of all members in records per second, over the partitions with a known rate."""
    rates: dict[str, float] = {}
    for row, of in rows:
        if row.member_id is not None and of.consume_rate is not None:
            rates[row.member_id] = rates.get(row.member_id, 0.0) + of.consume_rate
    return rates


def _notes(group: GroupSnapshot, scenario: Scenario, assignor: str | None, rows: _Rows, span_s: int) -> Iterable[str]:
    yield from _member_notes(group, scenario, assignor)
    yield from _left_out(group, scenario)
    unknown = [row for row in group.partitions if row.lag_records is None]
    if unknown:
        yield f"The lag of {len(unknown)} of {len(group.partitions)} partitions is unknown and left out."
    yield _capacity_note(scenario.loads, span_s, any(_member_rates(rows).values()))
    if group.type in SERVER_NAMES and any(topic.topic_id is None for topic in scenario.topics.values()):
        yield "The cluster has no topic ids; the broker's assignment depends on them and may differ."


def _share_notes(group: GroupSnapshot, scenario: Scenario, kept: Mapping[str, tuple[str, ...] | None]) -> Iterable[str]:
    unknown = [member for member in scenario.members if kept[member.member_id] is None and _lacks_a_topic(member)]
    if group.type is GroupType.SHARE and unknown:
        yield (
            "The broker remembers topics of which a member lost all partitions, and its next assignment can depend on "
            "them. They are not known here, so the assignment may differ."
        )


def _lacks_a_topic(member: plan.Member) -> bool:
    return not set(member.topics) <= {tp.topic for tp in member.owned}


def _member_notes(group: GroupSnapshot, scenario: Scenario, assignor: str | None) -> Iterable[str]:
    if not group.members:
        yield "The group has no members: it starts empty, with the topics it has committed to."
    if assignor is None:
        reason = f"{group.assignor!r} is not known here" if group.assignor else "The group reports no assignor"
        yield f"{reason}; {scenario.assignor} is used instead."
    if group.state in UNSETTLED_STATES or unreconciled(group):
        yield f"The group is rebalancing ({group.state}): its members' assignment is not final."
    unread = sum(member.problem is not None for member in group.members)
    if unread:
        yield f"The subscription or assignment of {unread} of {len(group.members)} members cannot be decoded."
    pairs = zip(group.members, scenario.members, strict=True)
    if unmatched := sum(of.topic_regex is not None and member.pattern is None for of, member in pairs):
        named = "subscribe to the topics that they have now, because their regular expression cannot be matched here"
        yield f"{unmatched} of {len(group.members)} members {named}."


def _left_out(group: GroupSnapshot, scenario: Scenario) -> Iterable[str]:
    """Notes on partitions of the group that are not in the scenario."""
    assigned = dict.fromkeys(tp for member in group.members for tp in member.assigned)
    gone = [str(tp) for tp in assigned if not exists(tp, scenario.topics)]
    named = ", ".join(gone[:MAX_NAMED]) + (f" and {len(gone) - MAX_NAMED} more" if len(gone) > MAX_NAMED else "")
    if gone:
        verbs = ("is", "does", "it is") if len(gone) == 1 else ("are", "do", "they are")
        yield f"{named} {verbs[0]} assigned but {verbs[1]} not exist: {verbs[2]} left out."
    unread = sum(row.tp.topic not in scenario.topics and row.lag_records is not None for row in group.partitions)
    if unread:
        left_out = f"{unread} of {len(group.partitions)} partitions"
        yield f"The lag of {left_out} is left out: no member subscribes to their topics."


def unreconciled(group: GroupSnapshot) -> list[Member]:
    """Members whose assignment differs from their target assignment (KIP-848)."""
    return [m for m in group.members if m.target is not None and set(m.target) != set(m.assigned)]


def revision(group: GroupSnapshot) -> str:
    """A fingerprint of the group's epoch, assignor, members, their subscriptions and assignments; 12 characters."""
    parts = sorted(
        (m.member_id, m.topics, m.topic_regex, m.assigned, m.target and tuple(sorted(m.target)), m.generation)
        for m in group.members
    )
    state = repr((group.group_id, group.type, group.assignor, group.epoch, parts))
    return sha256(state.encode(errors="surrogatepass")).hexdigest()[:12]


def _capacity_note(loads: Loads, span_s: int, commits: bool) -> str:
    if loads.default_capacity_per_s is not None:
        rate = f"{loads.default_capacity_per_s:,.1f} records a second"
        return f"Capacity is the highest rate of a member that had records waiting, over {duration(span_s)}: {rate}."
    if commits:
        return "The members keep up, so their capacity is not known: enter it to get drain times."
    return "No member committed in this time, so their capacity is not known."
