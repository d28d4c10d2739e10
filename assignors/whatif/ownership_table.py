"""Who owns which partition after a rebalance, as arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.assignment_arrays import Members, translated
from assignors.layout import Codes
from assignors.whatif.moves import NOBODY, Moves

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OwnershipTable:
    """One row for each pair of partition and owner; partitions are codes of the group's layout.

    `codes`: int32[n_pairs]. `owners`: int32[n_pairs], positions in `members`. `owners_each`: int64[n_partitions], the
    number of owners of each partition: 0, 1, or more in a share group.
    """

    codes: Codes
    owners: Members
    owners_each: NDArray[np.int64]
    members: tuple[str, ...]

    def counts(self) -> NDArray[np.int64]:
        """Partitions of each member: int64[n_members]."""
        return np.bincount(self.owners, minlength=len(self.members)).astype(np.int64)

    def first_owner(self) -> Members:
        """The first owner of each partition: int32[n_partitions]; -1 = none."""
        owners = np.full(len(self.owners_each), NOBODY, dtype=np.int32)
        owners[self.codes[::-1]] = self.owners[::-1]
        return owners


def ownership_table(changes: Moves, arrays: GroupArrays) -> OwnershipTable:
    """The owners after the moves, by the codes and member positions of the group."""
    codes = translated(changes.codes, changes.layout, arrays.layout)
    owners = group_positions(changes, arrays)[changes.targets]
    is_placed = (codes >= 0) & (owners != NOBODY)
    codes, owners = codes[is_placed], owners[is_placed]
    each = np.bincount(codes, minlength=len(arrays.layout)).astype(np.int64)
    return OwnershipTable(codes, owners, each, arrays.members)


def group_positions(changes: Moves, arrays: GroupArrays) -> Members:
    """Positions of the members of the moves in the group: int32[n_members + 1]; -1 = not in it; the last is -1."""
    position = {member: at for at, member in enumerate(arrays.members)}
    return np.array([*(position.get(member, NOBODY) for member in changes.members), NOBODY], dtype=np.int32)
