"""Kafka's `SimpleHomogeneousAssignmentBuilder` and `SimpleHeterogeneousAssignmentBuilder` on arrays.

The same plans as `assignors.broker.share_builders`, faster. Rows are members in the coordinator's order.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import Members
from assignors.broker.group_spec import ServerGroup, sized
from assignors.broker.share_builders import Walk
from assignors.broker.share_maps import Changes, Flags, Maps, ShareMaps, joined_changes
from assignors.broker.spec_arrays import (
    BrokerList,
    Numbers,
    UncleanError,
    expand,
    stable_order,
    subscribers,
    subscriptions,
    topic_hashes,
    topic_rank,
)
from assignors.broker.uniform.containers import MOST_COMPUTED, MOST_PUT, crowded_growth, crowded_places
from assignors.javahash import INTEGERS, JavaHashMap, JavaHashSet, Keys, put_order, string_order, table_size_for
from assignors.javahash.hashes import DEFAULT_CAPACITY, Hashes
from assignors.javahash.orders import grown_capacities, spread_all
from assignors.layout import Codes
from assignors.model import Assignment, Topic


def fast_share_plan(group: ServerGroup) -> Assignment:
    """The plan. AssignorError where Kafka throws, UncleanError where only exact maps can tell."""
    maps = ShareMaps(group)
    planned = _all_topics_at_once(group, maps) if group.homogeneous else _topic_by_topic(group, maps)
    return _assignment(group, maps, planned)


def _all_topics_at_once(group: ServerGroup, maps: ShareMaps) -> Maps:
    topics = group.subscribed(group.members[0]) if group.members else []
    targets = _codes_of(maps, topics)
    if not len(targets):
        raise UncleanError
    gone = np.ones(len(maps.layout.names), dtype=np.bool_)
    gone[[maps.layout.position[topic.name] for topic in topics]] = False
    changes, is_filled = _shared_out(group, maps, targets, gone)
    has_subscribed = np.zeros(len(group.members), dtype=np.bool_)
    has_subscribed[maps.old.rows[~gone[maps.old.topics]]] = True
    return maps.changed(_touched(maps, changes, len(group.members)) | (has_subscribed & is_filled), gone, changes)


def _shared_out(group: ServerGroup, maps: ShareMaps, targets: Codes, gone: Flags) -> tuple[Changes, Flags]:
    """The changes when all members share all targets, and whether each member held at least what it should hold."""
    claims = np.flatnonzero(~gone[maps.topic_of[maps.old.codes]])
    members = np.arange(len(group.members))
    share = Share(maps.old.owners()[claims], maps.old.codes[claims], targets, members, len(members))
    changes = share.out(_partition_hashes(group, maps))
    return replace(changes, lost=claims[changes.lost]), share.held >= share.wanted


def _codes_of(maps: ShareMaps, topics: Sequence[Topic]) -> Codes:
    offsets = maps.layout.offsets
    begins = offsets[[maps.layout.position[topic.name] for topic in topics]] if topics else offsets[:0]
    return expand(begins, np.array([topic.partitions for topic in topics], dtype=np.int64))


def _partition_hashes(group: ServerGroup, maps: ShareMaps) -> Hashes:
    """`TopicIdPartition.hashCode` of every partition: int32[len(layout)]."""
    layout = maps.layout
    of_topics = topic_hashes([group.topics.get(name) or Topic(name, 0) for name in layout.names]) * np.int32(31)
    begins = of_topics - layout.offsets[:-1].astype(np.int32)
    hashes: Hashes = begins.repeat(layout.counts)
    hashes += np.arange(len(layout), dtype=np.int32)
    return hashes


def _touched(maps: ShareMaps, changes: Changes, n_rows: int) -> Flags:
    """The rows that lose or gain: bool[n_rows]."""
    touched = np.zeros(n_rows, dtype=np.bool_)
    touched[maps.old.owners()[changes.lost]] = True
    touched[changes.takers] = True
    return touched


def _topic_by_topic(group: ServerGroup, maps: ShareMaps) -> Maps:
    topics = _union(group)
    if not topics:
        raise UncleanError
    changes = _changes(group, maps, np.array([maps.layout.position[topic.name] for topic in topics]))
    gone = np.zeros(len(maps.layout.names), dtype=np.bool_)
    return maps.changed(_touched(maps, changes, len(group.members)), gone, changes)


def _changes(group: ServerGroup, maps: ShareMaps, topics: Numbers) -> Changes:
    """What is lost and gained, topic after topic. `topics: int64[n_topics]`, positions in the layout."""
    claims = _Claims(group, maps)
    alike = [np.array(places) for places in claims.alike(topics.tolist())]  # most topics are like another one
    parts = [claims.changes(topics[places]) for places in alike]
    turns = [places.repeat(len(part.gained) // len(places)) for places, part in zip(alike, parts, strict=True)]
    joined = joined_changes(parts)
    order = stable_order(np.concatenate(turns))
    return replace(joined, gained=joined.gained[order], takers=joined.takers[order])


def _union(group: ServerGroup) -> list[Topic]:
    """All topics with subscribers, in the order of Kafka's set of their ids."""
    lists = {id(member.topics): member.topics for member in group.members}.values()
    topics = list({topic.name: topic for names in dict.fromkeys(lists) for topic in group.existing(names)}.values())
    return [topics[at] for at in put_order(topic_hashes(topics), order_of=lambda at: topic_rank(topics[at])).tolist()]


