"""How unevenly a load lies on the members."""

from dataclasses import dataclass

import numpy as np

from assignors.whatif.ownership_table import Placed, Values


@dataclass(frozen=True, slots=True)
class Skew:
    """A load in its own unit, over the partitions that have an owner.

    `total` of what is known, the `most` that one member has, which `member` that is, and `ratio`, that of the most to
    the members' mean (1: even; None: the total is 0). `known` of `partitions` have a known load.
    """

    total: float
    most: float
    member: str
    ratio: float | None
    known: int
    partitions: int


def skew(placed: Placed, values: Values) -> Skew | None:
    """The skew of a load given by partition (NaN: unknown); None when nothing of it is known."""
    assigned = placed.owners_each > 0
    known = int(np.count_nonzero(assigned & ~np.isnan(values)))
    if not known:
        return None
    sums = placed.sums(np.nan_to_num(values))
    hottest, total = int(sums.argmax()), float(sums.sum())
    most = float(sums[hottest])
    ratio = most * len(sums) / total if total else None
    return Skew(total, most, placed.members[hottest], ratio, known, int(np.count_nonzero(assigned)))
