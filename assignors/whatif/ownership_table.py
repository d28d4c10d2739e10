"""Who has which partition of the topics in play, ready to be counted and summed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.assignment_arrays import Members, translated
from assignors.layout import Codes
from assignors.whatif.moves import NOBODY, Moves

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placed:
    """Pairs of a partition's code and the position of a member that has it.

    `owners_each` is how many owners each of the partitions has, by code: none, one, or several in a share group.
    """

    codes: Codes
    owners: Members
    owners_each: NDArray[np.int64]
    members: tuple[str, ...]

    def counts(self) -> NDArray[np.int64]:
        """How many partitions each member has."""
        return np.bincount(self.owners, minlength=len(self.members)).astype(np.int64)

    def first_owner(self) -> Members:
        """An owner of each partition; -1: nobody."""
        owners = np.full(len(self.owners_each), NOBODY, dtype=np.int32)
        owners[self.codes[::-1]] = self.owners[::-1]
        return owners

    def sums(self, values: Values) -> Values:
        """What the values of its partitions add up to, by member; several owners share evenly."""
        each = (values / np.maximum(self.owners_each, 1))[self.codes]
        return np.bincount(self.owners, weights=each, minlength=len(self.members)).astype(np.float64)


def place(changes: Moves, arrays: GroupArrays) -> Placed:
    """Where partitions are after the moves, by the codes and member positions of the group."""
    codes = translated(changes.codes, changes.layout, arrays.layout)
    owners = in_group(changes, arrays)[changes.targets]
    is_placed = (codes >= 0) & (owners != NOBODY)
    codes, owners = codes[is_placed], owners[is_placed]
    each = np.bincount(codes, minlength=len(arrays.layout)).astype(np.int64)
    return Placed(codes, owners, each, arrays.members)


def in_group(changes: Moves, arrays: GroupArrays) -> Members:
    """Position in the group of each member of the moves, and at the end of nobody; -1: it is not in the group."""
    position = {member: at for at, member in enumerate(arrays.members)}
    return np.array([*(position.get(member, NOBODY) for member in changes.members), NOBODY], dtype=np.int32)
