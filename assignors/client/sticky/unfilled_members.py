"""Members below their quota in the constrained assignment, and who of them gets the next partitions."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assignors.client.sticky.rack_info import NO_RACK, RackView
from assignors.layout import Codes
from assignors.model import AssignorError


@dataclass(slots=True)
class UnfilledMembers:
    """Who may still get partitions, as `ConstrainedAssignmentBuilder` keeps them.

    under_min_quota: members below the smaller quota (`unfilledMembersWithUnderMinQuotaPartitions`), and `missing`, how
    many partitions each lacks.
    exactly_min_quota: members that may get one more (`unfilledMembersWithExactlyMinQuotaPartitions`).
    over_min_quota: how many members have one more (`currentNumMembersWithOverMinQuotaPartitions`).
    expected_over_min_quota: how many members end with one more.
    """

    under_min_quota: list[int]
    missing: list[int]
    exactly_min_quota: list[int]
    over_min_quota: int
    expected_over_min_quota: int

    def in_turn(self, partitions: int) -> NDArray[np.int32]:
        """int32[partitions]: owners of the next partitions.

        Members below the quota take turns; then one each for those exactly at the quota, and for those who have just
        reached it, in the order in which they did. AssignorError where no member is left.
        """
        missing = np.array(self.missing, dtype=np.int64)
        ends = np.cumsum(missing)
        rounds = np.arange(int(missing.sum())) - np.repeat(ends - missing, missing)
        narrow = rounds.astype(np.uint16) if missing.max(initial=0) <= 1 << 16 else rounds
        under = np.array(self.under_min_quota, dtype=np.int32)
        turns = np.repeat(under, missing)[np.argsort(narrow, kind="stable")]
        filled = under[np.argsort(missing, kind="stable")]
        owners = np.concatenate((turns, np.array(self.exactly_min_quota, dtype=np.int32), filled))
        if len(owners) < partitions:
            raise AssignorError(
                "IllegalStateException: no member is left that can take partitions, because members claim to own "
                "partitions that do not exist. Correct what they own."
            )
        return owners[:partitions]

    def by_rack(self, unassigned: Codes, racks: RackView) -> tuple[list[int], list[int]]:
        """Assign partitions to members in their racks: positions of the assigned ones in `unassigned`, and the owners.

        Members below the quota come first, from behind the last one on; then those exactly at it, from the first.
        """
        rack_of, match = racks.rack_of.tolist(), racks.match.tolist()
        positions: list[int] = []
        owners: list[int] = []
        cursor = 0
        for position, rack_set in enumerate(racks.set_of[unassigned].tolist()):
            at = _in_rack(self.under_min_quota, cursor, rack_of, match, rack_set)
            if at is not None:
                owners.append(self.under_min_quota[at])
                cursor = self._give(at)
            else:
                at = _in_rack(self.exactly_min_quota, 0, rack_of, match, rack_set)
                if at is None:
                    continue
                owners.append(self._give_extra(at))
            positions.append(position)
        return positions, owners

    def _give(self, at: int) -> int:
        """One partition for the member at that position below the quota. Returns where to look next."""
        self.missing[at] -= 1
        if self.missing[at]:
            return (at + 1) % len(self.under_min_quota)
        member = self.under_min_quota.pop(at)
        del self.missing[at]
        if self.over_min_quota < self.expected_over_min_quota:
            self.exactly_min_quota.append(member)
        return at % len(self.under_min_quota) if self.under_min_quota else 0

    def _give_extra(self, at: int) -> int:
        """One partition above the quota for the member at that position. Returns the member."""
        member = self.exactly_min_quota.pop(at)
        self.over_min_quota += 1
        if self.over_min_quota == self.expected_over_min_quota:
            self.exactly_min_quota.clear()
        return member


def _in_rack(members: list[int], cursor: int, rack_of: list[int], match: list[list[bool]], rack_set: int) -> int | None:
    for at in chain(range(cursor, len(members)), range(cursor)):
        rack = rack_of[members[at]]
        if rack != NO_RACK and match[rack][rack_set]:
            return at
    return None
