"""A live group, as the assignors see it: where a what-if starts and "why is it so" looks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import assignors
from assignors import model as plan
from assignors.durations import duration
from assignors.model import Group, TopicPartition
from assignors.patterns import is_quick, matching
from assignors.whatif.events import Loads, Scenario
from lag.errors import GroupscopeError
from lag.model import GroupSnapshot, GroupType, Member, Topic
from lag.offsets import PartitionLag
from lag.verdict.health import Health, PartitionHealth

SERVER_NAMES: Mapping[GroupType, Mapping[str, str]] = {
    GroupType.CONSUMER: {"uniform": "uniform", "range": "server-range"},
    GroupType.SHARE: {"simple": "share-simple"},
}
"""What the broker calls its assignors -> what they are called here."""

STAND_INS: Mapping[GroupType, str] = {GroupType.CONSUMER: "uniform", GroupType.SHARE: "share-simple"}
"""Kafka's defaults, by type of group; `range` for all others."""

REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance"})
"""States of a classic group in which the coordinator tells neither subscriptions nor assignments."""

BACKLOG_S = 30.0
"""So much work waits for a member that does all it can. Less is what lies between two commits, or between two polls."""
UNSETTLED = REBALANCING | {"Assigning", "Reconciling"}

MOST_NAMED = 3
"""Of more partitions only the number is told."""


@dataclass(frozen=True, slots=True)
class LiveScenario:
    """A scenario without events that is the group as it is now.

    `notes` are sentences on what is estimated, unknown or not settled; `revision` tells later whether the group has
    changed since, and `lag.generations.changes` how.
    """

    scenario: Scenario
    notes: tuple[str, ...]
    revision: str


class NoWhatIfError(GroupscopeError):
    """A what-if cannot start from this group; the message says why not."""


def assignor_of(group: GroupSnapshot) -> str | None:
    """The group's assignor by our name; None where it is not told, or not known here."""
    if group.assignor is None:
        return None
    if group.type in SERVER_NAMES:
        return SERVER_NAMES[group.type].get(group.assignor)
    known = set(assignors.names()) - {name for names in SERVER_NAMES.values() for name in names.values()}
    return group.assignor if group.type is GroupType.CLASSIC and group.assignor in known else None


def generation_of(group: GroupSnapshot) -> int | None:
    """The group epoch; of a classic group, which tells no generation, the one after the newest that a member claims.

    That is exact as long as every rebalance since then succeeded; None when nobody claims any.
    """
    if group.epoch is not None:
        return group.epoch
    claimed = [member.generation for member in group.members if member.generation is not None]
    return max(claimed) + 1 if claimed else None


def group_of(group: GroupSnapshot, topics: Mapping[str, Topic]) -> Group:
    """The group as an assignor would see it in a rebalance now: members own what is assigned to them.

    Topics are those that members subscribe to or own and that exist. Members stand in the coordinator's order. Of a
    subscription by regular expression the topics are what `matched` finds. `assignor` is None where it is not known
    here.
    """
    generation = generation_of(group)
    members = tuple(_member(member, matched(group, member), generation) for member in group.members)
    names = {name for member in members for name in member.topics}
    names |= {tp.topic for member in group.members for tp in member.assigned}
    return Group(group.group_id, members, planned_topics(names, topics), assignor_of(group))


def matched(group: GroupSnapshot, member: Member) -> tuple[str, ...]:
    """The topics a member subscribes to: by name, and those that members with the same expression have now.

    The broker does not tell what an expression matches. It is not evaluated here: RE2/J's language is not Python's, and
    Python would not bound the time that a hostile one takes.
    """
    if member.topic_regex is None:
        return member.topics
    alike = [other for other in group.members if other.topic_regex == member.topic_regex]
    theirs = {tp.topic for other in alike for tp in (*other.assigned, *(other.target or ()))}
    return tuple(dict.fromkeys((*member.topics, *sorted(theirs))))


