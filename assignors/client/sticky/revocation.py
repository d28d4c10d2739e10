"""Cooperative rebalancing in the general path: what is still held by another member has to wait (KIP-429)."""

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Claims, Plan
from assignors.layout import Codes

_NOBODY = -1


def without_transfers(plan: Plan, claims: Claims, total: int) -> Plan:
    """The plan without partitions that are new to their owner while a member that claimed them does not have them.

    `total`: the number of codes, strays included. A partition may stand in two lists, if claims on what does not exist
    have confused Kafka.
    """
    owners = np.repeat(np.arange(len(plan.starts), dtype=np.int32), plan.ends - plan.starts)
    one, other = _owners(plan.codes, owners, total)
    claimants = claims.owners()
    by_one, by_other = (_flags(claims.codes[claimants == table[claims.codes]], total) for table in (one, other))
    lost = (claimants != one[claims.codes]) & (claimants != other[claims.codes])
    revoked = _flags(claims.codes[lost], total)
    claimed = np.where(owners == one[plan.codes], by_one[plan.codes], by_other[plan.codes])
    waits = revoked[plan.codes] & ~claimed
    if not waits.any():
        return plan
    ends = np.cumsum(np.bincount(owners[~waits], minlength=len(plan.starts)))
    return Plan(plan.codes[~waits], np.concatenate(([0], ends[:-1])), ends)


def _owners(codes: Codes, owners: NDArray[np.int32], total: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """By code the first and the last owner; mostly these are one."""
    first = np.full(total, _NOBODY, dtype=np.int32)
    last = first.copy()
    first[codes[::-1]] = owners[::-1]
    last[codes] = owners
    return first, last


def _flags(codes: Codes, total: int) -> NDArray[np.bool_]:
    flags = np.zeros(total, dtype=np.bool_)
    flags[codes] = True
    return flags
