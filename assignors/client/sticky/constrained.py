"""The sticky assignors when all members have one subscription (Kafka: `ConstrainedAssignmentBuilder`).

Members keep what they own up to their quota; what is free goes to those below the smaller quota in turn, then one each
to others. Kafka walks over lists to do so. Here each step is a closed form over arrays, except the one for racks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers, Plan, collected, dealt
from assignors.client.sticky.claims_resolution import Ownership
from assignors.client.sticky.rack_fill import fill_by_rack
from assignors.client.sticky.rack_info import RackView
from assignors.layout import Codes, id_order
from assignors.model import AssignorError

Owners = NDArray[np.int32]
_NONE = -1


@dataclass(frozen=True, slots=True)
class Quota:
    """Everybody gets `least` partitions, and `extras` members one more."""

    least: int
    extras: int


@dataclass(slots=True)
class Hungry:
    """Who may still get partitions: members below the quota with what they lack, then `exact`, one each.

    `used_extras`: how many members have one more than the quota already.
    """

    below: list[int]
    lacking: list[int]
    exact: list[int]
    used_extras: int


@dataclass(frozen=True, slots=True)
class Given:
    """New partitions, as they were given out, and to whom."""

    codes: Codes
    owners: Owners


@dataclass(frozen=True, slots=True)
class Constrained:
    """The plan; and which of the `given` partitions are in transfer: still held by another member."""

    kept: Ownership
    given: Given
    in_transfer: NDArray[np.bool_]

    def plan(self, members: int, *, cooperative: bool) -> Plan:
        """Lists of what is kept, then of what is new. Cooperative: partitions in transfer have to wait."""
        given = self.given
        if cooperative and self.in_transfer.any():
            given = Given(given.codes[~self.in_transfer], given.owners[~self.in_transfer])
        return _joined(self.kept, given, members)


def assign_fresh(arrays: GroupArrays) -> Plan:
    """Nobody owns anything and no member has a rack."""
    return dealt(arrays.layout, id_order(arrays.members))


def assign(arrays: GroupArrays, owned: Ownership, racks: RackView | None) -> Constrained:
    """Keep, then fill. Raises AssignorError where Kafka throws: claims on partitions that do not exist can do that."""
    least, extras = divmod(len(arrays.layout), len(arrays.members))
    held, lost = _held(arrays, owned, racks)
    kept, cut, hungry = _within_quota(arrays, held, Quota(least, extras))
    free = _free(arrays, kept.codes)
    if racks is not None:
        free = free[np.argsort(racks.neighbours[free], kind="stable")]
    given = _fill(arrays, free, hungry, Quota(least, extras), racks)
    return Constrained(kept, given, _in_transfer(arrays, given, (lost, cut), owned.disputed))


def _held(arrays: GroupArrays, owned: Ownership, racks: RackView | None) -> tuple[Ownership, Ownership]:
    """What counts as owned, by (member, partition, topic), without the disputed; and what was in the wrong rack."""
    lost = np.zeros(len(owned.codes), dtype=np.bool_)
    if racks is not None and racks.active:
        lost = racks.mismatches(owned.codes, owned.owners)
    stays = ~lost
    if len(owned.disputed):
        stays &= ~np.isin(owned.codes, owned.disputed)
    held = owned if stays.all() else _some(owned, stays)
    return _by_partition(arrays, held), _some(owned, lost)


def _some(owned: Ownership, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Ownership:
    return Ownership(owned.codes[which], owned.owners[which], owned.disputed)


def _by_partition(arrays: GroupArrays, owned: Ownership) -> Ownership:
    """The same by member, then partition, then topic."""
    keys = _sort_keys(arrays)
    own_keys = keys[owned.codes]
    if ((owned.owners[1:] > owned.owners[:-1]) | (own_keys[1:] > own_keys[:-1])).all():
        return owned
    if len(keys) > len(arrays.layout) or arrays.layout.counts.max() > 1 << 16:
        return _some(owned, np.lexsort((own_keys, owned.owners)))
    return _by_partition_fast(arrays, owned)


def _by_partition_fast(arrays: GroupArrays, owned: Ownership) -> Ownership:
    """The same where all partitions exist and have small numbers: two sorts of 16 bits each."""
    layout = arrays.layout
    owner_of = np.full(len(layout), _NONE, dtype=np.int32)
    owner_of[owned.codes] = owned.owners
    numbers = np.arange(len(layout)) - np.repeat(layout.offsets[:-1], layout.counts)
    codes = np.argsort(numbers.astype(np.uint16), kind="stable").astype(np.int32)
    codes = codes[owner_of[codes] != _NONE]
    by_owner = collected(codes, owner_of[codes], len(arrays.members))
    return Ownership(by_owner.codes, owner_of[by_owner.codes], owned.disputed)


def _sort_keys(arrays: GroupArrays) -> NDArray[np.integer]:
    """What sorts codes by partition, then topic."""
    layout, width = arrays.layout, len(arrays.layout.names)
    strays = arrays.claims.strays if arrays.claims is not None else ()
    beyond = [number * width + topic for topic, number in strays]
    largest = (int(layout.counts.max(initial=0)) + 1) * width
    # Steps on the way may overflow int32; that does no harm as long as the keys themselves fit.
    kind = np.dtype(np.int32 if largest < 1 << 31 else np.int64)
    keys = np.arange(len(layout), dtype=kind)
    keys *= kind.type(width)
    keys += np.repeat((np.arange(width) - layout.offsets[:-1] * width).astype(kind), layout.counts)
    return np.concatenate((keys, np.array(beyond, dtype=np.int64))) if strays else keys


def _within_quota(arrays: GroupArrays, held: Ownership, quota: Quota) -> tuple[Ownership, Ownership, Hungry]:
    """What members keep, what they lose because it is too much, and who may get more."""
    members = len(arrays.members)
    counts = np.bincount(held.owners, minlength=members)
    keep = np.minimum(counts, quota.least)
    rich = np.zeros(0, dtype=np.intp)
    if quota.extras:
        # Which of those that own too much keep one more depends on a HashMap's order of member ids.
        order = np.array(arrays.owner_order(), dtype=np.intp)
        rich = order[counts[order] > quota.least][: quota.extras]
        keep[rich] += 1
    below = [member for member in id_order(arrays.members) if counts[member] < quota.least]
    lacking = [quota.least - count for count in counts[below].tolist()]
    exact: list[int] = []
    if len(rich) < quota.extras:
        exact = [member for member in id_order(arrays.members) if counts[member] >= quota.least == keep[member]]
    hungry = Hungry(below, lacking, exact, len(rich))
    if (keep == counts).all():
        return held, _some(held, slice(0)), hungry
    places = np.arange(len(held.codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    stays = places < np.repeat(keep, counts)
    return _some(held, stays), _some(held, ~stays), hungry


def _free(arrays: GroupArrays, kept: Codes) -> Codes:
    """Partitions that nobody keeps, by topic and number.

    Kafka walks along the sorted list of the kept ones and gets stuck at one that does not exist: all behind it count
    as free again, though their owners keep them.
    """
    layout, claims = arrays.layout, arrays.claims
    free = np.ones(len(layout), dtype=np.bool_)
    if claims is None or not claims.strays:
        free[kept] = False
    else:
        free[kept[kept < _stuck_at(arrays, kept)]] = False
    return np.flatnonzero(free).astype(np.int32)


def _stuck_at(arrays: GroupArrays, kept: Codes) -> int:
    claims, layout = arrays.claims, arrays.layout
    strays = claims.strays if claims is not None else ()
    met = [strays[code - len(layout)] for code in kept[kept >= len(layout)].tolist()]
    return min((int(layout.offsets[topic + (number >= 0)]) for topic, number in met), default=len(layout))


def _fill(arrays: GroupArrays, free: Codes, hungry: Hungry, quota: Quota, racks: RackView | None) -> Given:
    early = Given(np.zeros(0, np.int32), np.zeros(0, np.int32))
    if racks is not None and racks.active:
        placed, owners = fill_by_rack(free, hungry, quota.extras, racks)
        early = Given(free[placed], np.array(owners, dtype=np.int32))
        free = np.delete(free, placed)
    late = _in_turn(hungry, len(free))
    return Given(np.concatenate((early.codes, free)), np.concatenate((early.owners, late)))


def _in_turn(hungry: Hungry, count: int) -> Owners:
    """Owners of that many partitions: turns among those below the quota, then one each for `exact` and for those who
    have just reached the quota, in the order in which they did.
    """
    lacking = np.array(hungry.lacking, dtype=np.int64)
    ends = np.cumsum(lacking)
    rounds = np.arange(int(lacking.sum())) - np.repeat(ends - lacking, lacking)
    narrow = rounds.astype(np.uint16) if lacking.max(initial=0) <= 1 << 16 else rounds
    below = np.array(hungry.below, dtype=np.int32)
    turns = np.repeat(below, lacking)[np.argsort(narrow, kind="stable")]
    filled = below[np.argsort(lacking, kind="stable")]
    owners = np.concatenate((turns, np.array(hungry.exact, dtype=np.int32), filled))
    if len(owners) < count:
        raise AssignorError(
            "IllegalStateException: no member is left to be given partitions, because members claim to own partitions "
            "that do not exist. Correct what they own."
        )
    return owners[:count]


def _in_transfer(arrays: GroupArrays, given: Given, lost: tuple[Ownership, ...], disputed: Codes) -> NDArray[np.bool_]:
    """Which given partitions another member has just lost, or more than one claimed."""
    claims = arrays.claims
    total = len(arrays.layout) + (len(claims.strays) if claims is not None else 0)
    former = np.full(total, _NONE, dtype=np.int32)
    for part in lost:
        former[part.codes] = part.owners
    before = former[given.codes]
    moving: NDArray[np.bool_] = (before != _NONE) & (before != given.owners)
    if len(disputed):
        moving |= np.isin(given.codes, disputed)
    return moving


def _joined(kept: Ownership, given: Given, members: int) -> Plan:
    """For each member what it keeps, then what it is given."""
    old = np.bincount(kept.owners, minlength=members)
    new = np.bincount(given.owners, minlength=members)
    ends = np.cumsum(old + new)
    codes = np.empty(len(kept.codes) + len(given.codes), dtype=np.int32)
    is_new = np.zeros(len(codes), dtype=np.bool_)
    starts: Numbers = ends - old - new
    narrow = given.owners.astype(np.uint16) if members <= 1 << 16 else given.owners
    by_owner = np.argsort(narrow, kind="stable")
    places = np.repeat(starts + old - (np.cumsum(new) - new), new) + np.arange(len(by_owner))
    is_new[places] = True
    codes[places] = given.codes[by_owner]
    codes[~is_new] = kept.codes
    return Plan(codes, starts, ends)