def planned_topics(names: Iterable[str], topics: Mapping[str, Topic]) -> dict[str, plan.Topic]:
    """Those of the topics that exist, as assignors take them."""
    found = (topics[name] for name in sorted(names) if name in topics)
    return {topic.name: plan.Topic(topic.name, topic.partitions, topic.racks, topic.topic_id) for topic in found}


def exists(tp: TopicPartition, topics: Mapping[str, plan.Topic]) -> bool:
    """Whether a topic of that name has a partition of that number."""
    return tp.topic in topics and tp.partition < topics[tp.topic].partitions


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
    """What the member has, in the order of its target; what is no longer in that, behind it."""
    place = {tp: at for at, tp in enumerate(member.target or ())}
    return tuple(sorted(member.assigned, key=lambda tp: place.get(tp, len(place))))


def scenario_of(group: GroupSnapshot, health: Health) -> LiveScenario:
    """The group as it is now, with its lag and rates. Raises NoWhatIfError when there is nothing to start from.

    A group without members starts with the topics it has committed to, and nobody in it. Capacity is an estimate: the
    highest rate at which a member commits while records wait for it. One that keeps up shows what arrives, not what it
    can do.
    """
    times_ms = health.times_ms
    span_s = (int(times_ms[-1]) - int(times_ms[0])) // 1000 if len(times_ms) else 0
    return scenario_at(group, health.snapshot.topics, health.partitions(group), span_s)


def scenario_at(
    group: GroupSnapshot, topics: Mapping[str, Topic], of_each: Sequence[PartitionHealth], span_s: int
) -> LiveScenario:
    """The same of a group, the topics there are, and what is known of each of its partitions over `span_s`.

    A scenario knows its topics and no others: claims and lags of partitions that are not there stay out. It matches
    the patterns of its members itself: one stays where that is safe and finds the topics that its members have.
    """
    _check(group)
    seen = group_of(group, topics)
    found = seen.topics if group.members else planned_topics({row.tp.topic for row in group.partitions}, topics)
    if not found:
        raise NoWhatIfError(f"No topic of {group.group_id} exists (any more)", "Write a scenario by hand instead.")
    rows = list(zip(group.partitions, of_each, strict=True))
    loads = _loads(rows, found)
    members = tuple(_said(of, member, found) for of, member in zip(group.members, seen.members, strict=True))
    assignor = seen.assignor or STAND_INS.get(group.type, "range")
    scenario = Scenario(group.group_id, assignor, found, members, loads=loads)
    return LiveScenario(scenario, tuple(_notes(group, scenario, seen.assignor, rows, span_s)), revision(group))


def _said(of: Member, member: plan.Member, topics: Mapping[str, plan.Topic]) -> plan.Member:
    """The member as a scenario can say it."""
    owned = tuple(tp for tp in member.owned if exists(tp, topics))
    pattern = of.topic_regex
    if pattern is None or of.topics or not is_quick(pattern) or matching(pattern, topics) != member.topics:
        pattern = None
    return replace(member, owned=owned, generation=member.generation if owned else None, pattern=pattern)


def _check(group: GroupSnapshot) -> None:
    """Raises NoWhatIfError when the group's members are not known or do not share partitions."""
    told = "; ".join(problem.cause for problem in group.problems)
    if group.type is GroupType.STREAMS:
        raise NoWhatIfError(f"{group.group_id} is a streams group: its broker plans tasks, not partitions")
    if not group.members and (told or group.state not in ("Empty", "Stable")):
        reason = told or f"its state is {group.state}"
        raise NoWhatIfError(f"The members of {group.group_id} are not known: {reason}", "Try again when they are.")
    if group.type is GroupType.CLASSIC and group.state in REBALANCING:
        hidden = "until that is over, the coordinator tells neither subscriptions nor assignments"
        raise NoWhatIfError(f"{group.group_id} is rebalancing; {hidden}", "Try again in a few seconds.")
    if group.members and not any(m.topics or m.topic_regex or m.assigned for m in group.members):
        told = next((f": {member.problem}" for member in group.members if member.problem), "")
        raise NoWhatIfError(f"No member of {group.group_id} is known to subscribe to a topic{told}")


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
    """Records per second that each member commits which has `BACKLOG_S` of work waiting where its commits move."""
    lags: dict[str, int] = {}
    rates = _member_rates(rows)
    for row, of in rows:
        if row.member_id is not None and of.consume_rate:
            lags[row.member_id] = lags.get(row.member_id, 0) + (row.lag_records or 0)
    return {member: rate for member, rate in rates.items() if lags.get(member, 0) >= rate * BACKLOG_S > 0}


