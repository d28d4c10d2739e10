"""Kafka's `roundrobin`: all partitions assigned in turn (`org.apache.kafka.clients.consumer.RoundRobinAssignor`)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Plan, assigned_in_turn, collected, group_arrays, to_assignment
from assignors.model import Assignment, AssignorError, Group


class RoundRobinAssignor:
    """Partitions sorted by topic and number go to members in turn; members that do not subscribe are passed over.

    Guarantees, most important first: every partition has one owner; with equal subscriptions, sizes differ by at
    most one; the order of members is that of their instance ids, then of their ids. It neither keeps what members owned
    nor looks at racks, and with unequal subscriptions the balance may be poor.

    >>> from assignors.model import Member, Topic
    >>> members = (Member("C0", topics=("ta", "tb")), Member("C1", topics=("ta", "tb")))
    >>> group = Group("g", members, {"ta": Topic("ta", 3), "tb": Topic("tb", 3)})
    >>> for member, owned in RoundRobinAssignor().assign(group).by_member.items():
    ...     print(member, *owned)
    C0 ta-0 ta-2 tb-1
    C1 ta-1 tb-0 tb-2
    """

    name = "roundrobin"

    def assign(self, group: Group) -> Assignment:
        """Plan the group. Raises AssignorError when it has no members, as Kafka does."""
        arrays = group_arrays(group)
        return to_assignment(arrays, self.assign_arrays(arrays))

    def assign_arrays(self, arrays: GroupArrays) -> Plan:
        if not arrays.members:
            raise AssignorError("IllegalArgumentException: roundrobin cannot assign a group without members.")
        order = arrays.member_order()
        if len(arrays.lists) == 1:
            return assigned_in_turn(arrays.layout, order)
        owners = _walk(arrays, order)
        return collected(np.arange(len(arrays.layout), dtype=np.int32), owners, len(order))


def _walk(arrays: GroupArrays, order: Sequence[int]) -> NDArray[np.int32]:
    """The owner of each partition. Within a topic the subscribers take turns in a fixed cycle: no need to walk it."""
    subscribed = arrays.subscriptions()
    in_order = np.array(order, dtype=np.int32)
    owners = np.empty(len(arrays.layout), dtype=np.int32)
    cursor = 0
    for topic, (begin, count) in enumerate(zip(arrays.layout.offsets, arrays.layout.counts, strict=False)):
        cycle = np.flatnonzero(subscribed[arrays.list_of[in_order], topic])
        first = np.searchsorted(cycle, cursor)
        turns = cycle[(first + np.arange(count)) % len(cycle)]
        owners[begin : begin + count] = in_order[turns]
        cursor = (int(turns[-1]) + 1) % len(order)
    return owners
