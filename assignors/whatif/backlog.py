"""The lag of a group over time if an assignment stays as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from assignors.arrays import group_arrays
from assignors.model import Group
from assignors.whatif.drain import capacities
from assignors.whatif.events import Join, Scenario
from assignors.whatif.generations import Generation
from assignors.whatif.loads import known_loads
from assignors.whatif.ownership_table import Values, ownership_table
from assignors.whatif.pools import pools


@dataclass(frozen=True, slots=True)
class Backlog:
    """`lag_records` and `growth_per_s` (produced - capacity) by pool, and last of the partitions without an owner.

    Both float64[n_pools + 1]; the pools are those of `whatif.pools`: members, where partitions have one owner.
    """

    lag_records: Values
    growth_per_s: Values

    def at(self, seconds: Values) -> Values:
        """The group's lag in records at those times: float64[n] to float64[n]. A pool's lag never falls below 0."""
        by_pool = self.lag_records + self.growth_per_s * seconds[:, None]
        return np.asarray(np.maximum(by_pool, 0).sum(axis=1), dtype=np.float64)

    def drained_s(self) -> float:
        """When the last lag that shrinks is gone; 0 if none shrinks. Lag that grows is left out."""
        shrinks = (self.growth_per_s < 0) & (self.lag_records > 0)
        return float((self.lag_records[shrinks] / -self.growth_per_s[shrinks]).max(initial=0.0))


def backlog(generation: Generation, scenario: Scenario) -> Backlog | str:
    """The backlog under the assignment after that generation, or why it is unknown."""
    if not generation.members:
        return "the group has no members"
    unknown = [drain.reason or "" for drain in generation.quality.drains.values() if drain.seconds is None]
    if unknown:
        return unknown[0]
    arrays = group_arrays(Group(scenario.name, generation.members, generation.topics, generation.assignor))
    known, table = known_loads(scenario.loads, arrays.layout), ownership_table(generation.moves, arrays)
    is_free = table.owners_each == 0
    if np.isnan(known.lag_records[is_free]).any() or np.isnan(known.produced_per_s[is_free]).any():
        return "the lag or produce rate of a partition without an owner is unknown"
    capacity = np.nan_to_num(capacities(table, replace(scenario.loads, capacity_per_s=_capacities(scenario))))
    found = pools(table, known.lag_records, known.produced_per_s, capacity)
    lag, produced = (
        np.append(found.sums(values), values[is_free].sum()) for values in (known.lag_records, known.produced_per_s)
    )
    return Backlog(lag, produced - np.append(found.member_sums(capacity), 0.0))


def _capacities(scenario: Scenario) -> Mapping[str, float]:
    """Records a second by member, those that join during the scenario included."""
    joins = [its.action for its in scenario.events if isinstance(its.action, Join)]
    joined = {its.member.member_id: its.capacity_per_s for its in joins if its.capacity_per_s is not None}
    return {**scenario.loads.capacity_per_s, **joined}