class _Claims:
    """Who holds what, topic by topic."""

    def __init__(self, group: ServerGroup, maps: ShareMaps) -> None:
        old, self._layout = maps.old, maps.layout
        topic_of = maps.topic_of.take(old.codes)
        self._by_topic = stable_order(topic_of)
        self._bounds = topic_of[self._by_topic].searchsorted(np.arange(len(maps.layout.names) + 1))
        self._rows = old.owners()[self._by_topic]
        self._numbers = (old.codes - maps.layout.offsets.astype(np.int32)[topic_of])[self._by_topic]
        self._members = subscribers(subscriptions(group, maps.layout), group.list_of(group.members))
        self._n_rows = len(group.members)

    def alike(self, topics: Sequence[int]) -> list[list[int]]:
        """The places in `topics` of those with as many partitions, the same subscribers and the same holders."""
        found: dict[tuple[int, int, bytes, bytes], list[int]] = {}
        counts, bounds = self._layout.counts.tolist(), self._bounds.tolist()
        for place, at in enumerate(topics):
            claims = slice(bounds[at], bounds[at + 1])
            key = id(self._members[at]), counts[at], self._rows[claims].tobytes(), self._numbers[claims].tobytes()
            found.setdefault(key, []).append(place)
        return list(found.values())

    def changes(self, topics: Numbers) -> Changes:
        """What is lost and gained of topics that are alike: of each the same. `topics: int64[n_topics]`."""
        claims = slice(*self._bounds[topics[0] : topics[0] + 2])
        targets = np.arange(self._layout.counts[topics[0]], dtype=np.int32)
        members = self._members[topics[0]]
        found = Share(self._rows[claims], self._numbers[claims], targets, members, self._n_rows).out(targets)
        lost = self._by_topic[self._bounds[topics][:, None] + found.lost]
        gained = (self._layout.offsets[topics][:, None] + found.gained).astype(np.int32)
        return Changes(lost.ravel(), gained.ravel(), np.tile(found.takers, len(topics)), found.doubles)


