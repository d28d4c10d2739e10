"""Sentences on the differences between two states of a group."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assignors.model import Group, Member, TopicPartition
from assignors.model import Topic as PlannedTopic
from assignors.whatif.events import Scenario
from lag.generations.live_group import exists, group_of
from lag.model import GroupSnapshot, Topic

MAX_NAMES = 3
"""Beyond this, only the number of members or topics is given."""

Owners = Mapping[TopicPartition, frozenset[str]]


def changes(old: Group | Scenario, group: GroupSnapshot, topics: Mapping[str, Topic]) -> list[str]:
    """The differences between a group or scenario of a what-if and the live group.

    Members have their instance id, else their client id if it is unique, else their member id.
    """
    return differences(old, group_of(group, topics))


def differences(old: Group | Scenario, new: Group) -> list[str]:
    """The differences between two groups, as an assignor sees them."""
    return [*_generations(old, new), *causes_of(old, new), *_moved(old, new)]


LEFT = "left or timed out"
"""For a dynamic member: neither records nor polls tell LeaveGroup from an expired session."""

STATIC_LEFT = "timed out or was removed"
"""For a static member: closing its consumer does not leave the group (KIP-345)."""


def causes_of(old: Group | Scenario, new: Group) -> list[str]:
    """The differences that can cause a rebalance. Topics count unless one of the groups has no members."""
    topics = _topics(old.topics, new.topics) if old.members and new.members else ()
    return [*_assignors(old, new), *_members(old, new), *topics]


def owners_of(members: Iterable[tuple[str, Iterable[TopicPartition]]]) -> dict[TopicPartition, frozenset[str]]:
    """Partition -> its owners: one, or several in share groups."""
    found: dict[TopicPartition, frozenset[str]] = {}
    for member_id, partitions in members:
        only = frozenset((member_id,))
        for tp in partitions:
            found[tp] = found[tp] | only if tp in found else only
    return found


def _generations(old: Group | Scenario, new: Group) -> Iterator[str]:
    before, after = _newest(old.members), _newest(new.members)
    if before is not None and after is not None and before != after:
        yield f"generation {before} → {after}"


def _assignors(old: Group | Scenario, new: Group) -> Iterator[str]:
    if new.assignor is not None and old.assignor is not None and old.assignor != new.assignor:
        yield f"assignor {old.assignor} → {new.assignor}"


def _newest(members: Sequence[Member]) -> int | None:
    return max((member.generation for member in members if member.generation is not None), default=None)


def _members(old: Group | Scenario, new: Group) -> Iterator[str]:
    before, after = {m.member_id: m for m in old.members}, {m.member_id: m for m in new.members}
    gone = [m for m in old.members if m.member_id not in after]
    come = [m for m in new.members if m.member_id not in before]
    back = {m.instance_id for m in gone} & {m.instance_id for m in come} - {None}
    yield from _named([m.instance_id or "" for m in come if m.instance_id in back], "came back", "members")
    yield from _named(_names([m for m in come if m.instance_id not in back], new.members), "joined", "members")
    yield from _named(_names([m for m in gone if m.instance_id is None], old.members), LEFT, "members")
    static = [m for m in gone if m.instance_id is not None and m.instance_id not in back]
    yield from _named(_names(static, old.members), STATIC_LEFT, "members")
    resubscribed = [
        m for m in new.members if m.member_id in before and set(m.topics) != set(before[m.member_id].topics)
    ]
    yield from _named(_names(resubscribed, new.members), "changed subscription", "members")


def _names(members: Sequence[Member], group: Sequence[Member]) -> list[str]:
    uses = Counter(member.client_id for member in group)
    return [m.instance_id or (m.client_id if uses[m.client_id] == 1 else "") or m.member_id for m in members]


def _named(names: Sequence[str], what: str, noun: str) -> Iterator[str]:
    if len(names) > MAX_NAMES:
        yield f"{len(names)} {noun} {what}"
    else:
        yield from (f"{name} {what}" for name in names)


def _topics(old: Mapping[str, PlannedTopic], new: Mapping[str, PlannedTopic]) -> Iterator[str]:
    for name in sorted({*old, *new}):
        if name not in new:
            yield f"topic {name} is gone"
        elif name not in old:
            yield f"topic {name} is new"
        elif old[name].partitions != new[name].partitions:
            yield f"topic {name}: {old[name].partitions} → {new[name].partitions} partitions"


def _moved(old: Group | Scenario, new: Group) -> Iterator[str]:
    """Only partitions that exist: scenarios have no others, and deleted topics have their own sentence."""
    before, after = (owners_of((m.member_id, m.owned) for m in group.members) for group in (old, new))
    moved = sum(before.get(tp) != after.get(tp) for tp in {*before, *after} if exists(tp, new.topics))
    if moved:
        yield f"{moved} partitions changed owners" if moved > 1 else "1 partition changed owners"
