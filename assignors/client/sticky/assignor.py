"""Kafka's `sticky` (`org.apache.kafka.clients.consumer.StickyAssignor`), and the way that both sticky ones take."""

from dataclasses import replace

import numpy as np

from assignors.arrays import Claims, GroupArrays, Plan, assigned_in_turn, group_arrays, to_assignment
from assignors.client.sticky import claims, constrained, general
from assignors.client.sticky.claims_resolution import resolve
from assignors.client.sticky.rack_info import rack_view
from assignors.client.sticky.revocation import without_transfers
from assignors.layout import id_order
from assignors.model import Assignment, AssignorError, Group


class StickyAssignor:
    """As balanced as subscriptions allow; then, members keep what they had.

    Guarantees, most important first: every partition has one owner; sizes differ by at most one where
    subscriptions are equal, else no member could take over a partition from one with two more; members keep as much
    as that allows; new partitions go to members in the racks of their replicas (KIP-881) as far as that costs neither.
    Ownership is read from the user data alone (`client.sticky.user_data`); a member without any counts as if it
    held `owned` and `generation`. Kafka's instances remember the highest generation they have seen; here every
    call is that of a new instance. KIPs: 54, 341, 881. Instance ids have no effect.

    >>> from assignors.model import Member, Topic
    >>> members = (Member("C0", topics=("ta", "tb")), Member("C1", topics=("ta", "tb")))
    >>> group = Group("g", members, {"ta": Topic("ta", 3), "tb": Topic("tb", 3)})
    >>> for member, owned in StickyAssignor().assign(group).by_member.items():
    ...     print(member, *owned)
    C0 ta-0 ta-2 tb-1
    C1 ta-1 tb-0 tb-2
    """

    name = "sticky"

    def assign(self, group: Group) -> Assignment:
        """Plan the group.

        Raises AssignorError where Kafka throws (a group without members; claims on partitions that do not exist) and
        where it would never return.
        """
        arrays = group_arrays(group)
        ordered = not has_equal_subscriptions(arrays)  # with equal ones, what is owned gets sorted anyway
        arrays = replace(arrays, claims=claims.of_sticky(group.members, arrays.layout, ordered=ordered))
        return to_assignment(arrays, self.assign_arrays(arrays))

    def assign_arrays(self, arrays: GroupArrays) -> Plan:
        """The same with arrays. Claims are to be as the user data have them."""
        return plan_sticky(arrays, cooperative=False)


def plan_sticky(arrays: GroupArrays, *, cooperative: bool) -> Plan:
    """The plan of either sticky assignor."""
    if not arrays.members:
        raise AssignorError("ArithmeticException: a sticky assignor cannot assign a group without members.")
    claimed = arrays.claims if arrays.claims is not None else _no_claims(len(arrays.members))
    racks = rack_view(arrays)
    if not has_equal_subscriptions(arrays):
        plan = general.assign(arrays, claimed, resolve(arrays, claimed), racks)
        total = len(arrays.layout) + len(claimed.strays)
        return without_transfers(plan, claimed, total) if cooperative else plan
    if racks is None and not len(claimed.codes):
        return assigned_in_turn(arrays.layout, id_order(arrays.members))
    outcome = constrained.assign(arrays, resolve(arrays, claimed), racks)
    return outcome.plan(len(arrays.members), cooperative=cooperative)


def has_equal_subscriptions(arrays: GroupArrays) -> bool:
    """Kafka's test. It compares the length of each list with the first set that is not empty: so empty lists before
    that one count as equal to it, and a topic named twice as a difference.
    """
    if not arrays.lists:
        return True
    if len(arrays.lists) == 1:
        return len(arrays.members) == 1 or len(set(arrays.lists[0])) == len(arrays.lists[0])
    rows = arrays.list_of[list(arrays.map_order())].tolist()
    first = next(at for at, row in enumerate(rows) if arrays.lists[row])
    reference = frozenset(arrays.lists[rows[first]])
    later = (arrays.lists[row] for row in dict.fromkeys(rows[first + 1 :]))
    return all(len(topics) == len(reference) and reference.issuperset(topics) for topics in later)


def _no_claims(members: int) -> Claims:
    nothing = np.zeros(members + 1, dtype=np.int64)
    absent = np.full(members, -1, dtype=np.int64)
    return Claims(np.zeros(0, dtype=np.int32), nothing, absent, absent)
