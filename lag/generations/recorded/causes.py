"""A group's next state: what has happened since the one before, as far as records tell.

They do not tell a member that left from one whose session expired: both are gone. Nor do they name who made a classic
group rebalance that has the same members, subscriptions and topics as before.
"""

from collections.abc import Sequence

from assignors.layout import Layout
from assignors.model import Group, Member, Topic, TopicPartition
from lag.generations.changes import causes_of
from lag.generations.recorded.model import Reconciliation, RecordedState
from lag.generations.state_buffer import pack_owned

FIRST_RECORD = "first record kept"
NO_MEMBERS = "the group has no members"
SEEN_IN_POLL = "as seen in a poll"
DELETED = "the group was deleted"
UPGRADED = "the group was upgraded to the consumer protocol (KIP-848)"
DOWNGRADED = "the group was downgraded to the classic protocol"
REJOINED = "a member rejoined"
NEW_METADATA = "its topics' metadata changed"
RECOMPUTED = "assignment computed again"


def build_group(
    group_id: str,
    assignor: str | None,
    members: Sequence[Member],
    owned: Sequence[Sequence[TopicPartition]],
    last: Group | None,
) -> Group:
    """The group with the owned partitions of its members. Raises AssignorError for an invalid partition.

    A topic has as many partitions as were assigned, now or in the `last` state. Topics without subscribers are left
    out, and topics of which nothing is assigned in either state.
    """
    pieces, layout = pack_owned(owned)
    pairs = zip(members, pieces, strict=True)
    made = tuple(Member(m.member_id, m.instance_id, m.client_id, m.host, m.rack, m.topics, mine) for m, mine in pairs)
    return Group(group_id, made, _topics(made, layout, last), assignor)


def _topics(members: Sequence[Member], layout: Layout, last: Group | None) -> dict[str, Topic]:
    sizes = dict(zip(layout.names, layout.counts.tolist(), strict=True))
    wanted = {name for member in members for name in member.topics}
    had = {tp.topic for member in last.members for tp in member.owned} if last is not None else set()
    for name, topic in last.topics.items() if last is not None else ():
        if name in sizes or name in wanted & had:
            sizes[name] = max(sizes.get(name, 0), topic.partitions)
    return {name: Topic(name, size) for name, size in sorted(sizes.items())}


def first_state(number: int, at_ms: int, group: Group, *, modern: bool, event: str = "") -> RecordedState:
    """The first known state of a group; for a new group number 0 without members."""
    event = event or (FIRST_RECORD if group.members else NO_MEMBERS)
    return RecordedState(number, at_ms, event, group, cause=event, modern=modern)


def deleted_state(last: RecordedState, at_ms: int) -> RecordedState:
    """The group after its deletion; a later one is another group with the same name."""
    nobody = Group(last.group.group_id, (), {}, last.group.assignor)
    progress = Reconciliation(None, None)
    return RecordedState(
        0, at_ms, DELETED, nobody, cause=DELETED, round=1, modern=last.modern, skipped=0, progress=progress
    )


def next_state(
    last: RecordedState, number: int, at_ms: int, group: Group, progress: Reconciliation, modern: bool, why: str
) -> RecordedState:
    """The state after `last`. `why` is the cause if nothing visible has changed."""
    cause, count = _cause(last, group, modern, why)
    return RecordedState(
        number,
        at_ms,
        cause if count == 1 else f"{cause} (rebalance {count})",
        group,
        cause=cause,
        round=count,
        modern=modern,
        skipped=0 if last.cause == SEEN_IN_POLL else max(0, number - last.number - 1),
        progress=progress,
    )


def _cause(last: RecordedState, group: Group, modern: bool, why: str) -> tuple[str, int]:
    seen = causes_of(last.group, group)
    if modern != last.modern:
        seen.insert(0, UPGRADED if modern else DOWNGRADED)
    if seen:
        return "; ".join(seen), 1
    if not modern and _left_free(last.group):
        return last.cause, last.round + 1
    return why, 1


def _left_free(group: Group) -> bool:
    """Whether partitions were revoked for the rebalance that follows (KIP-429)."""
    free = sum(topic.partitions for topic in group.topics.values()) - sum(len(m.owned) for m in group.members)
    return group.assignor == "cooperative-sticky" and free > 0