def _member_rates(rows: _Rows) -> dict[str, float]:
    """Records per second that each member commits, of the partitions whose rate is known."""
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
        yield "The cluster tells no topic ids; the broker's plan depends on them and may differ."
    if group.type is GroupType.SHARE and any(_lacks_a_topic(member) for member in scenario.members):
        yield (
            "Kafka keeps topics of which a member lost all partitions, and its next plan can depend on them. They are "
            "not known here, so the plan may differ."
        )


def _lacks_a_topic(member: plan.Member) -> bool:
    return not set(member.topics) <= {tp.topic for tp in member.owned}


def _member_notes(group: GroupSnapshot, scenario: Scenario, assignor: str | None) -> Iterable[str]:
    if not group.members:
        yield "The group has no members: it starts empty, with the topics it has committed to."
    if assignor is None:
        said = f"{group.assignor!r} is not known here" if group.assignor else "The group names no assignor"
        yield f"{said}; {scenario.assignor} stands in for it."
    if group.state in UNSETTLED or unsettled(group):
        yield f"The group is rebalancing ({group.state}): its members' assignment is not settled."
    unread = sum(member.problem is not None for member in group.members)
    if unread:
        yield f"The subscription or assignment of {unread} of {len(group.members)} members cannot be decoded."
    pairs = zip(group.members, scenario.members, strict=True)
    if unsaid := sum(of.topic_regex is not None and said.pattern is None for of, said in pairs):
        named = "name the topics that they have now, in place of a regular expression that cannot be matched here"
        yield f"{unsaid} of {len(group.members)} members {named}."


def _left_out(group: GroupSnapshot, scenario: Scenario) -> Iterable[str]:
    """Partitions of the group that the scenario has no topic for."""
    assigned = dict.fromkeys(tp for member in group.members for tp in member.assigned)
    gone = [str(tp) for tp in assigned if not exists(tp, scenario.topics)]
    named = ", ".join(gone[:MOST_NAMED]) + (f" and {len(gone) - MOST_NAMED} more" if len(gone) > MOST_NAMED else "")
    if gone:
        verbs = ("is", "does", "it is") if len(gone) == 1 else ("are", "do", "they are")
        yield f"{named} {verbs[0]} assigned and {verbs[1]} not exist (any more): {verbs[2]} left out."
    unread = sum(row.tp.topic not in scenario.topics and row.lag_records is not None for row in group.partitions)
    if unread:
        yield f"The lag of {unread} of {len(group.partitions)} partitions is left out: nobody reads their topics."


def unsettled(group: GroupSnapshot) -> list[Member]:
    """Members that do not have what the broker wants them to have (KIP-848)."""
    return [m for m in group.members if m.target is not None and set(m.target) != set(m.assigned)]


def revision(group: GroupSnapshot) -> str:
    """A fingerprint of the group's epoch, assignor, members, their subscriptions and assignments; 12 characters."""
    parts = sorted(
        (m.member_id, m.topics, m.topic_regex, m.assigned, m.target and tuple(sorted(m.target)), m.generation)
        for m in group.members
    )
    said = repr((group.group_id, group.type, group.assignor, group.epoch, parts))
    return sha256(said.encode(errors="surrogatepass")).hexdigest()[:12]


def _capacity_note(loads: Loads, span_s: int, commits: bool) -> str:
    if loads.default_capacity_per_s is not None:
        rate = f"{loads.default_capacity_per_s:,.1f} records a second"
        return (
            f"Capacity is the highest rate of a member that has records waiting, seen over {duration(span_s)}: {rate}."
        )
    if commits:
        return "The members keep up, so how much one can process was not seen: say it to get drain times."
    return "No member was seen to commit, so what one can process is unknown."
