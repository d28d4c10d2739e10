"""Columns for partitions: one each while there is room, else one per block of neighbours within a topic."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.ui.movement.steps import KEPT, Kinds, Steps


@dataclass(frozen=True, slots=True)
class Blocks:
    """`starts` holds the first partition of each column, `size` how many a column stands for at most."""

    starts: NDArray[np.intp]
    partitions: int
    size: int

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def ends(self) -> NDArray[np.intp]:
        """One past the last partition of each column."""
        return np.append(self.starts, self.partitions)[1:]

    def worst(self, kinds: Kinds) -> Kinds:
        """The gravest kind in each column: unassigned before revoked before gained before kept."""
        return kinds if self.size == 1 else np.maximum.reduceat(kinds, self.starts, axis=1)

    def changed(self, kinds: Kinds) -> NDArray[np.int32]:
        """How many partitions of each column were not simply kept."""
        return np.add.reduceat((kinds > KEPT).astype(np.int32), self.starts, axis=1, dtype=np.int32)


def blocks(steps: Steps, most: int) -> Blocks:
    """At most about `most` columns; none spans two topics while there are fewer topics than columns."""
    n = steps.partitions
    size = -(-n // most) if n else 1
    tops = topic_starts(steps)
    if size == 1 or len(tops) > most // 2:
        return Blocks(np.arange(0, n, size), n, size)
    ends = [*tops[1:], n]
    starts = np.concatenate([np.arange(a, b, size) for a, b in zip(tops, ends, strict=True)])
    return Blocks(starts, n, size)


def topic_starts(steps: Steps) -> list[int]:
    """The first column of each topic that has any."""
    if not steps.partitions:
        return []
    return [0, *(np.flatnonzero(np.diff(steps.topic_of)) + 1).tolist()]


def names(steps: Steps, columns: Blocks) -> list[str]:
    """What each column stands for: "orders-7", or "orders-100 to orders-199"."""
    firsts = [str(steps.partition(at)) for at in columns.starts.tolist()]
    lasts = [str(steps.partition(end - 1)) for end in columns.ends.tolist()]
    return [first if first == last else f"{first} to {last}" for first, last in zip(firsts, lasts, strict=True)]
