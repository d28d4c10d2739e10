"""A group's next state: what has happened since the one before, as far as records tell.

They do not tell a member that left from one whose session expired: both are gone. Nor do they name who made a classic
group rebalance that has the same members, subscriptions and topics as before.
"""

from collections.abc import Sequence

from assignors.layout import Layout
from assignors.model import Group, Member, Topic, TopicPartition
from lag.generations.changes import happened
from lag.generations.kept_states import held
from lag.generations.recorded.model import Progress, Written

FIRST_RECORD = "first record kept"
NOBODY = "nobody is in the group"
AS_IT_WAS = "as it was"
DELETED = "the group was deleted"
UPGRADED = "the group went over to the consumer protocol (KIP-848)"
DOWNGRADED = "the group went back to the classic protocol"
CAME_BACK = "a member joined again"
NEW_METADATA = "its topics' metadata changed"
REPLANNED = "planned anew"


def grouped(
    group_id: str,
    assignor: str | None,
    members: Sequence[Member],
    owned: Sequence[Sequence[TopicPartition]],
    last: Group | None,
) -> Group:
    """The group with what its members own; raises AssignorError on a partition that cannot be.

    Topics never shrink: they reach as far as partitions were assigned, now or before. One of which nothing was assigned
    in the `last` state, and nothing is now, is gone, and so is one that nobody subscribes to.
    """
    pieces, layout = held(owned)
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


def begun(number: int, at_ms: int, group: Group, *, modern: bool, event: str = "") -> Written:
    """The first state that is known of a group; of one that is just born, number 0 without members."""
    event = event or (FIRST_RECORD if group.members else NOBODY)
    return Written(
        number, at_ms, event, group, cause=event, round=1, modern=modern, skipped=0, progress=Progress(None, None)
    )


def gone(last: Written, at_ms: int) -> Written:
    """The group after its deletion; what comes next is another group of that name."""
    nobody = Group(last.group.group_id, (), {}, last.group.assignor)
    progress = Progress(None, None)
    return Written(0, at_ms, DELETED, nobody, cause=DELETED, round=1, modern=last.modern, skipped=0, progress=progress)


def followed(
    last: Written, number: int, at_ms: int, group: Group, progress: Progress, modern: bool, why: str
) -> Written:
    """The state after `last`. `why` is what to say when nothing of what can be seen has changed."""
    cause, count = _cause(last, group, modern, why)
    return Written(
        number,
        at_ms,
        cause if count == 1 else f"{cause} (rebalance {count})",
        group,
        cause=cause,
        round=count,
        modern=modern,
        skipped=0 if last.cause == AS_IT_WAS else max(0, number - last.number - 1),
        progress=progress,
    )


def _cause(last: Written, group: Group, modern: bool, why: str) -> tuple[str, int]:
    seen = happened(last.group, group)
    if modern != last.modern:
        seen.insert(0, UPGRADED if modern else DOWNGRADED)
    if seen:
        return "; ".join(seen), 1
    if not modern and _left_free(last.group):
        return last.cause, last.round + 1
    return why, 1


def _left_free(group: Group) -> bool:
    """Whether partitions were given up so that they can go to others in the rebalance that follows (KIP-429)."""
    free = sum(topic.partitions for topic in group.topics.values()) - sum(len(m.owned) for m in group.members)
    return group.assignor == "cooperative-sticky" and free > 0
