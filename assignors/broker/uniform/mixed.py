"""`uniform` for members with different subscriptions, on arrays: the plan of `broker.uniform.heterogeneous`, faster.

For clean groups only, as in `broker.uniform.equal`. Topics are handed out by water-filling in closed form; the few
partitions that move for balance are moved one by one.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import ServerGroup, sized
from assignors.broker.spec_arrays import (
    BrokerList,
    Members,
    Numbers,
    UncleanError,
    layout_of,
    lengths,
    subscribers,
    subscriptions,
    topic_ranks,
)
from assignors.broker.uniform.containers import Change, Containers
from assignors.broker.uniform.heterogeneous import ROUNDS, Loads, next_donor
from assignors.broker.uniform.owned import read_owned
from assignors.javahash import string_order, table_size_for
from assignors.layout import Layout
from assignors.model import Assignment

_NOBODY = -1


def fast_mixed_plan(group: ServerGroup) -> Assignment:
    """The plan. UncleanError where only exact maps will do."""
    topics = group.all_subscribed()
    if not topics:
        raise UncleanError
    layout = layout_of(topics)
    lists = _Mixed(group, layout).lists()
    ids = tuple(member.member_id for member in group.members)
    return Assignment(None, {ids[at]: lists[at] for at in string_order(ids)})


class _Mixed:
    """One computation. Members are known by their position, topics by theirs in the layout."""

    def __init__(self, group: ServerGroup, layout: Layout) -> None:
        self._layout = layout
        table, list_of = subscriptions(group, layout), group.list_of(group.members)
        self._members = subscribers(table, list_of)
        counts = np.array([len(members) for members in self._members])
        self._order = _topic_order(group, layout, counts)
        shares = -(-layout.counts // counts)
        capacities = [table_size_for(sized(share)) for share in shares.tolist()]
        self._containers = Containers(group, layout, capacities)
        self._old = read_owned(group, self._containers, table[list_of])
        self._sizes = lengths([part.codes for part in self._old.lists])
        self._owners = self._claimed()
        self._level: set[int] = set()  # the ids of arrays of members that are at most one apart
        self._changes: dict[int, list[Change]] = {}

    def _claimed(self) -> NDArray[np.int32]:
        """Who owns each partition. UncleanError when two do."""
        codes = np.concatenate([part.codes for part in self._old.lists], dtype=np.intp)
        owners = np.full(len(self._layout), _NOBODY, dtype=np.int32)
        owners[codes] = np.arange(len(self._sizes), dtype=np.int32).repeat(self._sizes)
        if np.count_nonzero(owners != _NOBODY) != len(codes):
            raise UncleanError
        return owners

    def lists(self) -> Sequence[BrokerList]:
        """Each member's partitions."""
        self._hand_out()
        self._balance([topic for topic in self._order if len(self._members[topic]) > 1])
        return self._containers.changed(self._old, self._changes)

    def _hand_out(self) -> None:
        """Topic by topic, give what nobody owned to the least loaded subscribers."""
        free = np.flatnonzero(self._owners == _NOBODY)
        bounds = free.searchsorted(self._layout.offsets).tolist()
        codes, takers = [free[:0]], [self._members[0][:0]]
        for topic in self._order:
            begin, end = bounds[topic : topic + 2]
            if begin < end:
                codes.append(free[begin:end])
                takers.append(water_fill(self._members[topic], self._sizes, end - begin))
        narrow = np.min_scalar_type(len(self._sizes))  # up to 16 bits sort by radix
        given, taken_by = np.concatenate(codes), np.concatenate(takers, dtype=narrow, casting="unsafe")
        self._owners[given] = taken_by
        news = given.astype(np.int32).take(np.argsort(taken_by, kind="stable"))
        ends = np.cumsum(np.bincount(taken_by, minlength=len(self._sizes))).tolist()
        parts = enumerate(pairwise([0, *ends]))
        self._changes = {row: [(news[begin:end], True)] for row, (begin, end) in parts if begin < end}

    def _balance(self, topics: Sequence[int]) -> None:
        last_moved = None
        for _ in range(ROUNDS):
            for topic in topics:
                if topic == last_moved:
                    return
                if self._balance_topic(topic) or last_moved is None:
                    last_moved = topic

    def _balance_topic(self, topic: int) -> bool:
        members = self._members[topic]
        if id(members) in self._level:
            return False
        loads_of = self._sizes[members]
        if int(loads_of.max() - loads_of.min()) <= 1:
            self._level.add(id(members))
            return False
        self._level.clear()
        sizes = self._sizes.tolist()
        loads = Loads(members[np.argsort(loads_of, kind="stable")].tolist(), sizes)
        begin, end = self._layout.offsets[topic : topic + 2].tolist()
        givable = _Givable(self._owners[begin:end].copy(), begin)
        has_moved = False
        while not loads.is_balanced() and (donor := next_donor(loads, givable)) is not None:
            code = givable[donor].pop()
            taker = loads.next_least()
            if loads.is_balanced():
                break
            self._move(code, donor, taker, sizes)
            has_moved = True
        self._sizes = np.array(sizes, dtype=np.int64)
        return has_moved

    def _move(self, code: int, donor: int, taker: int, sizes: list[int]) -> None:
        sizes[donor] -= 1
        sizes[taker] += 1
        self._owners[code] = taker
        self._changes.setdefault(donor, []).append(([code], False))
        self._changes.setdefault(taker, []).append(([code], True))


def _topic_order(group: ServerGroup, layout: Layout, subscribers: Numbers) -> list[int]:
    """Topics with most partitions per subscriber first, then those with fewest subscribers, then by id."""
    by_id = topic_ranks([group.topics[name] for name in layout.names])
    counts, members = layout.counts.tolist(), subscribers.tolist()
    return sorted(range(len(by_id)), key=lambda at: (-counts[at] / members[at], members[at], by_id[at]))


def water_fill(members: Members, sizes: Numbers, count: int) -> Members:
    """Who takes `count` partitions, one after the other, if always one of the least loaded does; `sizes` grow.

    >>> sizes = np.array([5, 3, 4])
    >>> water_fill(np.array([0, 1, 2]), sizes, 7).tolist(), sizes.tolist()
    ([1, 1, 2, 1, 2, 0, 1], [6, 7, 6])
    """
    loads = sizes[members]
    order = loads.argsort(kind="stable")
    members, loads = members[order], loads[order]
    level, left = int(loads[0]), count
    taken: list[Members] = []
    while left > 0:
        width = int(loads.searchsorted(level, side="right"))
        height = -(-left // width)
        if width < len(loads):
            height = min(height, int(loads[width]) - level)
        taken.append(members[None, :width].repeat(height, axis=0).ravel())
        left -= width * height
        level += height
    loads[:width] = level
    loads[width + left : width] -= 1
    sizes[members] = loads
    return np.concatenate(taken)[:count]


class _Givable(dict[int, list[int]]):
    """The codes of one topic that each member can give, the highest last; looked up when asked for."""

    def __init__(self, owners: NDArray[np.int32], begin: int) -> None:
        super().__init__()
        self._owners = owners
        self._begin = begin

    def __missing__(self, member: int) -> list[int]:
        found: list[int] = (np.flatnonzero(self._owners == member) + self._begin).tolist()
        self[member] = found
        return found
