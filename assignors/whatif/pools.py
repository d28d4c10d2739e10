"""Members that work off partitions together, as a flow of capacity from members to partitions.

In a classic or KIP-848 group a partition has one owner, and each member is a pool of its own. In a share group
(KIP-932) all owners of a partition read it, and a member divides its capacity over its partitions as records wait. Its
pools are the principal partition of that flow: first the partitions that take longest with all their readers, together
with these readers; then the same among the rest. Members of one pool are done at the same time, and no member could
help the partitions of an earlier pool.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import Members
from assignors.whatif.moves import NOBODY
from assignors.whatif.ownership_table import OwnershipTable, Values

Readers = Mapping[int, Sequence[int]]
"""The members that may read each partition."""


@dataclass(frozen=True, slots=True)
class Pools:
    """The pool of each member, int32[n_members], and of each partition, int32[n_partitions]; -1 = none."""

    of_member: Members
    of_partition: Members
    count: int

    def sums(self, values: Values) -> Values:
        """The sum of `values` (float64[n_partitions]) by pool: float64[n_pools]."""
        return _sums(self.of_partition, values, self.count)

    def member_sums(self, values: Values) -> Values:
        """The sum of `values` (float64[n_members]) by pool: float64[n_pools]."""
        return _sums(self.of_member, values, self.count)

    def sizes(self) -> NDArray[np.int64]:
        """The number of members of each pool: int64[n_pools]."""
        return np.bincount(self.of_member[self.of_member != NOBODY], minlength=self.count).astype(np.int64)


def _sums(places: Members, values: Values, count: int) -> Values:
    inside = places != NOBODY
    return np.bincount(places[inside], weights=values[inside], minlength=count).astype(np.float64)


def pools(table: OwnershipTable, lag_records: Values, produced_per_s: Values, capacity_per_s: Values) -> Pools:
    """The pools for these partitions (float64[n_partitions] each) and members (float64[n_members]).

    Members whose partitions overlap are one pool if one of these numbers is unknown (NaN). A member without partitions
    is a pool of its own in a group where no partition has two owners, else in none.
    """
    if not (table.owners_each > 1).any():
        return Pools(np.arange(len(table.members), dtype=np.int32), table.first_owner(), len(table.members))
    of_member = np.full(len(table.members), NOBODY, np.int32)
    of_partition = np.full(len(table.owners_each), NOBODY, np.int32)
    count = 0
    for readers in _separate(table):
        for partitions, members in _pools(readers, lag_records, produced_per_s, capacity_per_s):
            of_partition[list(partitions)] = of_member[list(members)] = count
            count += 1
    return Pools(of_member, of_partition, count)


def fair_loads(table: OwnershipTable, values: Values) -> Values:
    """What each member takes of `values` (float64[n_partitions]) if owners share as evenly as they can.

    Returns float64[n_members].
    """
    shared = pools(table, values, np.zeros(len(values)), np.ones(len(table.members)))
    each = shared.sums(values) / np.maximum(shared.sizes(), 1)
    return np.append(each, 0.0)[shared.of_member]


def _separate(table: OwnershipTable) -> Iterator[Readers]:
    """The partitions with owners, in parts that share no member."""
    owned, readers = defaultdict(list), defaultdict(list)
    for code, member in zip(table.codes.tolist(), table.owners.tolist(), strict=True):
        owned[member].append(code)
        readers[code].append(member)
    while readers:
        part, waiting = {}, [next(iter(readers))]
        while waiting:
            if members := readers.pop(code := waiting.pop(), None):
                part[code] = members
                waiting.extend(other for member in members for other in owned.pop(member, ()))
        yield part


def _pools(
    readers: Readers, lag: Values, produced: Values, capacity: Values
) -> Iterator[tuple[AbstractSet[int], AbstractSet[int]]]:
    """The partitions and members of each pool."""
    members = {member for its in readers.values() for member in its}
    if len(readers) == 1 or len(members) == 1 or np.isnan(lag[[*readers]] + produced[[*readers]]).any():
        return iter([(readers.keys(), members)])
    if np.isnan(capacity[[*members]]).any():
        return iter([(readers.keys(), members)])
    exact = [
        {at: Fraction(float(of[at])) for at in its}
        for of, its in ((lag, readers), (produced, readers), (capacity, members))
    ]
    unit = lcm(*(amount.denominator for of in exact for amount in of.values()))
    return _split(_Flow(readers, *({at: int(amount * unit) for at, amount in of.items()} for of in exact)))


@dataclass(frozen=True, slots=True)
class _Flow:
    """Partitions and the members that may read them, with amounts as whole numbers of one unit."""

    readers: Readers
    lag: Mapping[int, int]
    produced: Mapping[int, int]
    capacity: Mapping[int, int]

    def slowest(self, time: Fraction) -> set[int]:
        """The partitions of which most is unread at that time, taken together; empty if nothing is."""
        late = {code: self.lag[code] * time.denominator + self.produced[code] * time.numerator for code in self.readers}
        return _unmet(late, {member: its * time.numerator for member, its in self.capacity.items()}, self.readers)

    def members_of(self, partitions: AbstractSet[int]) -> set[int]:
        """All readers of these partitions."""
        return {member for code in partitions for member in self.readers[code]}

    def part(self, partitions: AbstractSet[int], members: AbstractSet[int]) -> "_Flow":
        """These partitions, read by these members only."""
        readers = {
            code: [one for one in its if one in members] for code, its in self.readers.items() if code in partitions
        }
        return _Flow(
            readers, self.lag, self.produced, {one: its for one, its in self.capacity.items() if one in members}
        )


def _split(flow: _Flow) -> Iterator[tuple[AbstractSet[int], AbstractSet[int]]]:
    """First the partitions that never drain, if there are any; the others by the time that they take."""
    never = flow.slowest(Fraction(sum(flow.lag.values()) + 1))
    if never:
        members = flow.members_of(never)
        yield never, members
        flow = flow.part(flow.readers.keys() - never, flow.capacity.keys() - members)
    parts = [flow] if flow.readers else []
    while parts:
        its = parts.pop()
        slower = its.slowest(_drain_time(its))
        if not slower:
            yield its.readers.keys(), its.capacity.keys()
            continue
        members = its.members_of(slower)
        parts.append(its.part(its.readers.keys() - slower, its.capacity.keys() - members))
        parts.append(its.part(slower, members))


def _drain_time(flow: _Flow) -> Fraction:
    """The time until nothing waits, if every member could read every partition."""
    lag = sum(flow.lag[code] for code in flow.readers)
    gain = sum(flow.capacity.values()) - sum(flow.produced[code] for code in flow.readers)
    return Fraction(lag, gain) if lag else Fraction(0)


Given = Mapping[int, dict[int, int]]
"""What each member reads of each partition."""

Step = tuple[int, int, int | None]
"""A partition, a member that reads more of it, and one that reads as much less; None: nobody read that part."""


def _unmet(wanted: Mapping[int, int], offered: Mapping[int, int], readers: Readers) -> set[int]:
    """The partitions that lack readers, taken together; empty if the members can read all of `wanted`.

    They are the source's side of a minimum cut: no set of partitions wants more beyond what its readers offer. The flow
    grows by shortest augmenting paths (Edmonds and Karp, 1972), in whole numbers.
    """
    left, free = dict(wanted), dict(offered)
    given: Given = defaultdict(lambda: defaultdict(int))
    while True:
        reached, steps = _path(left, free, given, readers)
        if not steps:
            return reached
        first, last = steps[-1][0], steps[0][1]
        amount = min(left[first], free[last], *(given[before][code] for code, _, before in steps if before is not None))
        left[first] -= amount
        free[last] -= amount
        for code, member, before in steps:
            given[member][code] += amount
            if before is not None:
                given[before][code] -= amount


def _path(
    left: Mapping[int, int], free: Mapping[int, int], given: Given, readers: Readers
) -> tuple[set[int], list[Step]]:
    """The partitions that were looked at, and the steps to a member that is free, the last first; none without one."""
    less: dict[int, int | None] = {code: None for code, amount in left.items() if amount > 0}
    more: dict[int, int] = {}
    waiting = deque(less)
    while waiting:
        code = waiting.popleft()
        for member in readers[code]:
            if member in more:
                continue
            more[member] = code
            if free[member] > 0:
                return set(less), _steps(member, more, less)
            for other, amount in given[member].items():
                if amount > 0 and other not in less:
                    less[other] = member
                    waiting.append(other)
    return set(less), []


def _steps(last: int, more: Mapping[int, int], less: Mapping[int, int | None]) -> list[Step]:
    steps: list[Step] = []
    member: int | None = last
    while member is not None:
        code = more[member]
        steps.append((code, member, less[code]))
        member = less[code]
    return steps
