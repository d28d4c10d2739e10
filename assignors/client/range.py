"""Kafka's `range`: a run of each topic's partitions per member (`org.apache.kafka.clients.consumer.RangeAssignor`)."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers, Plan, group_arrays, in_rows, to_assignment
from assignors.client import range_racks
from assignors.javahash import string_order
from assignors.layout import Codes
from assignors.model import Assignment, Group


class RangeAssignor:
    """Topic by topic, members in order get runs of equal length; the first ones get what is left over.

    Guarantees, most important first: every partition has one owner; topics with equally many partitions and the
    same subscribers are co-partitioned (one member gets the same numbers of each); where racks are known and tell
    partitions apart, members get partitions with a replica in their rack as far as the lengths of the runs allow
    (KIP-881), all topics of a co-partitioned set together. It keeps nothing that members owned, and the left-overs of
    all topics go to the same first members.

    >>> from assignors.model import Member, Topic
    >>> members = (Member("C0", topics=("ta", "tb")), Member("C1", topics=("ta", "tb")))
    >>> group = Group("g", members, {"ta": Topic("ta", 3), "tb": Topic("tb", 3)})
    >>> for member, owned in RangeAssignor().assign(group).by_member.items():
    ...     print(member, *owned)
    C0 ta-0 ta-1 tb-0 tb-1
    C1 ta-2 tb-2
    """

    name = "range"

    def assign(self, group: Group) -> Assignment:
        """Plan the group. Raises AssignorError on broken input only."""
        arrays = group_arrays(group)
        return to_assignment(arrays, self.assign_arrays(arrays))

    def assign_arrays(self, arrays: GroupArrays) -> Plan:
        order = arrays.member_order()
        racked = range_racks.plan(arrays, order)
        if racked is not None:
            return racked
        topics = _topic_order(arrays)
        counts = arrays.layout.counts
        if order and len(arrays.lists) == 1 and len(counts) and (counts == counts[0]).all():
            return _even(arrays, order, topics)
        return _uneven(arrays, order, topics)


def _topic_order(arrays: GroupArrays) -> list[int]:
    """Topics as the HashMap iterates that Kafka fills from the HashSet of all subscribed names."""
    lists = arrays.list_of[list(arrays.map_order())].tolist() if len(arrays.lists) > 1 else range(len(arrays.lists))
    seen = tuple(dict.fromkeys(chain.from_iterable(arrays.lists[row] for row in dict.fromkeys(lists))))
    named = [seen[at] for at in string_order(seen)]
    known = tuple(name for name in named if name in arrays.layout.position)
    return arrays.positions([known[at] for at in string_order(known)])


def _even(arrays: GroupArrays, order: Sequence[int], topics: Sequence[int]) -> Plan:
    """All members subscribe to all topics, and these have equally many partitions."""
    members, width = len(order), len(topics)
    each, extra = divmod(int(arrays.layout.counts[0]), members)
    offsets = arrays.layout.offsets[list(topics)].astype(np.int32)
    codes = np.empty(len(arrays.layout), dtype=np.int32)
    split = extra * width * (each + 1)
    _runs(codes[:split], offsets, 0, extra, each + 1)
    _runs(codes[split:], offsets, extra * (each + 1), members - extra, each)
    counts = np.full(members, width * each, dtype=np.int64)
    counts[:extra] += width
    return in_rows(codes, counts, order)


def _runs(out: Codes, offsets: Codes, first: int, members: int, length: int) -> None:
    """For each member, in each topic, the next `length` partitions from `first` on."""
    if not len(out):
        return
    firsts = np.arange(first, first + members * length, length, dtype=np.int32)
    runs = (offsets[:, None] + np.arange(length, dtype=np.int32)).reshape(-1)
    np.add(firsts[:, None], runs, out=out.reshape(members, -1))


def _uneven(arrays: GroupArrays, order: Sequence[int], topics: Sequence[int]) -> Plan:
    """Any subscriptions, any numbers of partitions: runs as (member, first code, length), gathered by member."""
    members, firsts, lengths = _all_runs(arrays, order, topics)
    by_member = np.argsort(members, kind="stable")
    totals = np.bincount(members, weights=lengths, minlength=len(order)).astype(np.int64)
    codes = _expand(firsts[by_member], lengths[by_member])
    return in_rows(codes, totals, order)


def _all_runs(
    arrays: GroupArrays, order: Sequence[int], topics: Sequence[int]
) -> tuple[NDArray[np.int32], Numbers, Numbers]:
    """Who (as a position in the order) gets which run, topic after topic."""
    subscribed = arrays.subscriptions()
    lists = arrays.list_of[list(order)]
    members, firsts, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for topic in topics:
        subscribers = np.flatnonzero(subscribed[lists, topic])
        each, extra = divmod(int(arrays.layout.counts[topic]), len(subscribers))
        turns = np.arange(len(subscribers))
        members.append(subscribers.astype(np.int32))
        firsts.append(arrays.layout.offsets[topic] + each * turns + np.minimum(turns, extra))
        lengths.append(each + (turns < extra))
    return np.concatenate(members), np.concatenate(firsts), np.concatenate(lengths)


def _expand(firsts: Numbers, lengths: Numbers) -> Codes:
    """All runs, concatenated: int32[n_partitions]."""
    before = np.cumsum(lengths) - lengths
    codes: Codes = np.repeat((firsts - before).astype(np.int32), lengths)
    codes += np.arange(len(codes), dtype=np.int32)
    return codes
