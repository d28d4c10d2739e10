"""What to do about a verdict on a group, and the facts that the advice rests on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assignors.counts import plural
from lag.model import GroupSnapshot, GroupType
from lag.offsets import PartitionLag
from lag.verdict.health import PartitionHealth
from lag.verdict.status import Status

HOT_SHARE = 0.5
"""A partition that gets more than this share of the records is hot."""

MIN_PARTITIONS = 3
"""With fewer partitions, none is called hot: one of two always gets half of the records."""

RANGE = "range"
"""The name of both range assignors, that of clients and that of brokers."""

HINTED = frozenset({Status.FALLING_BEHIND, Status.STALLED, Status.LOST, Status.TOPIC_DELETED})
"""The verdicts on which there can be a hint."""

Rows = Sequence[tuple[PartitionLag, PartitionHealth]]


class Remedy(StrEnum):
    """The change of the group that a hint asks for, as far as a what-if can show its effect."""

    NONE = "none"
    ADD_MEMBERS = "add members"
    RESTART_MEMBER = "restart member"


@dataclass(frozen=True, slots=True)
class Hint:
    """`action` says what to do, `reason` the facts of this group that speak for it. Both are sentences.

    `member_id` is the member to restart.
    """

    action: str
    reason: str
    remedy: Remedy = Remedy.NONE
    member_id: str | None = None


def hint(group: GroupSnapshot, status: Status, rows: Rows, names: Mapping[str, str]) -> Hint | None:
    """The hint for a group with that verdict; None where the general advice on the verdict is all there is.

    `rows`: the group's partitions; `names`: member id -> the name that people know it by.
    """
    if status not in HINTED:
        return None
    existing = [row for row in rows if row[1].finding.status is not Status.TOPIC_DELETED]
    affected = [row for row in existing if row[1].finding.status is status]
    is_shared = group.type is GroupType.SHARE
    if status is Status.FALLING_BEHIND and group.members and affected:
        if is_shared:  # its members share the work of each partition
            return _parallel(group, existing)
        return _hot(existing, affected) or _slow(group, affected, names) or _parallel(group, existing)
    if status is Status.STALLED and affected:
        return _stalled_share_group(group, affected) if is_shared else _stalled(affected, names)
    return _WITHOUT_MEMBERS.get(status) if group.has_no_members else None


_WITHOUT_MEMBERS: Mapping[Status, Hint] = {
    Status.LOST: Hint(
        "Start its consumers before Kafka deletes more. Lost records can only be restored from elsewhere.",
        "It has no members, so nothing is read.",
    ),
    Status.TOPIC_DELETED: Hint(
        "Delete its offsets for the topic, or the group if it is no longer needed.",
        "It has no members. Its offsets expire offsets.retention.minutes after its last member left.",
    ),
}


def _hot(rows: Rows, behind: Rows) -> Hint | None:
    """One partition gets most of the records, so more members cannot share its work."""
    rates = [health.produce_rate for _, health in rows]
    known = [rate for rate in rates if rate is not None]
    if len(rows) < MIN_PARTITIONS or len(known) < len(rates) or not sum(known):
        return None
    at = known.index(max(known))
    share = known[at] / sum(known)
    if share <= HOT_SHARE or [lag.tp for lag, _ in behind] != [rows[at][0].tp]:
        return None
    return Hint(
        "Choose a record key that spreads the records, or make processing faster; more members do not help.",
        f"{rows[at][0].tp} gets {share:.0%} of the records of {len(rows)} partitions, and one member reads it.",
    )


def _slow(group: GroupSnapshot, behind: Rows, names: Mapping[str, str]) -> Hint | None:
    """Every partition that falls behind belongs to one member, while the others keep up."""
    owners = {lag.member_id for lag, _ in behind}
    working = [member.member_id for member in group.members if member.assigned]
    if len(working) < 2 or len(owners) > 1 or None in owners:
        return None
    (owner,) = owners
    others = len(working) - 1
    keep = "the other member keeps up" if others == 1 else f"the other {others} members keep up"
    return Hint(
        f"Check member {names.get(owner or '', owner)}: its host, its threads and what it is waiting for.",
        f"All partitions that fall behind ({plural(len(behind), 'partition')}) belong to it, and {keep}.",
        Remedy.RESTART_MEMBER,
        owner,
    )


def _parallel(group: GroupSnapshot, rows: Rows) -> Hint:
    """Members can be added while there are places for them; share groups have no such limit."""
    members, partitions = len(group.members), len(rows)
    free = places(group.assignor, (lag.tp.topic for lag, _ in rows)) - members
    have = f"{plural(members, 'member')} for {plural(partitions, 'partition')}"
    shared = group.type is GroupType.SHARE
    if shared or free > 0:
        places_left = f": up to {plural(free, 'more member')} would get partitions"
        more = ", and members of a share group share partitions" if shared else places_left
        return Hint("Add members, or make processing faster.", f"It has {have}{more}.", Remedy.ADD_MEMBERS)
    if members < partitions:
        return Hint(
            f"Switch from {RANGE} to another assignor and add members, or make processing faster.",
            f"It has {have}, but no topic has more than {plural(members + free, 'partition')}: with {RANGE}, "
            "more members would be idle.",
        )
    return Hint(
        "Make processing faster, or add partitions and members.",
        f"It has {have}, so more members would be idle. New partitions get only new records, keys then map to other "
        "partitions, and a topic never shrinks.",
    )


def places(assignor: str | None, topics: Iterable[str]) -> int:
    """How many members get partitions; `topics` has the topic of each partition.

    Kafka's range assignors cut each topic for itself, from the same first member on.
    """
    counts = Counter(topics)
    return max(counts.values(), default=0) if assignor == RANGE else counts.total()


def _stalled(rows: Rows, names: Mapping[str, str]) -> Hint | None:
    owners = {lag.member_id for lag, _ in rows}
    if len(owners) > 1:
        return None
    (owner,) = owners
    if owner is None:
        return Hint("Check why no member owns it.", f"{_first(rows)}: no member is assigned.")
    return Hint(
        f"Check member {names.get(owner, owner)}: it may be failing on the same record repeatedly, or be stuck.",
        f"It owns {_first(rows)}.",
        Remedy.RESTART_MEMBER,
        owner,
    )


def _stalled_share_group(group: GroupSnapshot, rows: Rows) -> Hint:
    """A partition of a share group can have several members, and none of them alone owns it."""
    stalled = {lag.tp for lag, _ in rows}
    readers = [member for member in group.members if not stalled.isdisjoint(member.assigned)]
    if not readers:
        return Hint("Check why no member reads it.", f"{_first(rows)}: no member is assigned.")
    return Hint(
        "Check the members that read it: one may be failing on the same record repeatedly, or be stuck.",
        f"{_first(rows)}: {plural(len(readers), 'member')} of the group.",
    )


def _first(rows: Rows) -> str:
    return f"{rows[0][0].tp}{f' and {len(rows) - 1} more' if len(rows) > 1 else ''}"
