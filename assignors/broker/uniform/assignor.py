"""Kafka's `uniform`, the broker's default assignor for KIP-848 groups."""

from dataclasses import dataclass

from assignors.broker.group_spec import ServerGroup, server_group
from assignors.broker.spec_arrays import UncleanError
from assignors.broker.uniform.equal import fast_plan
from assignors.broker.uniform.heterogeneous import Heterogeneous
from assignors.broker.uniform.homogeneous import Homogeneous
from assignors.broker.uniform.mixed import fast_mixed_plan
from assignors.javahash import NEWEST_RULE_JDK
from assignors.model import Assignment, Group


@dataclass(frozen=True, slots=True)
class UniformAssignor:
    """`org.apache.kafka.coordinator.group.assignor.UniformAssignor` of Kafka 4.3.1 (KIP-848).

    In this order: balance, then stickiness. Members that subscribe to the same topics end at most one partition apart
    and keep what they own up to that; otherwise each topic is levelled among its subscribers in turn. Racks do not
    count. The plan depends on topic ids and on the order of Java's hash maps; `jdk` is the broker's Java, whose rule
    for the capacity of a copied set changed between 17 and 21.

    >>> from assignors.model import Member, Topic
    >>> members = tuple(Member(name, topics=("orders",)) for name in ("m0", "m1", "m2"))
    >>> plan = UNIFORM.assign(Group("shop", members, {"orders": Topic("orders", 7)}))
    >>> [(member, [str(tp) for tp in partitions]) for member, partitions in plan.by_member.items()]
    [('m0', ['orders-0', 'orders-1']), ('m1', ['orders-2', 'orders-3']), ('m2', ['orders-4', 'orders-5', 'orders-6'])]
    """

    jdk: int = NEWEST_RULE_JDK

    @property
    def name(self) -> str:
        """`uniform`, as Kafka spells it."""
        return "uniform"

    def assign(self, group: Group) -> Assignment:
        """Plan the group. Raises AssignorError where Kafka throws, and when two members or topic ids are equal."""
        return self.plan(server_group(group, self.jdk))

    def plan(self, seen: ServerGroup) -> Assignment:
        """Plan a group as the coordinator sees it. Raises AssignorError where Kafka throws."""
        if not seen.members:
            return Assignment(None, {})
        fast, exact = (fast_plan, Homogeneous) if seen.homogeneous else (fast_mixed_plan, Heterogeneous)
        try:
            return fast(seen)
        except UncleanError:
            return exact(seen).plan()


UNIFORM = UniformAssignor()
