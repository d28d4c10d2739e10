"""Kafka's `range` on the broker, here `server-range`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from assignors.broker.group_spec import ServerGroup, assignment, server_group, sized
from assignors.broker.server_range_arrays import fast_ranges
from assignors.javahash import NEWEST_RULE_JDK, UUIDS, CrowdedError, JavaHashMap
from assignors.layout import id_order
from assignors.model import Assignment, Group, Member


@dataclass(frozen=True, slots=True)
class ServerRangeAssignor:
    """`org.apache.kafka.coordinator.group.assignor.RangeAssignor` of Kafka 4.3.1 (KIP-848).

    In this order: co-partitioning (members get equal numbers of equally sized topics), then balance within each topic.
    Every topic is cut into contiguous ranges over its subscribers: static members first, by instance id, then the
    rest by member id. Not sticky. Racks do not count. Topic ids and the broker's Java (`jdk`) decide only in which
    order a member's topics are listed.

    >>> from assignors.model import Topic
    >>> members = tuple(Member(name, topics=("orders",)) for name in ("m0", "m1", "m2"))
    >>> plan = SERVER_RANGE.assign(Group("shop", members, {"orders": Topic("orders", 7)}))
    >>> [(member, [str(tp) for tp in partitions]) for member, partitions in plan.by_member.items()]
    [('m0', ['orders-0', 'orders-1', 'orders-2']), ('m1', ['orders-3', 'orders-4']), ('m2', ['orders-5', 'orders-6'])]
    """

    jdk: int = NEWEST_RULE_JDK

    @property
    def name(self) -> str:
        """`server-range`; Kafka's own name is `range`, which here is the client's assignor."""
        return "server-range"

    def assign(self, group: Group) -> Assignment:
        """Plan the group. Raises AssignorError when two members or topic ids are equal."""
        return self.plan(server_group(group, self.jdk))

    def plan(self, seen: ServerGroup) -> Assignment:
        """Plan a group as the coordinator sees it."""
        members = static_first(seen.members)
        if not members:
            return Assignment(None, {})
        try:
            return fast_ranges(seen, members)
        except CrowdedError:
            return ranges(seen, members)


def static_first(members: Sequence[Member]) -> list[Member]:
    """Members in the assignor's order: those with an instance id first, by it; the rest by member id."""
    static = [member for member in members if member.instance_id is not None]
    others = [member for member in members if member.instance_id is None]
    by_instance = id_order([member.instance_id or "" for member in static])
    by_id = id_order([member.member_id for member in others])
    return [static[at] for at in by_instance] + [others[at] for at in by_id]


def ranges(group: ServerGroup, members: Sequence[Member]) -> Assignment:
    """The plan, container by container, for members in the assignor's order."""
    cuts = {name: _cuts(group.topics[name].partitions, count) for name, count in _subscribers(group).items()}
    plans: dict[str, JavaHashMap[UUID, range]] = {}
    for member in members:
        topics = group.subscribed(members[0] if group.homogeneous else member)
        expected = len(topics) if group.homogeneous else len(set(member.topics))
        plan: JavaHashMap[UUID, range] = JavaHashMap(UUIDS, sized(expected))
        for topic in topics:
            if cut := next(cuts[topic.name]):
                plan[group.uuid_of(topic.name)] = cut
        plans[member.member_id] = plan
    return assignment(group, plans, sized(len(members)))


def _subscribers(group: ServerGroup) -> dict[str, int]:
    counts: dict[str, int] = {}
    for member in group.members:
        for topic in group.subscribed(member):
            counts[topic.name] = counts.get(topic.name, 0) + 1
    return counts


def _cuts(partitions: int, members: int) -> Iterator[range]:
    """The contiguous ranges of one topic, for one member after the other."""
    quota, extras = divmod(partitions, members)
    begin = 0
    for index in range(members):
        end = begin + quota + (index < extras)
        yield range(begin, end)
        begin = end


SERVER_RANGE = ServerRangeAssignor()
