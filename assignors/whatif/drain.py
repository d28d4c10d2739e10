"""How long a member, and with it the group, takes to work off its lag."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assignors.whatif.events import Loads
from assignors.whatif.loads import KnownLoads
from assignors.whatif.ownership_table import Placed, Values


@dataclass(frozen=True, slots=True)
class Drain:
    """Seconds until the lag is gone, at the present rates; infinite when it never is, None when that is unknown.

    `reason` says why it is infinite or unknown; `member` whose drain it is: of a group's, the slowest one's.
    """

    seconds: float | None
    reason: str | None = None
    member: str | None = None


def drains(placed: Placed, known: KnownLoads, loads: Loads) -> dict[str, Drain]:
    """By member: lag / (capacity - produced), of the partitions it has. Who has none is done."""
    counts = placed.counts().tolist()
    columns = (*_sums(placed, known.lag_records), *_sums(placed, known.produced_per_s))
    made = {}
    for member, count, lag, no_lag, rate, no_rate in zip(placed.members, counts, *columns, strict=True):
        capacity = loads.capacity_per_s.get(member, loads.default_capacity_per_s)
        unknown = _unknown(count, no_lag, no_rate, capacity)
        made[member] = Drain(None, unknown, member) if unknown else _drain(member, lag, rate, capacity or 0.0)
    return made


def _sums(placed: Placed, values: Values) -> tuple[list[float], list[int]]:
    """By member: the sum of what is known, and of how many of its partitions it is not."""
    missing = np.bincount(placed.owners, weights=np.isnan(values)[placed.codes], minlength=len(placed.members))
    return placed.sums(np.nan_to_num(values)).tolist(), missing.astype(np.int64).tolist()


def _unknown(partitions: int, no_lag: int, no_rate: int, capacity: float | None) -> str | None:
    if not partitions:
        return None
    if no_lag:
        return f"the lag of {no_lag} of its {partitions} partitions is unknown"
    if no_rate:
        return f"the produce rate of {no_rate} of its {partitions} partitions is unknown"
    return "how much a member can process is unknown" if capacity is None else None


def _drain(member: str, lag: float, rate: float, capacity: float) -> Drain:
    if rate > capacity or (rate == capacity and lag > 0):
        return Drain(math.inf, f"{rate:,.6g} records a second arrive, and it can process {capacity:,.6g}", member)
    return Drain(lag / (capacity - rate) if lag > 0 else 0.0, None, member)


def drain_of_group(of_each: Mapping[str, Drain], placed: Placed, known: KnownLoads) -> Drain:
    """The slowest member's. Never, when a member never is done or lag has no owner; unknown, when any other is."""
    if waiting := _without_owner(placed, known):
        return Drain(math.inf, waiting)
    never = [drain for drain in of_each.values() if drain.seconds == math.inf]
    unknown = [drain for drain in of_each.values() if drain.seconds is None]
    if never or unknown:
        return (never or unknown)[0]
    if not of_each:
        return Drain(None, "the group has no members")
    return max(of_each.values(), key=_seconds)


def _seconds(drain: Drain) -> float:
    return drain.seconds or 0.0


def _without_owner(placed: Placed, known: KnownLoads) -> str | None:
    is_free = placed.owners_each == 0
    count = int(np.count_nonzero(is_free & ((known.lag_records > 0) | (known.produced_per_s > 0))))
    return f"{count} partitions with lag or new records have no owner" if count else None
