"""The time until the lag is gone, by member and for the group."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assignors.counts import plural
from assignors.whatif.events import Loads
from assignors.whatif.loads import KnownLoads
from assignors.whatif.ownership_table import OwnershipTable, Values


@dataclass(frozen=True, slots=True)
class Drain:
    """Seconds until the lag is gone at the present rates; infinite = never, None = unknown.

    `reason` says why it is infinite or unknown. `member` is the member itself, or the group's slowest one.
    """

    seconds: float | None
    reason: str | None = None
    member: str | None = None


def drains(table: OwnershipTable, known: KnownLoads, loads: Loads) -> dict[str, Drain]:
    """The drain time of each member: lag / (capacity - produce rate) of its partitions; 0 without partitions."""
    counts = table.counts().tolist()
    columns = (*_sums(table, known.lag_records), *_sums(table, known.produced_per_s))
    made = {}
    for member, count, lag, no_lag, rate, no_rate in zip(table.members, counts, *columns, strict=True):
        capacity = loads.capacity_per_s.get(member, loads.default_capacity_per_s)
        unknown = _unknown(count, no_lag, no_rate, capacity)
        made[member] = Drain(None, unknown, member) if unknown else _drain(member, lag, rate, capacity or 0.0)
    return made


def _sums(table: OwnershipTable, values: Values) -> tuple[list[float], list[int]]:
    """By member: the sum of the known values, and the number of unknown ones."""
    missing = np.bincount(table.owners, weights=np.isnan(values)[table.codes], minlength=len(table.members))
    return table.sums(np.nan_to_num(values)).tolist(), missing.astype(np.int64).tolist()


def _unknown(partitions: int, no_lag: int, no_rate: int, capacity: float | None) -> str | None:
    if not partitions:
        return None
    if no_lag:
        return f"the lag of {no_lag} of its {plural(partitions, 'partition')} is unknown"
    if no_rate:
        return f"the produce rate of {no_rate} of its {plural(partitions, 'partition')} is unknown"
    return "how much a member can process is unknown" if capacity is None else None


def _drain(member: str, lag: float, rate: float, capacity: float) -> Drain:
    if rate > capacity or (rate == capacity and lag > 0):
        return Drain(math.inf, f"{rate:,.6g} records a second arrive, and it can process {capacity:,.6g}", member)
    return Drain(lag / (capacity - rate) if lag > 0 else 0.0, None, member)


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