class Share:
    """Who holds which of the target partitions, and how many each of the members should hold."""

    def __init__(self, rows: Members, codes: Codes, targets: Codes, members: NDArray[np.intp], n_rows: int) -> None:
        """`rows: int32[n_claims]`, ascending, hold `codes: int32[n_claims]`; `members: intp[n]` share `targets`."""
        self._rows = rows
        self._codes = codes
        self._targets = targets
        self._sharing = -(-len(members) // len(targets)) if len(targets) else 0
        self.held = np.bincount(rows, minlength=n_rows)
        self.wanted = np.zeros(n_rows, dtype=np.int64)
        ends = np.ceil(self._sharing * len(targets) / len(members) * np.arange(len(members) + 1))
        self.wanted[members] = ends[1:] - ends[:-1]

    def out(self, hashes: Hashes) -> Changes:
        """The changes, with lost claims as positions in `rows`. `hashes: int32`, by code."""
        self._hashes = hashes
        overfilled = self._from_overfilled()
        stays = np.ones(len(self._rows), dtype=np.bool_)
        stays[overfilled] = False
        overshared = self._from_overshared(stays, overfilled)
        stays[overshared] = False
        return Changes(np.append(overfilled, overshared), *self._hand_out(stays))

    def _from_overfilled(self) -> Numbers:
        """Claims beyond what their members should hold, first in the order of each member's set of partitions."""
        over = self.held > self.wanted
        claims = np.flatnonzero(over[self._rows])
        if not len(claims):
            return claims
        sizes = self.held[over]
        owners = np.arange(len(sizes)).repeat(sizes)
        hashes = self._hashes[self._codes[claims]]
        order, crowded = _set_orders(sizes, hashes)
        for owner in crowded:
            begin, end = sizes[:owner].sum(), sizes[: owner + 1].sum()
            order[begin:end] = begin + put_order(hashes[begin:end])
        places = np.arange(len(claims)) - (sizes.cumsum() - sizes)[owners]
        return claims[order[places < (sizes - self.wanted[over])[owners]]]

    def _from_overshared(self, stays: Flags, lost: Numbers) -> Numbers:
        """Claims of partitions with too many holders, first in the order of each partition's set of holders."""
        counts = np.bincount(self._codes[stays], minlength=len(self._hashes))
        over = counts > self._sharing
        claims = np.flatnonzero(over[self._codes])
        if not len(claims):
            return claims
        claims = claims[stable_order(self._codes[claims])]
        sizes = np.bincount(self._codes[claims], minlength=len(over))[over]
        order, crowded = _set_orders(sizes, self._rows[claims])
        in_order = claims[order]
        for number in crowded:
            some = slice(int(sizes[:number].sum()), int(sizes[: number + 1].sum()))
            in_order[some] = self._exact_order_of_holders(claims[some], lost)
        claims = in_order[stays[in_order]]
        left = counts[over]
        places = np.arange(len(claims)) - (left.cumsum() - left).repeat(left)
        claims = claims[places < (left - self._sharing).repeat(left)]
        rank = np.empty(len(over), dtype=np.int64)
        order_of_partitions = self._partition_order()
        rank[order_of_partitions] = np.arange(len(order_of_partitions))
        return claims[stable_order(rank[self._codes[claims]])]

    def _exact_order_of_holders(self, claims: Numbers, lost: Numbers) -> Numbers:
        """Claims of one partition as its set of holders lists them, first those that are not lost."""
        claim_of = dict(zip(self._rows[claims].tolist(), claims.tolist(), strict=True))
        holders = JavaHashSet(INTEGERS)
        for row in claim_of:
            holders.add(row)
        gone = self._rows[lost[self._codes[lost] == self._codes[claims[0]]]].tolist()
        for row in gone:
            holders.discard(row)
        return np.array([claim_of[row] for row in (*holders, *gone)], dtype=np.int64)

    def _hand_out(self, stays: Flags) -> tuple[Codes, Members, Members]:
        """Give partitions with too few holders to members that hold too little."""
        rows, codes = self._rows[stays], self._codes[stays]
        order = self._partition_order()
        lacks = np.maximum(self._sharing - np.bincount(codes, minlength=len(self._hashes))[order], 0)
        needs = self.wanted - np.bincount(rows, minlength=len(self.wanted))
        unfilled = np.flatnonzero(needs > 0).astype(np.int32)
        unfilled = unfilled[stable_order(spread_all(unfilled))]
        places, takers = order.repeat(lacks), _in_turns(unfilled, needs[unfilled])
        n = min(len(places), len(takers))
        if self._sharing < 2:
            return places[:n], takers[:n], takers[:0]
        holds = (needs[rows] > 0) & (self._sharing > np.bincount(codes, minlength=len(self._hashes))[codes])
        if n == len(places) and not holds.any() and not _has_double(places, takers[:n]):
            return places, takers[:n], takers[:0]
        return _walked(order[lacks > 0], lacks[lacks > 0], unfilled, needs, codes[holds], rows[holds])

    def _partition_order(self) -> Codes:
        """All partitions in the order of Kafka's map of partitions to their holders."""
        if self._hashes is self._targets:  # the numbers of one topic: each has a bucket of its own
            return self._targets[stable_order(spread_all(self._targets))]
        arrivals = self._targets
        if len(self._codes):
            claims = np.arange(len(self._codes))
            first = np.full(len(self._hashes), -1)
            first[self._codes[::-1]] = claims[::-1]
            arrivals = np.append(self._codes[first[self._codes] == claims], arrivals[first[arrivals] < 0])
        capacity = table_size_for(sized(len(self._targets) + 1))
        # `computeIfAbsent` puts a new key to the front of its bucket.
        arrivals = arrivals[::-1]
        buckets = spread_all(self._hashes[arrivals]) & np.uint32(capacity - 1)
        order = stable_order(buckets)
        if len(crowded_places(buckets[order], MOST_COMPUTED)):
            return _exact_order(arrivals[::-1], self._hashes, capacity)
        return arrivals[order]


def _set_orders(sizes: Numbers, hashes: Hashes) -> tuple[Numbers, set[int]]:
    """The order in which sets iterate that began as `new HashSet()`, and the sets where a bucket gets crowded.

    `hashes: int32[sizes.sum()]`: of the keys of all sets one after another, in order of arrival.
    """
    owners = np.arange(len(sizes)).repeat(sizes)
    places = np.arange(len(hashes)) - (sizes.cumsum() - sizes)[owners]
    capacities = grown_capacities(sizes)
    spreads = spread_all(hashes).astype(np.int64)
    crowded = crowded_growth(owners, places, spreads, np.full(len(sizes), DEFAULT_CAPACITY), capacities, MOST_PUT)
    keys = (spreads & (capacities - 1)[owners]) + (capacities.cumsum() - capacities)[owners]
    order = stable_order(keys)
    return order, crowded | set(owners[order[crowded_places(keys[order], MOST_PUT)]].tolist())


def _exact_order(codes: Codes, hashes: Hashes, capacity: int) -> Codes:
    """The codes as a HashMap iterates after `computeIfAbsent` of each in turn."""
    exact: JavaHashMap[int, bool] = JavaHashMap(Keys(lambda code: int(hashes[code])), capacity)
    for code in codes.tolist():
        exact.compute_if_absent(code, lambda: True)
    return np.fromiter(exact, dtype=np.int32, count=len(codes))


def _in_turns(rows: Members, needs: Numbers) -> Members:
    """Each row as often as it needs, in rounds: int32[needs.sum()].

    >>> _in_turns(np.array([4, 2, 9], dtype=np.int32), np.array([1, 3, 2])).tolist()
    [4, 2, 9, 2, 9, 2]
    """
    rounds = np.arange(int(needs.sum())) - (needs.cumsum() - needs).repeat(needs)
    return rows.repeat(needs)[stable_order(rounds)]


def _has_double(places: Codes, takers: Members) -> bool:
    """Whether a row takes a partition twice. `places: int32[n]`, grouped, and `takers: int32[n]`."""
    by_row = stable_order(takers)
    places, takers = places[by_row], takers[by_row]
    return bool(((places[1:] == places[:-1]) & (takers[1:] == takers[:-1])).any())


def _walked(
    places: Codes, lacks: Numbers, unfilled: Members, needs: Numbers, codes: Codes, rows: Members
) -> tuple[Codes, Members, Members]:
    """What rows gain, step after step, when a row may hold already the partition whose turn it is.

    `places: int32[n_places]` lack `lacks: int64[n_places]` holders; `rows: int32[n_held]` hold `codes: int32[n_held]`.
    """
    holders: dict[int, set[int]] = {}
    for code, row in zip(codes.tolist(), rows.tolist(), strict=True):
        holders.setdefault(code, set()).add(row)
    walk, left = Walk(unfilled.tolist()), needs.tolist()
    gained, takers, doubles = [], [], []
    for code, count in zip(places.tolist(), lacks.tolist(), strict=True):
        new: set[int] = set()
        for taker in walk.takers(holders.get(code, ()), count):
            gained.append(code)
            takers.append(taker)
            if taker in new:
                doubles.append(taker)
                continue
            new.add(taker)
            left[taker] -= 1
            if not left[taker]:
                walk.remove_last()
    return np.array(gained, dtype=np.int32), np.array(takers, dtype=np.int32), np.array(doubles, dtype=np.int32)


def _assignment(group: ServerGroup, maps: ShareMaps, planned: Maps) -> Assignment:
    """The plan in the order of Kafka's map of members."""
    n_rows = len(group.members)
    parts = planned.lists(n_rows)
    ids = tuple(member.member_id for member in group.members)
    order = string_order(ids, table_size_for(sized(n_rows + 1)))
    emptied = set(planned.rows[planned.sizes == 0].tolist())
    bounds = planned.rows.searchsorted(np.arange(n_rows + 1)).tolist()
    names = maps.layout.names
    topics = {
        ids[row]: tuple(names[at] for at in planned.topics[bounds[row] : bounds[row + 1]].tolist())
        for row in order
        if row in emptied
    }
    return Assignment(None, {ids[row]: BrokerList(maps.layout, parts[row]) for row in order}, topics)
