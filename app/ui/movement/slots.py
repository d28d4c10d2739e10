"""Where tokens stand: a lane per owner, a slot in it that is kept as long as the owner is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.ui.movement.steps import ABSENT, NOBODY, REVOKED, Owners, Steps

MOST_ROWS = 90
COLUMNS = (30, 40, 60, 90, 130, 200, 500, 1_000)

Table = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns and rows of every token in every generation; `tops` is the first row of each lane, one more at the end.

    Lanes are the members in order, then "in transit" and "unassigned". What does not exist stands below them all.
    """

    x: Table
    y: Table
    tops: tuple[int, ...]
    columns: int

    @property
    def rows(self) -> int:
        """Rows of all lanes together."""
        return self.tops[-1]


def grid(steps: Steps) -> Grid:
    """Place every token of every generation."""
    lanes = lanes_of(steps)
    n = len(steps.members) + 2
    slots = slots_of(lanes, n)
    longest = [int(slots[lanes == lane].max(initial=-1)) + 1 for lane in range(n)]
    columns = next((c for c in COLUMNS if sum(-(-size // c) for size in longest) <= MOST_ROWS), COLUMNS[-1])
    heights = [
        max(1, -(-size // columns)) if lane < n - 2 else -(-size // columns) for lane, size in enumerate(longest)
    ]
    tops = np.concatenate([[0], np.cumsum(heights)])
    here = lanes < n
    x = np.where(here, slots % columns, 0)
    y = np.where(here, tops[np.minimum(lanes, n - 1)] + slots // columns, tops[-1] + 1)
    return Grid(x.astype(np.int32), y.astype(np.int32), tuple(tops.tolist()), min(columns, max(8, *longest)))


def lanes_of(steps: Steps) -> Table:
    """Lane of each partition after each generation; one past the last lane where it does not exist.

    A revoked partition is in transit only if the next generation gives it to somebody: else it is without an owner.
    """
    transit, free = len(steps.members), len(steps.members) + 1
    lanes = steps.owners.astype(np.int32)
    lanes[lanes == NOBODY] = free
    lanes[lanes == ABSENT] = free + 1
    revoked = (steps.all_kinds() == REVOKED) & (steps.owners == NOBODY)
    revoked[-1] = False
    revoked[:-1] &= steps.owners[1:] >= 0
    lanes[revoked] = transit
    return lanes


def slots_of(lanes: Table, n: int) -> Table:
    """A slot per partition and generation: kept while the lane is, newcomers fill the lowest that are free."""
    slots = np.zeros_like(lanes)
    was = np.full(lanes.shape[1], -1, dtype=np.int32)
    mine = np.zeros(lanes.shape[1], dtype=np.int32)
    for row, now in enumerate(lanes):
        moved = now != was
        for lane in np.unique(now[moved & (now < n)]).tolist():
            _settle(mine, now == lane, moved)
        slots[row], was = mine, now
    return slots


def _settle(slots: Owners, inside: NDArray[np.bool_], moved: NDArray[np.bool_]) -> None:
    """Give the newcomers of one lane its lowest free slots, in order of partition."""
    taken = slots[inside & ~moved]
    coming = np.flatnonzero(inside & moved)
    free = np.setdiff1d(np.arange(len(taken) + len(coming)), taken, assume_unique=False)
    slots[coming] = free[: len(coming)]
