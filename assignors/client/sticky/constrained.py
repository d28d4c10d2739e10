"""The sticky assignors when all members have one subscription (Kafka: `ConstrainedAssignmentBuilder`).

Members keep what they own up to their quota; unassigned partitions go to members below the smaller quota in turn, then
one each to others. Kafka walks over lists; here each step is a closed form over arrays, except the one for racks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers, Plan, collected
from assignors.client.sticky.claims_resolution import Ownership
from assignors.client.sticky.rack_info import RackView
from assignors.client.sticky.unfilled_members import UnfilledMembers
from assignors.layout import Codes, id_order

_NONE = -1


@dataclass(frozen=True, slots=True)
class NewlyAssigned:
    """Unassigned partitions in the order of their assignment: int32[n] codes, int32[n] owners."""

    codes: Codes
    owners: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ConstrainedAssignment:
    """What members keep and get; `in_transfer`: which of the new partitions another member still holds."""

    kept: Ownership
    new: NewlyAssigned
    in_transfer: NDArray[np.bool_]

    def plan(self, members: int, *, cooperative: bool) -> Plan:
        """Lists of what is kept, then of what is new. Cooperative: partitions in transfer have to wait."""
        new = self.new
        if cooperative and self.in_transfer.any():
            new = NewlyAssigned(new.codes[~self.in_transfer], new.owners[~self.in_transfer])
        return _joined(self.kept, new, members)


def assign(arrays: GroupArrays, owned: Ownership, racks: RackView | None) -> ConstrainedAssignment:
    """Keep, then fill. Raises AssignorError where Kafka throws: claims on partitions that do not exist can do that."""
    held, lost = _held(arrays, owned, racks)
    kept, cut, unfilled = _within_quota(arrays, held)
    unassigned = _unassigned(arrays, kept.codes)
    if racks is not None:
        unassigned = unassigned[np.argsort(racks.neighbours[unassigned], kind="stable")]
    new = _fill(unassigned, unfilled, racks)
    return ConstrainedAssignment(kept, new, _in_transfer(arrays, new, (lost, cut), owned.disputed))


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


def _within_quota(arrays: GroupArrays, held: Ownership) -> tuple[Ownership, Ownership, UnfilledMembers]:
    """What members keep, what they lose because it is too much, and who may get more."""
    members = len(arrays.members)
    min_quota, over_min_quota = divmod(len(arrays.layout), members)
    counts = np.bincount(held.owners, minlength=members)
    keep = np.minimum(counts, min_quota)
    over = np.zeros(0, dtype=np.intp)
    if over_min_quota:
        # Which of those that own too much keep one more depends on a HashMap's order of member ids.
        order = np.array(arrays.owner_order(), dtype=np.intp)
        over = order[counts[order] > min_quota][:over_min_quota]
        keep[over] += 1
    under = [member for member in id_order(arrays.members) if counts[member] < min_quota]
    missing = [min_quota - count for count in counts[under].tolist()]
    exactly: list[int] = []
    if len(over) < over_min_quota:
        exactly = [member for member in id_order(arrays.members) if counts[member] >= min_quota == keep[member]]
    unfilled = UnfilledMembers(under, missing, exactly, len(over), over_min_quota)
    if (keep == counts).all():
        return held, _some(held, slice(0)), unfilled
    places = np.arange(len(held.codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    stays = places < np.repeat(keep, counts)
    return _some(held, stays), _some(held, ~stays), unfilled


def _unassigned(arrays: GroupArrays, kept: Codes) -> Codes:
    """Partitions that no member keeps, by topic and number.

    Kafka iterates over the sorted list of the kept ones and stops at one that does not exist: all behind it count as
    unassigned, though their owners keep them.
    """
    layout, claims = arrays.layout, arrays.claims
    unassigned = np.ones(len(layout), dtype=np.bool_)
    if claims is None or not claims.strays:
        unassigned[kept] = False
    else:
        unassigned[kept[kept < _stops_at(arrays, kept)]] = False
    return np.flatnonzero(unassigned).astype(np.int32)


def _stops_at(arrays: GroupArrays, kept: Codes) -> int:
    claims, layout = arrays.claims, arrays.layout
    strays = claims.strays if claims is not None else ()
    met = [strays[code - len(layout)] for code in kept[kept >= len(layout)].tolist()]
    return min((int(layout.offsets[topic + (number >= 0)]) for topic, number in met), default=len(layout))


def _fill(unassigned: Codes, unfilled: UnfilledMembers, racks: RackView | None) -> NewlyAssigned:
    """Assign all partitions: first to members in their racks, then in turn."""
    in_rack = NewlyAssigned(np.zeros(0, np.int32), np.zeros(0, np.int32))
    if racks is not None and racks.active:
        positions, owners = unfilled.by_rack(unassigned, racks)
        in_rack = NewlyAssigned(unassigned[positions], np.array(owners, dtype=np.int32))
        unassigned = np.delete(unassigned, positions)
    others = unfilled.in_turn(len(unassigned))
    return NewlyAssigned(np.concatenate((in_rack.codes, unassigned)), np.concatenate((in_rack.owners, others)))


def _in_transfer(
    arrays: GroupArrays, new: NewlyAssigned, lost: tuple[Ownership, ...], disputed: Codes
) -> NDArray[np.bool_]:
    """bool[n_new]: partitions that another member has just lost, or that several members claimed."""
    claims = arrays.claims
    total = len(arrays.layout) + (len(claims.strays) if claims is not None else 0)
    former = np.full(total, _NONE, dtype=np.int32)
    for part in lost:
        former[part.codes] = part.owners
    before = former[new.codes]
    moving: NDArray[np.bool_] = (before != _NONE) & (before != new.owners)
    if len(disputed):
        moving |= np.isin(new.codes, disputed)
    return moving


def _joined(kept: Ownership, new: NewlyAssigned, members: int) -> Plan:
    """For each member what it keeps, then what is new."""
    old = np.bincount(kept.owners, minlength=members)
    added = np.bincount(new.owners, minlength=members)
    ends = np.cumsum(old + added)
    codes = np.empty(len(kept.codes) + len(new.codes), dtype=np.int32)
    is_new = np.zeros(len(codes), dtype=np.bool_)
    starts: Numbers = ends - old - added
    narrow = new.owners.astype(np.uint16) if members <= 1 << 16 else new.owners
    by_owner = np.argsort(narrow, kind="stable")
    places = np.repeat(starts + old - (np.cumsum(added) - added), added) + np.arange(len(by_owner))
    is_new[places] = True
    codes[places] = new.codes[by_owner]
    codes[~is_new] = kept.codes
    return Plan(codes, starts, ends)
