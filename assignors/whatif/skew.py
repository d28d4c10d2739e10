"""How unevenly a load is spread over the members."""

from dataclasses import dataclass

import numpy as np

from assignors.whatif.ownership_table import OwnershipTable, Values
from assignors.whatif.pools import fair_loads


@dataclass(frozen=True, slots=True)
class Skew:
    """A load in its own unit, over the partitions with an owner; `known` of `partitions` have a known load.

    `most` is the load of the busiest `member`, `ratio` that load over the mean of all members (1 = even; None = the
    `total` is 0).
    """

    total: float
    most: float
    member: str
    ratio: float | None
    known: int
    partitions: int


def skew(table: OwnershipTable, values: Values) -> Skew | None:
    """The skew of a load (float64[n_partitions]; NaN = unknown); None when no load is known."""
    assigned = table.owners_each > 0
    known = int(np.count_nonzero(assigned & ~np.isnan(values)))
    if not known:
        return None
    sums, total = fair_loads(table, np.nan_to_num(values)), float(np.nansum(values[assigned]))
    hottest = int(sums.argmax())
    most = float(sums[hottest])
    ratio = most * len(sums) / total if total else None
    return Skew(total, most, table.members[hottest], ratio, known, int(np.count_nonzero(assigned)))
