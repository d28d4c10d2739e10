"""The rack phase of the constrained path: free partitions go first to members with a replica in their rack."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from assignors.client.sticky.rack_info import NO_RACK, RackView
from assignors.layout import Codes

if TYPE_CHECKING:
    from assignors.client.sticky.constrained import Hungry


def fill_by_rack(free: Codes, hungry: Hungry, extras: int, racks: RackView) -> tuple[list[int], list[int]]:
    """Give what finds a member in one of its racks. Returns which of the free ones (positions), and the owners.

    Members below the quota come first, from where the last one was found on; then `exact` from its head.
    """
    rack_of, match = racks.rack_of.tolist(), racks.match.tolist()
    placed: list[int] = []
    owners: list[int] = []
    cursor = 0
    for position, which in enumerate(racks.set_of[free].tolist()):
        at = _next(hungry.below, cursor, rack_of, match, which)
        if at is not None:
            owners.append(hungry.below[at])
            cursor = _feed(hungry, at, extras)
        else:
            at = _next(hungry.exact, 0, rack_of, match, which)
            if at is None:
                continue
            owners.append(hungry.exact.pop(at))
            hungry.used_extras += 1
            if hungry.used_extras == extras:
                hungry.exact.clear()
        placed.append(position)
    return placed, owners


def _next(members: list[int], cursor: int, rack_of: list[int], match: list[list[bool]], which: int) -> int | None:
    for at in chain(range(cursor, len(members)), range(cursor)):
        rack = rack_of[members[at]]
        if rack != NO_RACK and match[rack][which]:
            return at
    return None


def _feed(hungry: Hungry, at: int, extras: int) -> int:
    """One partition for the member at that place. Returns where to look next."""
    hungry.lacking[at] -= 1
    if hungry.lacking[at]:
        return (at + 1) % len(hungry.below)
    member = hungry.below.pop(at)
    del hungry.lacking[at]
    if hungry.used_extras < extras:
        hungry.exact.append(member)
    return at % len(hungry.below) if hungry.below else 0
