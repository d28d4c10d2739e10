"""Groups that read nothing because there is no partition for them, and why. Pure functions.

Such a group has no row that could get a verdict, and must not be OK for that reason. The verdict is

- no partitions, if no member owns a partition that exists, and one poll shows the cause: the topics that the members
  subscribe to do not exist, or their pattern matches none. Otherwise the members may have just joined, and it takes as
  many polls as a verdict about movement;
- no partitions as well, if all topics of a group that had members were deleted: some clients then leave the group;
- unknown, as long as the group rebalances.

Groups that share something else than partitions, such as the workers of Kafka Connect, have none in health.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors import patterns
from assignors.counts import plural
from assignors.durations import duration
from assignors.model import AssignorError
from lag.model import ClusterSnapshot, GroupSnapshot, GroupType
from lag.records.consumer_protocol import PROTOCOL_TYPE
from lag.verdict.rules.status_rules import Rules
from lag.verdict.status import Status

_SETTLED = ("stable", "notready")
"""States in which members have got what they get; "NotReady": topics of a streams group are missing (KIP-1071)."""

_MOST_NAMED = 3


class Idle(NamedTuple):
    """A group that has no partition to read: since which poll, for how many polls, and the topics that it read before.

    `read` is empty if no poll saw it reading.
    """

    since_ms: int
    polls: int
    read: frozenset[str]


@dataclass(frozen=True, slots=True)
class IdleGroups:
    """What the polls so far showed of such groups, by id. `deleted`: the topics of these that a poll saw existing."""

    groups: Mapping[str, Idle] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()
    last: ClusterSnapshot | None = field(default=None, repr=False, compare=False)

    def after(self, snapshot: ClusterSnapshot) -> "IdleGroups":
        """The same after one more poll."""
        groups = {group.group_id: idle for group in snapshot.groups if (idle := self._after(group, snapshot))}
        before = frozenset() if self.last is None else self.last.topics.keys()
        named = {topic for idle in groups.values() for topic in idle.read}
        named.update(topic for group in snapshot.groups for topic in group.missing_topics)
        return IdleGroups(groups, frozenset(named & (before | self.deleted) - snapshot.topics.keys()), snapshot)

    def _after(self, group: GroupSnapshot, snapshot: ClusterSnapshot) -> Idle | None:
        known = self.groups.get(group.group_id)
        if not is_read(group):
            return known
        if not (_reads_nothing(group) or (group.has_no_members and not group.partitions)):
            return None
        if known is not None:
            return known._replace(polls=known.polls + 1)
        read = self._read_before(group.group_id)
        return Idle(snapshot.at_ms, 1, read) if group.members or read else None

    def _read_before(self, group_id: str) -> frozenset[str]:
        """The topics that existed and that the group had at the last poll, when it had members."""
        group = None if self.last is None else self.last.group(group_id)
        if self.last is None or group is None or not group.members:
            return frozenset()
        return frozenset(row.tp.topic for row in group.partitions) & self.last.topics.keys()


class IdleFinding(NamedTuple):
    """The verdict on a group without partitions, and its evidence."""

    status: Status
    evidence: str


def find(group: GroupSnapshot, snapshot: ClusterSnapshot, seen: IdleGroups, rules: Rules) -> IdleFinding | None:
    """None for a group that has partitions, could not be read, or has nobody who could read; `seen` has this poll."""
    idle = seen.groups.get(group.group_id) or Idle(snapshot.at_ms, 1, frozenset())
    if not is_read(group):
        return None
    if not group.members:
        return _left_behind(group, idle, seen.deleted)
    if not assigns_partitions(group):
        what = f"its members share what the protocol {group.protocol_type!r} assigns, which is not partitions"
        return None if group.partitions else IdleFinding(Status.OK, what)
    if not _reads_nothing(group):
        return None
    nobody = (
        f"none of its {len(group.members)} members has" if len(group.members) > 1 else "its only member does not have"
    )
    nobody = f"{nobody} a partition"
    if not _is_settled(group):
        return IdleFinding(Status.UNKNOWN, f"the group is {group.state}, and {nobody} yet")
    cause = _cause(group, snapshot, idle, seen.deleted)
    seen_s = (snapshot.at_ms - idle.since_ms) / 1000
    if cause is None and (idle.polls < rules.min_samples or seen_s < rules.min_s):
        polls = f"{plural(idle.polls, 'poll')} in {duration(seen_s)}"
        needed = f"a verdict needs {rules.min_samples} in {duration(rules.min_s)}"
        return IdleFinding(Status.UNKNOWN, f"{nobody} after {polls}: {needed}, as members may have just joined")
    return IdleFinding(Status.NO_PARTITIONS, f"{nobody}: {cause or _unassigned(group)}")


def missing_topics(group: GroupSnapshot, deleted: Iterable[str]) -> str:
    """Which topics of its members the cluster does not have; "" if it has all of them."""
    gone, never = _split(group.missing_topics, deleted)
    found = [*_stated(gone, "was deleted", "were deleted"), *_stated(never, "does not exist", "do not exist")]
    return f"of what its members subscribe to, {' and '.join(found)}" if found else ""


def is_read(group: GroupSnapshot) -> bool:
    """Whether its members and what they are assigned are known."""
    return group.complete and not any(member.problem for member in group.members)


def _reads_nothing(group: GroupSnapshot) -> bool:
    """Whether it has members whose assignment shows no partition that exists."""
    if not group.members or not assigns_partitions(group):
        return False
    missing = group.missing_topics
    return not any(tp.topic not in missing for member in group.members for tp in member.assigned)


def assigns_partitions(group: GroupSnapshot) -> bool:
    """Whether its members share partitions, unlike the workers of Kafka Connect."""
    return group.type is not GroupType.CLASSIC or group.protocol_type in ("", PROTOCOL_TYPE)


def _is_settled(group: GroupSnapshot) -> bool:
    is_planned = None in (group.epoch, group.assignment_epoch) or group.epoch == group.assignment_epoch
    return is_planned and group.state.lower() in _SETTLED


def _left_behind(group: GroupSnapshot, idle: Idle, deleted: frozenset[str]) -> IdleFinding | None:
    """For a group whose members left when their topics were deleted, and whose commits Kafka dropped with these."""
    if group.partitions or not group.has_no_members or not idle.read or not idle.read <= deleted:
        return None
    (gone,) = _stated(sorted(idle.read), "was deleted", "were deleted")
    return IdleFinding(Status.NO_PARTITIONS, f"{gone}, and its members have left: nothing is left to read")


def _cause(group: GroupSnapshot, snapshot: ClusterSnapshot, idle: Idle, deleted: frozenset[str]) -> str | None:
    """Why there is nothing to assign, as far as one poll shows it."""
    subscribed = {topic for member in group.members for topic in member.topics}
    expressions = sorted({member.topic_regex for member in group.members if member.topic_regex})
    if not subscribed.issubset(group.missing_topics) or any(_matches(each, snapshot) for each in expressions):
        return None
    gone, never = _split({*group.missing_topics, *(idle.read & deleted)}, deleted)
    found = [
        *_stated(gone, "was deleted", "were deleted"),
        *_stated(never, "does not exist", "do not exist"),
        *(f"no topic matches {each}" for each in expressions[:_MOST_NAMED]),
    ]
    return ", ".join(found) or None


def _matches(expression: str, snapshot: ClusterSnapshot) -> bool:
    """Whether a topic of the cluster matches; True as well for an expression that RE2 does not know."""
    try:
        compiled = patterns.compiled(expression)
    except AssignorError:
        return True
    return any(compiled.fullmatch(name) for name in snapshot.topics)


def _unassigned(group: GroupSnapshot) -> str:
    subscribed = {topic for member in group.members for topic in member.topics} - set(group.missing_topics)
    if subscribed:
        return f"{_stated(sorted(subscribed), 'exists', 'exist')[0]}, but nothing of it is assigned"
    if any(member.topic_regex for member in group.members):
        return "topics match the pattern, but nothing of these is assigned"
    return "no topic is subscribed to, as with a pattern that matches none"


def _split(topics: Iterable[str], deleted: Iterable[str]) -> tuple[list[str], list[str]]:
    """Those that a poll saw, and the others, both sorted."""
    seen = set(deleted)
    return sorted(seen.intersection(topics)), sorted(set(topics) - seen)


def _stated(names: list[str], of_one: str, of_several: str) -> list[str]:
    """["topic orders was deleted"], ["topics a, b, c and 2 more were deleted"], or nothing about no names."""
    if len(names) < 2:
        return [f"topic {names[0]} {of_one}"] if names else []
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return [f"topics {', '.join(names[:_MOST_NAMED])}{more} {of_several}"]
