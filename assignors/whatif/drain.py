"""The time until the lag is gone, by member and for the group."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from assignors.counts import plural
from assignors.whatif.events import Loads
from assignors.whatif.loads import KnownLoads
from assignors.whatif.moves import NOBODY
from assignors.whatif.ownership_table import OwnershipTable, Values
from assignors.whatif.pools import Pools, pools


@dataclass(frozen=True, slots=True)
class Drain:
    """Seconds until the lag is gone at the present rates; infinite = never, None = unknown.

    `reason` says why it is infinite or unknown. `member` is the member itself, or the group's slowest one; it and
    `others` more read together (`whatif.pools`).
    """

    seconds: float | None
    reason: str | None = None
    member: str | None = None
    others: int = 0


def drains(table: OwnershipTable, known: KnownLoads, loads: Loads) -> dict[str, Drain]:
    """The drain time of each member: lag / (capacity - produce rate) of its pool; 0 without partitions."""
    capacity = capacities(table, loads)
    found = pools(table, known.lag_records, known.produced_per_s, capacity)
    columns = (
        found.sums(np.ones(len(table.owners_each))),
        *_sums(found, known.lag_records),
        *_sums(found, known.produced_per_s),
        found.member_sums(capacity),
        found.sizes(),
    )
    of_pool = [_drain(*numbers) for numbers in zip(*(column.tolist() for column in columns), strict=True)]
    idle = Drain(0.0)
    return {
        member: replace(of_pool[pool] if pool != NOBODY else idle, member=member)
        for member, pool in zip(table.members, found.of_member.tolist(), strict=True)
    }


def capacities(table: OwnershipTable, loads: Loads) -> Values:
    """Records a second that each member can process: float64[n_members]; NaN = unknown."""
    default = math.nan if loads.default_capacity_per_s is None else loads.default_capacity_per_s
    return np.array([loads.capacity_per_s.get(member, default) for member in table.members], np.float64)


def _sums(found: Pools, values: Values) -> tuple[Values, Values]:
    """By pool: the sum of the known values, and the number of unknown ones."""
    return found.sums(np.nan_to_num(values)), found.sums(np.isnan(values).astype(np.float64))


def _drain(
    partitions: float, lag: float, no_lag: float, rate: float, no_rate: float, capacity: float, members: int
) -> Drain:
    others = max(members - 1, 0)
    if not partitions:
        return Drain(0.0)
    if unknown := _unknown(int(partitions), int(no_lag), int(no_rate), capacity):
        return Drain(None, unknown, others=others)
    if rate > capacity or (rate == capacity and lag > 0):
        can = f"the {members:,} members that read them can process" if others else "it can process"
        return Drain(math.inf, f"{rate:,.6g} records a second arrive, and {can} {capacity:,.6g}", others=others)
    return Drain(lag / (capacity - rate) if lag > 0 else 0.0, others=others)


def _unknown(partitions: int, no_lag: int, no_rate: int, capacity: float) -> str | None:
    if no_lag:
        return f"the lag of {no_lag} of its {plural(partitions, 'partition')} is unknown"
    if no_rate:
        return f"the produce rate of {no_rate} of its {plural(partitions, 'partition')} is unknown"
    return "how much a member can process is unknown" if math.isnan(capacity) else None


def drain_of_group(of_each: Mapping[str, Drain], table: OwnershipTable, known: KnownLoads) -> Drain:
    """The slowest member's. Infinite when any member's is or lag has no owner, else unknown when any member's is."""
    if waiting := _without_owner(table, known):
        return Drain(math.inf, waiting)
    never = [drain for drain in of_each.values() if drain.seconds == math.inf]
    unknown = [drain for drain in of_each.values() if drain.seconds is None]
    if never or unknown:
        return (never or unknown)[0]
    if not of_each:
        return Drain(None, "the group has no members")
    return max(of_each.values(), key=lambda drain: drain.seconds or 0.0)


def _without_owner(table: OwnershipTable, known: KnownLoads) -> str | None:
    is_free = table.owners_each == 0
    count = int(np.count_nonzero(is_free & ((known.lag_records > 0) | (known.produced_per_s > 0))))
    have = "has" if count == 1 else "have"
    return f"{plural(count, 'partition')} with lag or new records {have} no owner" if count else None
