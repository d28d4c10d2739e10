"""The owner of each partition, from claims of different generations (`AbstractStickyAssignor`, its first scan).

Of two members that claim one partition the one of the higher generation gets it, and neither when they are equal. But
Kafka compares the later member's generation with the field of the earlier one's subscription, whatever that member's
user data say, and remembers a tie for good: both are followed here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Claims, GroupArrays
from assignors.layout import Codes


@dataclass(frozen=True, slots=True)
class Ownership:
    """Each partition with one owner at most: claims that hold, in the order of claims. `disputed` were tied once."""

    codes: Codes
    owners: NDArray[np.int32]
    disputed: Codes


def resolve(arrays: GroupArrays, claims: Claims) -> Ownership:
    owners = claims.owners()
    claimed = np.zeros(len(arrays.layout) + len(claims.strays), dtype=np.bool_)
    claimed[claims.codes] = True
    if np.count_nonzero(claimed) == len(claims.codes):
        return Ownership(claims.codes, owners, np.zeros(0, dtype=np.int32))
    counts = np.bincount(claims.codes)
    holds = counts[claims.codes] == 1
    disputed = _settle(arrays, claims, owners, np.flatnonzero(~holds), holds)
    return Ownership(claims.codes[holds], owners[holds], np.array(disputed, dtype=np.int32))


def _settle(
    arrays: GroupArrays,
    claims: Claims,
    owners: NDArray[np.int32],
    contested: NDArray[np.intp],
    holds: NDArray[np.bool_],
) -> list[int]:
    """Mark which of the contested claims (positions) hold. Returns the partitions that were tied."""
    turn = np.empty(len(arrays.members), dtype=np.int64)
    turn[list(arrays.map_order())] = np.arange(len(turn))
    in_turn = contested[np.lexsort((contested, turn[owners[contested]], claims.codes[contested]))]
    generations, fields = claims.generations.tolist(), claims.fields.tolist()
    disputed: dict[int, None] = {}
    last, claimant, holder = -1, -1, -1
    for at, code, owner in zip(in_turn.tolist(), claims.codes[in_turn].tolist(), owners[in_turn].tolist(), strict=True):
        if code != last:
            last, claimant, holder = code, owner, at
            holds[at] = True
            continue
        lead = generations[owner] - fields[claimant]
        if lead < 0:
            continue
        if lead == 0:
            disputed[code] = None
        if holder >= 0:
            holds[holder] = False
        # Kafka enters the new claim, then strikes out the first one of the other claimant: the same, if that is itself.
        wins = lead > 0 and (holder >= 0 or claimant != owner)
        claimant, holder = owner, at if wins else -1
        holds[at] = wins
    return list(disputed)
