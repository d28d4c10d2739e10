"""`uniform` for members with different subscriptions, on arrays: the plan of `broker.uniform.heterogeneous`, faster.

For clean groups only, as in `broker.uniform.arrays`. Topics are handed out by water-filling in closed form; the few
partitions that move for balance are moved one by one; containers are replayed only for members that those touch.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import ServerGroup, sized
from assignors.broker.spec_arrays import BrokerList, Numbers, UncleanError, layout_of, topic_hashes, topic_ranks
from assignors.broker.uniform.fill import NONE, Filler
from assignors.broker.uniform.flat import Fills, filled_lists
from assignors.broker.uniform.heterogeneous import ROUNDS, Loads, next_donor
from assignors.broker.uniform.new_members import new_lists
from assignors.broker.uniform.recorded import Reader
from assignors.broker.uniform.replay import Replay
from assignors.javahash import string_order, table_size_for
from assignors.layout import Codes, Layout
from assignors.model import Assignment

_NOBODY = -1
Members = NDArray[np.intp]
Move = tuple[int, bool]  # the code, and whether it came


def fast_mixed_plan(group: ServerGroup) -> Assignment:
    """The plan. UncleanError or CrowdedError where only exact maps will do."""
    topics = group.all_subscribed()
    if not topics:
        raise UncleanError
    layout = layout_of(tuple((topic.name, topic.partitions) for topic in topics))
    lists = _Mixed(group, layout).lists()
    ids = tuple(member.member_id for member in group.members)
    return Assignment(None, {ids[at]: lists[at] for at in string_order(ids)})


class _Mixed:
    """One computation. Members are known by their position, topics by theirs in the layout."""

    def __init__(self, group: ServerGroup, layout: Layout) -> None:
        self._layout = layout
        table, list_of = _subscriptions(group, layout), group.list_of(group.members)
        self._members = _subscribers(table, list_of)
        counts = np.array([len(members) for members in self._members])
        topics = [group.topics[name] for name in layout.names]
        self._order = _topic_order(group, layout, counts)
        shares = -(-layout.counts // counts)
        capacities = [table_size_for(sized(share)) for share in shares.tolist()]
        self._filler = Filler(layout, topic_hashes(topics), group.jdk, capacities)
        old = Reader(group, layout, table[list_of]).read()
        self._old, self._gone, self._crowded = old.lists, old.gone, old.crowded
        self._sizes = np.array([len(part.codes) for part in self._old], dtype=np.int64)
        self._owners = self._claimed()
        self._level: set[int] = set()  # the ids of arrays of members that are at most one apart
        self._moves: dict[int, list[Move]] = {}

    def _claimed(self) -> NDArray[np.int32]:
        """Who owns each partition. UncleanError when two do."""
        codes = np.concatenate([part.codes for part in self._old], dtype=np.intp)
        owners = np.full(len(self._layout), _NOBODY, dtype=np.int32)
        owners[codes] = np.repeat(np.arange(len(self._old), dtype=np.int32), self._sizes)
        if np.count_nonzero(owners != _NOBODY) != len(codes):
            raise UncleanError
        return owners

    def lists(self) -> Sequence[BrokerList]:
        """Each member's partitions."""
        codes, takers = self._hand_out()
        self._balance([topic for topic in self._order if len(self._members[topic]) > 1])
        ends = np.cumsum(np.bincount(takers, minlength=len(self._old)))
        return self._in_order(codes.take(np.argsort(takers, kind="stable")), [0, *ends.tolist()])

    def _hand_out(self) -> tuple[Codes, NDArray[np.unsignedinteger[Any]]]:
        """Topic by topic the codes that nobody owned, and who takes them."""
        free = np.flatnonzero(self._owners == _NOBODY)
        bounds = free.searchsorted(self._layout.offsets).tolist()
        codes, takers = [free[:0]], [self._members[0][:0]]
        for topic in self._order:
            begin, end = bounds[topic : topic + 2]
            if begin < end:
                codes.append(free[begin:end])
                takers.append(water_fill(self._members[topic], self._sizes, end - begin))
        narrow = np.min_scalar_type(len(self._old))  # up to 16 bits sort by radix
        given, taken_by = np.concatenate(codes), np.concatenate(takers, dtype=narrow, casting="unsafe")
        self._owners[given] = taken_by
        return given.astype(np.int32), taken_by

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
        self._moves.setdefault(donor, []).append((code, False))
        self._moves.setdefault(taker, []).append((code, True))

    def _in_order(self, codes: Codes, bounds: Sequence[int]) -> Sequence[BrokerList]:
        """Old and new partitions of each member, as its containers list them in the end."""
        lists = list(self._old)
        news: dict[int, Codes] = {}
        fills, filled, losing = Fills(), [], []
        for member, (begin, end) in enumerate(pairwise(bounds)):
            moves = self._moves.get(member, ())
            if begin == end and not moves and member not in self._gone:
                continue
            new, came = codes[begin:end], [code for code, has_come in moves if has_come]
            if len(came) < len(moves) and (len(new) or came or member in self._crowded):
                lists[member] = self._replayed(member, new, moves)
            elif len(came) < len(moves):
                losing.append(member)
            elif not moves and not len(lists[member].codes) and member not in self._gone:
                news[member] = new
            else:
                self._add(fills, member, np.append(new, np.array(came, dtype=np.int32)) if came else new)
                filled.append(member)
        if losing:
            self._add_losing(fills, losing)
        made = [*new_lists(self._filler, list(news.values())), *filled_lists(self._filler, fills)]
        for member, one in zip((*news, *filled, *losing), made, strict=True):
            lists[member] = one
        return lists

    def _add(self, fills: Fills, member: int, new: Codes) -> None:
        """A member to which something comes, and from which nothing goes."""
        fills.add(self._old[member].codes, new, self._gone.get(member, 0), self._crowded.get(member, NONE))

    def _add_losing(self, fills: Fills, members: Sequence[int]) -> None:
        """Members from which something goes, and to which nothing comes."""
        olds = [self._old[member].codes for member in members]
        removed = [code for member in members for code, _ in self._moves[member]]
        for member, (left, emptied) in zip(members, self._filler.without(olds, removed), strict=True):
            fills.add(left, left[:0], self._gone.get(member, 0) + emptied)

    def _replayed(self, member: int, new: Codes, moves: Sequence[Move]) -> BrokerList:
        """The same by exact maps, for a member from which partitions went and to which others came."""
        replay = Replay(
            self._filler, self._old[member].codes, self._gone.get(member, 0), self._crowded.get(member, NONE)
        )
        for code in new.tolist():
            replay.add(code)
        for code, has_come in moves:
            (replay.add if has_come else replay.remove)(code)
        return BrokerList(self._layout, replay.codes())


def _subscriptions(group: ServerGroup, layout: Layout) -> NDArray[np.bool_]:
    """Whether list (row) has topic (column)."""
    table = np.zeros((len(group.lists), len(layout.names)), dtype=np.bool_)
    for row, names in zip(table, group.lists, strict=True):
        row[[layout.position[name] for name in names if name in layout.position]] = True
    return table


def _subscribers(table: NDArray[np.bool_], list_of: NDArray[np.int32]) -> list[Members]:
    """The members of each topic: for all topics that the same lists have, the same array."""
    known: dict[bytes, Members] = {}
    found = []
    for column in np.ascontiguousarray(table.T):
        key = column.tobytes()
        if key not in known:
            known[key] = np.flatnonzero(column[list_of])
        found.append(known[key])
    return found


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
