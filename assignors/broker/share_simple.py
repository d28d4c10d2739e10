"""Kafka's `simple`, the assignor of share groups, here `share-simple`."""

from dataclasses import dataclass

from assignors.broker.group_spec import server_group
from assignors.broker.share_arrays import fast_share_plan
from assignors.broker.share_builders import Sharing
from assignors.broker.spec_arrays import UncleanError
from assignors.javahash import NEWEST_RULE_JDK
from assignors.model import Assignment, Group


@dataclass(frozen=True, slots=True)
class ShareSimpleAssignor:
    """`org.apache.kafka.coordinator.group.assignor.SimpleAssignor` of Kafka 4.3.1 (KIP-932), for share groups.

    In this order: balance, then stickiness. A partition may go to several members: with more members than partitions
    each partition is shared by as many as it takes to keep all busy. Members that subscribe to different topics are
    balanced per topic. All partitions of the group's topics count as assignable. The plan depends on topic ids and on
    the order of Java's hash maps; `jdk` is the broker's Java.

    >>> from assignors.model import Member, Topic
    >>> members = tuple(Member(name, topics=("orders",)) for name in ("m0", "m1", "m2"))
    >>> plan = SHARE_SIMPLE.assign(Group("shop", members, {"orders": Topic("orders", 2)}))
    >>> [(member, [str(tp) for tp in partitions]) for member, partitions in plan.by_member.items()]
    [('m0', ['orders-0', 'orders-1']), ('m1', ['orders-1']), ('m2', ['orders-0'])]
    """

    jdk: int = NEWEST_RULE_JDK

    @property
    def name(self) -> str:
        """`share-simple`; Kafka's own name is `simple`."""
        return "share-simple"

    def assign(self, group: Group) -> Assignment:
        """Plan the group. Raises AssignorError where Kafka throws, and when two members or topic ids are equal."""
        seen = server_group(group, self.jdk)
        try:
            return fast_share_plan(seen)
        except UncleanError:
            return Sharing(seen).plan()


SHARE_SIMPLE = ShareSimpleAssignor()
