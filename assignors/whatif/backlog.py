"""The lag of a group over time if an assignment stays as it is."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assignors.arrays import group_arrays
from assignors.model import Group
from assignors.whatif.events import Join, Scenario
from assignors.whatif.generations import Generation
from assignors.whatif.loads import known_loads
from assignors.whatif.ownership_table import Values, ownership_table


@dataclass(frozen=True, slots=True)
class Backlog:
    """`lag_records` and `growth_per_s` (produced - capacity) by member, and last of the partitions without an owner.

    Both float64[n_members + 1].
    """

    lag_records: Values
    growth_per_s: Values

    def at(self, seconds: Values) -> Values:
        """The group's lag in records at those times: float64[n] to float64[n]. A member's lag never falls below 0."""
        by_member = self.lag_records + self.growth_per_s * seconds[:, None]
        return np.asarray(np.maximum(by_member, 0).sum(axis=1), dtype=np.float64)

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
    lag, produced = (
        np.append(table.sums(np.nan_to_num(values)), values[is_free].sum())
        for values in (known.lag_records, known.produced_per_s)
    )
    capacities, default = _capacities(scenario), scenario.loads.default_capacity_per_s
    each = [capacities.get(member, default or 0.0) for member in arrays.members]
    return Backlog(lag, produced - np.array([*each, 0.0]))


def _capacities(scenario: Scenario) -> Mapping[str, float]:
    """Records a second by member, those that join during the scenario included."""
    joins = [its.action for its in scenario.events if isinstance(its.action, Join)]
    joined = {its.member.member_id: its.capacity_per_s for its in joins if its.capacity_per_s is not None}
    return {**scenario.loads.capacity_per_s, **joined}
