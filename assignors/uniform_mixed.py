"""`uniform` for members with different subscriptions, on arrays: the plan of `assignors.uniform_heterogeneous`, faster.

For clean groups only, as in `assignors.uniform_arrays`. Topics are handed out by water-filling in closed form; the few
partitions that move for balance are moved one by one; containers are replayed only for members that those touch.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.javahash import string_order, table_size_for
from assignors.javahash.hashes import uuid_order
from assignors.layout import Codes, Layout
from assignors.model import Assignment
from assignors.server_arrays import BrokerList, Numbers, UncleanError, layout_of, topic_hashes
from assignors.server_group import ServerGroup, sized
from assignors.uniform_fill import NONE, Filler
from assignors.uniform_flat import Fills, filled_lists
from assignors.uniform_heterogeneous import ROUNDS, Loads, next_donor
from assignors.uniform_recorded import Reader
from assignors.uniform_replay import Replay

_NOBODY = -1
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
        self._subscribes = _subscriptions(group, layout)
        counts = self._subscribes.sum(axis=0)
        topics = [group.topics[name] for name in layout.names]
        self._order = _topic_order(group, layout, counts)
        shares = -(-layout.counts // counts)
        capacities = [table_size_for(sized(share)) for share in shares.tolist()]
        self._filler = Filler(layout, topic_hashes(topics), group.jdk, capacities)
        old = Reader(group, layout, self._subscribes).read()
        self._old, self._gone, self._crowded = old.lists, old.gone, old.crowded
        self._sizes = np.array([len(part.codes) for part in self._old], dtype=np.int64)
        self._owners = self._claimed()
        self._members = {topic: np.flatnonzero(self._subscribes[:, topic]) for topic in self._order}
        self._moves: dict[int, list[Move]] = {}

    def _claimed(self) -> NDArray[np.int32]:
        """Who owns each partition. UncleanError when two do."""
        codes = np.concatenate([part.codes for part in self._old])
        owners = np.full(len(self._layout), _NOBODY, dtype=np.int32)
        owners[codes] = np.repeat(np.arange(len(self._old), dtype=np.int32), self._sizes)
        if np.count_nonzero(owners != _NOBODY) != len(codes):
            raise UncleanError
        return owners

    def lists(self) -> Sequence[BrokerList]:
        """Each member's partitions."""
        given = list(self._hand_out())
        self._balance([topic for topic in self._order if len(self._members[topic]) > 1])
        codes = np.concatenate([self._owners[:0], *(codes for codes, _ in given)])
        takers = np.concatenate([self._owners[:0], *(takers for _, takers in given)])
        del given
        ends = np.cumsum(np.bincount(takers, minlength=len(self._old)))
        order = np.argsort(takers.astype(np.min_scalar_type(len(self._old))), kind="stable")
        return self._in_order(codes[order], [0, *ends.tolist()])

    def _hand_out(self) -> Iterator[tuple[Codes, NDArray[np.int32]]]:
        """Topic by topic the codes that nobody owned, and who takes them."""
        for topic in self._order:
            begin, end = self._layout.offsets[topic : topic + 2].tolist()
            free = np.flatnonzero(self._owners[begin:end] == _NOBODY).astype(np.int32) + np.int32(begin)
            if len(free):
                takers = water_filled(self._members[topic], self._sizes, len(free))
                self._owners[free] = takers
                self._sizes += np.bincount(takers, minlength=len(self._sizes))
                yield free, takers.astype(np.int32)

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
        loads_of = self._sizes[members]
        if int(loads_of.max() - loads_of.min()) <= 1:
            return False
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
        fills, filled = Fills(), []
        for member, (begin, end) in enumerate(pairwise(bounds)):
            moves = self._moves.get(member, ())
            if begin == end and not moves and member not in self._gone:
                continue
            old, gone, crowded = lists[member].codes, self._gone.get(member, 0), self._crowded.get(member, NONE)
            came = [code for code, has_come in moves if has_come]
            if len(came) == len(moves):
                new = np.append(codes[begin:end], np.array(came, dtype=np.int32)) if came else codes[begin:end]
                fills.add(old, new, gone, crowded)
            elif begin == end and not came and not crowded:
                left, emptied = self._filler.without(old, [code for code, _ in moves])
                fills.add(left, old[:0], gone + emptied)
            else:
                lists[member] = self._replayed(member, codes[begin:end], moves)
                continue
            filled.append(member)
        for member, made in zip(filled, filled_lists(self._filler, fills), strict=True):
            lists[member] = made
        return lists

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
    """Whether member (row) subscribes to topic (column)."""
    rows: dict[tuple[str, ...], NDArray[np.bool_]] = {}
    for names in group.lists:
        rows[names] = np.zeros(len(layout.names), dtype=np.bool_)
        rows[names][[layout.position[name] for name in names if name in layout.position]] = True
    return np.stack([rows[member.topics] for member in group.members])


def _topic_order(group: ServerGroup, layout: Layout, subscribers: Numbers) -> list[int]:
    """Topics with most partitions per subscriber first, then those with fewest subscribers, then by id."""
    uuids = [uuid_order(group.uuid_of(name)) for name in layout.names]
    counts, members = layout.counts.tolist(), subscribers.tolist()
    return sorted(range(len(uuids)), key=lambda at: (-counts[at] / members[at], members[at], uuids[at]))


def water_filled(members: NDArray[np.intp], sizes: Numbers, count: int) -> NDArray[np.intp]:
    """Who takes `count` partitions, one after the other, if always one of the least loaded does.

    >>> water_filled(np.array([0, 1, 2]), np.array([5, 3, 4]), 7).tolist()
    [1, 1, 2, 1, 2, 0, 1]
    """
    loads = sizes[members]
    order = np.argsort(loads, kind="stable")
    members, loads = members[order], loads[order]
    level = int(loads[0])
    taken: list[NDArray[np.intp]] = []
    while count > 0:
        width = int(np.searchsorted(loads, level, side="right"))
        height = int(loads[width]) - level if width < len(loads) else -(-count // width)
        row = members[:width]
        taken.append(np.tile(row, height)[:count])
        count -= width * height
        level += height
    return np.concatenate(taken)


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
