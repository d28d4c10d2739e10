"""Kafka's `cooperative-sticky` (`org.apache.kafka.clients.consumer.CooperativeStickyAssignor`)."""

from dataclasses import replace

from assignors.arrays import GroupArrays, Plan, group_arrays, to_assignment
from assignors.client.sticky import claims, plan_sticky
from assignors.model import Assignment, Group


class CooperativeStickyAssignor:
    """`sticky` in two steps: a partition that moves is revoked in one rebalance and given to its new owner in the next.

    Guarantees, most important first: no partition goes to a member while another one may still hold it; then
    all that `sticky` gives, once the second rebalance is over. Ownership is read from `owned`, as of `generation`, or,
    where the subscription has none, of the generation in the user data. Kafka's instances remember the highest
    generation they have seen; here every call is that of a fresh instance. KIPs: 429, 792, 881. Instance ids play no
    part.

    >>> from assignors.model import Member, Topic, TopicPartition
    >>> owned = tuple(TopicPartition(topic, number) for topic in ("ta", "tb") for number in range(3))
    >>> topics = {"ta": Topic("ta", 3), "tb": Topic("tb", 3)}
    >>> members = (Member("C0", topics=("ta", "tb"), owned=owned, generation=1), Member("C1", topics=("ta", "tb")))
    >>> for member, owned in CooperativeStickyAssignor().assign(Group("g", members, topics)).by_member.items():
    ...     print(member, *owned)
    C0 ta-0 tb-0 ta-1
    C1
    """

    name = "cooperative-sticky"

    def assign(self, group: Group) -> Assignment:
        """Plan the group.

        Raises AssignorError where Kafka throws (a group without members; claims on partitions that do not exist) and
        where it would never return.
        """
        arrays = group_arrays(group)
        arrays = replace(arrays, claims=claims.of_cooperative(group.members, arrays.layout))
        return to_assignment(arrays, self.assign_arrays(arrays))

    def assign_arrays(self, arrays: GroupArrays) -> Plan:
        return plan_sticky(arrays, cooperative=True)
