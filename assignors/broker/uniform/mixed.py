"""`uniform` for members with different subscriptions, on arrays: the plan of `broker.uniform.heterogeneous`, faster.

For clean groups only, as in `broker.uniform.equal`. Topics are handed out by water-filling in closed form; the few
partitions that move for balance are moved one by one.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

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
    stable_order,
    subscribers,
    subscriptions,
    topic_rank,
)
from assignors.broker.uniform.containers import Change, Containers
from assignors.broker.uniform.fresh import Fresh, Given, by_taker
from assignors.broker.uniform.heterogeneous import ROUNDS, Loads, next_donor
from assignors.broker.uniform.owned import free_codes, read_owned
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
        self._table, self._list_of = subscriptions(group, layout), group.list_of(group.members)
        self._members = subscribers(self._table, self._list_of)
        counts = np.array([len(members) for members in self._members])
        self._order = _topic_order(group, layout, counts)
        shares = -(-layout.counts // counts)
        capacities = [table_size_for(sized(share)) for share in shares.tolist()]
        self._containers = Containers(group, layout, capacities)
        self._old = read_owned(group, self._containers, self._table[self._list_of])
        self._is_fresh = not any(member.owned for member in group.members)
        self._sizes = lengths([part.codes for part in self._old.lists])
        self._given: list[Given] = []
        self._moves: list[tuple[int, int, int]] = []  # code, donor and taker
        self._level: set[int] = set()  # the ids of arrays of members that are at most one apart

    def lists(self) -> Sequence[BrokerList]:
        """Each member's partitions."""
        self._hand_out()
        self._balance([topic for topic in self._order if len(self._members[topic]) > 1])
        if self._is_fresh and not self._moves:
            return self._fresh_lists()
        return self._containers.changed(self._old, self._changes(self._given))

    def _hand_out(self) -> None:
        """Topic by topic, give what nobody owned to the least loaded subscribers."""
        free = free_codes(self._layout, [part.codes for part in self._old.lists])
        bounds = free.searchsorted(self._layout.offsets).tolist()
        for topic in self._order:
            begin, end = bounds[topic : topic + 2]
            if begin < end:
                takers = water_fill(self._members[topic], self._sizes, end - begin)
                self._given.append(Given(topic, free[begin:end], takers))

    def _fresh_lists(self) -> list[BrokerList]:
        """The lists of members that owned nothing: most at once, the others as changes."""
        if not (self._have_most_topics() and (found := self._fresh().lists())):
            return self._containers.changed(self._old, self._changes(self._given))
        others = np.ones(len(self._sizes), dtype=np.bool_)
        others[list(found)] = False
        given = [_of_rows(part, others) for part in self._given] if others.any() else []
        lists = [
            BrokerList(self._layout, found[row]) if row in found else part for row, part in enumerate(self._old.lists)
        ]
        return self._containers.changed(replace(self._old, lists=lists), self._changes(given))

    def _fresh(self) -> Fresh:
        return Fresh(self._given, self._members, self._containers, self._table, self._list_of)

    def _have_most_topics(self) -> bool:
        """Whether members take partitions of most topics to which they subscribe, so that their maps are alike."""
        topics = [part.topic for part in self._given]
        subscribers = np.array([len(self._members[topic]) for topic in topics])
        return bool(2 * np.minimum(self._layout.counts[topics], subscribers).sum() > subscribers.sum())

    def _changes(self, given: Sequence[Given]) -> dict[int, list[Change]]:
        """By member, the codes that come or go, in turn."""
        news = enumerate(by_taker(given, len(self._sizes)))
        changes: dict[int, list[Change]] = {row: [(codes, True)] for row, codes in news if len(codes)}
        for code, donor, taker in self._moves:
            moved = np.array([code], dtype=np.int32)
            changes.setdefault(donor, []).append((moved, False))
            changes.setdefault(taker, []).append((moved, True))
        return changes

    @cached_property
    def _owners(self) -> NDArray[np.int32]:
        """Who has each partition: int32[n_codes], kept up to date by `_move`."""
        owners = np.full(len(self._layout), _NOBODY, dtype=np.int32)
        old = [part.codes for part in self._old.lists]
        owners[np.concatenate(old, dtype=np.intp)] = np.arange(len(old), dtype=np.int32).repeat(lengths(old))
        for given in self._given:
            owners[given.codes] = given.takers
        return owners

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
        self._moves.append((code, donor, taker))


def _of_rows(part: Given, rows: NDArray[np.bool_]) -> Given:
    theirs = rows[part.takers]
    return Given(part.topic, part.codes[theirs], part.takers[theirs])


def _topic_order(group: ServerGroup, layout: Layout, subscribers: Numbers) -> list[int]:
    """Topics with most partitions per subscriber first, then those with fewest subscribers, then by id."""
    by_id = [topic_rank(group.topics[name]) for name in layout.names]
    counts, members = layout.counts.tolist(), subscribers.tolist()
    return sorted(range(len(by_id)), key=lambda at: (-counts[at] / members[at], members[at], by_id[at]))


def water_fill(members: Members, sizes: Numbers, count: int) -> Members:
    """Who takes `count` partitions, one after the other, if always one of the least loaded does; `sizes` grow.

    >>> sizes = np.array([5, 3, 4])
    >>> water_fill(np.array([0, 1, 2]), sizes, 7).tolist(), sizes.tolist()
    ([1, 1, 2, 1, 2, 0, 1], [6, 7, 6])
    """
    loads = sizes.take(members)
    if count < len(members):
        lowest = np.flatnonzero(loads == loads.min())
        if count <= len(lowest):  # the common case: no sort
            takers = members.take(lowest[:count])
            sizes[takers] += 1
            return takers
    order = stable_order(loads)
    members, loads = members.take(order), loads.take(order)
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
