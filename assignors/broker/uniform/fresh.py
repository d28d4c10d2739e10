"""The lists of members that owned nothing, topic by topic: all at once where their maps and sets have one capacity.

Maps of the same capacity list the same topics in the same order, and so do sets of the same capacity with partition
numbers. So what all members take is sorted once, topics and numbers in that order, then by member.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.broker.spec_arrays import Members, stable_order
from assignors.broker.uniform.containers import MOST_COMPUTED, MOST_PUT, Containers, crowded_growth
from assignors.javahash.hashes import threshold
from assignors.javahash.orders import grown_capacities, spread_all
from assignors.layout import Codes

_FREQUENT = 8  # a capacity of maps with at least that part of all sets is worth a pass over what everybody takes
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Given:
    """Partitions of one topic, `codes: int32[n]`, and who takes each, in turn: `takers: intp[n]`."""

    topic: int
    codes: Codes
    takers: Members


def by_taker(given: Sequence[Given], n_rows: int) -> Iterator[Codes]:
    """What each row takes, in the order in which it is given: int32[n] for each of `n_rows`."""
    if not given:
        return iter([np.zeros(0, dtype=np.int32)] * n_rows)
    narrow = np.min_scalar_type(n_rows)
    takers = np.concatenate([part.takers for part in given], dtype=narrow, casting="unsafe")
    codes = np.concatenate([part.codes for part in given]).take(stable_order(takers))
    ends = np.bincount(takers, minlength=n_rows).cumsum()
    return (codes[begin:end] for begin, end in pairwise([0, *ends.tolist()]))


class Fresh:
    """One computation: `given`, in turn, is all partitions of each topic; `members`: the subscribers by topic.

    `table: bool[n_lists, n_topics]`: which topics each distinct subscription has; `list_of: int32[n_rows]`.
    """

    def __init__(
        self,
        given: Sequence[Given],
        members: Sequence[Members],
        containers: Containers,
        table: Flags,
        list_of: NDArray[np.int32],
    ) -> None:
        self._given = given
        self._members = members
        self._containers = containers
        topics = np.array([part.topic for part in given], dtype=np.intp)
        self._table = table[:, topics]
        self._list_of = list_of
        self._spreads = containers.spreads[topics]
        self._n_sets = np.zeros(len(list_of), dtype=np.int64)
        self._fewest = np.zeros(len(given), dtype=np.int64)  # topics that each subscriber has before, at least
        for at, part in enumerate(given):
            self._fewest[at] = self._n_sets[members[part.topic]].min()
            self._n_sets[part.takers] += 1  # once for each taker

    @cached_property
    def _is_plain(self) -> Flags:
        """The rows of which no set outgrows its first capacity or is crowded: bool[n_rows]."""
        is_plain = np.ones(len(self._list_of), dtype=np.bool_)
        for part in self._given:
            self._check_sets(part, is_plain)
        return is_plain

    def _check_sets(self, part: Given, is_plain: Flags) -> None:
        capacity = self._containers.new_capacity(part.topic)
        first_takes = np.count_nonzero(part.takers == part.takers[0])  # nobody takes more than the least loaded
        if first_takes > threshold(capacity):
            is_plain[np.flatnonzero(np.bincount(part.takers) > threshold(capacity))] = False
        if first_takes > MOST_PUT:
            members = self._members[part.topic]
            keys = members.searchsorted(part.takers) * capacity + _buckets(len(part.takers), capacity)
            is_plain[members[np.flatnonzero(np.bincount(keys) > MOST_PUT) // capacity]] = False

    def lists(self) -> dict[int, Codes]:
        """The lists of the rows whose sets are plain and whose maps have a frequent capacity, by row."""
        capacities = grown_capacities(self._n_sets, 1)
        # A map that a last topic overfills doubles at the next call only.
        before_last = grown_capacities(np.maximum(self._n_sets - 1, 0), 1)
        is_steady = capacities == before_last
        frequent = np.bincount(capacities, self._n_sets) > self._n_sets.sum() / _FREQUENT
        found: dict[int, Codes] = {}
        for capacity in np.flatnonzero(frequent).tolist():
            rows = is_steady & (capacities == capacity) & self._is_calm(capacity)[self._list_of]
            if rows.any() and (rows := rows & self._is_plain).any():
                lists = by_taker([self._sorted(at, rows) for at in self._map_order(capacity)], len(rows))
                found |= {row: codes for row, codes in enumerate(lists) if rows[row]}
        return found

    def _is_calm(self, capacity: int) -> Flags:
        """Which subscriptions crowd no bucket of a map on its way to that capacity: bool[n_lists]."""
        lists, at = np.nonzero(self._table)
        capacities = np.full(len(self._table), 2 * capacity, dtype=np.int32)
        begun = np.ones_like(capacities)
        crowded = crowded_growth(lists, self._fewest[at], self._spreads[at], begun, capacities, MOST_COMPUTED)
        return ~np.isin(np.arange(len(self._table)), list(crowded))

    def _map_order(self, capacity: int) -> list[int]:
        """The topics, positions in `given`, as maps of that capacity list them."""
        buckets = self._spreads & np.int32(capacity - 1)
        # `computeIfAbsent` puts a new topic to the front of its bucket.
        order: list[int] = (len(buckets) - 1 - stable_order(buckets[::-1])).tolist()
        return order

    def _sorted(self, at: int, rows: Flags) -> Given:
        """What the `rows` take of a topic, as its sets list it."""
        part = self._given[at]
        order = _set_order(len(part.codes), self._containers.new_capacity(part.topic))
        takers = part.takers.take(order)
        if rows.all():
            return Given(part.topic, part.codes.take(order), takers)
        theirs = rows.take(takers)
        return Given(part.topic, part.codes.take(order)[theirs], takers[theirs])


@lru_cache(maxsize=16)
def _set_order(count: int, capacity: int) -> NDArray[np.intp]:
    """The numbers from 0 to `count` by their bucket in a set of that capacity."""
    return stable_order(_buckets(count, capacity))


@lru_cache(maxsize=16)
def _buckets(count: int, capacity: int) -> NDArray[np.uint32]:
    """The bucket of each number below `count` in a set of that capacity: uint32[count]."""
    return spread_all(np.arange(count, dtype=np.int32)) & np.uint32(capacity - 1)
