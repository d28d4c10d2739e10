"""Who owned each partition over time, and how long it had no owner, as far as records tell.

- Classic, eager: all members revoke everything before they join again. Records have the time when the last member had
  joined and when the assignment arrived; the start of the wait for members is not recorded, so a time is "at least".
- Classic, cooperative: a partition that moves is revoked when one assignment arrives, and assigned by the next.
- KIP-848: the steps of the reconciliation have the acknowledged revocation of the old owner and the partitions of the
  new one. The revocation itself happens shortly before it is acknowledged.
- A partition of a member that is gone counts from when the coordinator noticed it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import translated
from assignors.layout import Layout
from assignors.model import TopicPartition
from assignors.whatif.moves import NOBODY
from assignors.whatif.ownership_history import MISSING, OwnershipHistory, ownership_history
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of
from lag.generations.recorded import MemberState, Origin, RecordedGeneration, Recording, causes

Times = NDArray[np.int64]
NEVER_MS = np.iinfo(np.int64).max
"""Stands in place of a time: by the last record of the generation it had not happened."""

SECOND_ROUND = re.compile(r" \(rebalance \d+\)$")
"""Such a rebalance assigns what the one before it has revoked (KIP-429)."""

FROM_POLLS = "polls do not see when a partition is revoked"
SHARED = "partitions of a share group have several owners"
NO_JOIN_TIME = "its record does not say when the last member joined"
UNFINISHED = "not all members have reached their target assignment"


class Holding(StrEnum):
    """What is known of a partition during a span."""

    OWNED = "owned"
    UNOWNED = "no owner"
    UNKNOWN = "unknown"
    ABSENT = "does not exist"


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which a partition had one owner (a member id), or none."""

    start_ms: int
    end_ms: int
    holding: Holding
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class WithoutOwner:
    """How long partitions had no owner in one rebalance: the longest of them, and the sum of all.

    Times are None with a `reason` if records do not tell. `at_least`: the beginning is not recorded.
    """

    partitions: int = 0
    longest_ms: int | None = None
    total_ms: int | None = None
    at_least: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Gaps:
    """By move of a generation: without an owner from `lost` to `owned` (int64[n_moves]); equal: never.

    NEVER_MS in `owned`: the new owner has not received it.
    """

    lost: Times
    owned: Times
    at_least: bool
    reason: str = ""


def without_owner(one: RecordedGeneration, origin: Origin, before_ms: int | None = None) -> WithoutOwner:
    """The time without an owner in one rebalance. `before_ms`: when the assignment before it was written.

    It is the start for partitions that a cooperative rebalance revoked and this one assigns.
    """
    reason = _obstacle(one, origin)
    if reason:
        return WithoutOwner(reason=reason)
    gaps = _gaps(one, before_ms)
    if gaps.reason or (gaps.owned == NEVER_MS).any():
        return WithoutOwner(reason=gaps.reason or UNFINISHED)
    lasted = gaps.owned - gaps.lost
    count = int(np.count_nonzero(lasted))
    return WithoutOwner(count, int(lasted.max(initial=0)), int(lasted.sum()), gaps.at_least and count > 0)


def without_owner_in(recording: Recording, at: int) -> WithoutOwner | None:
    """The time without an owner in rebalance `at` of a recording; None for its first generation, the starting point."""
    if not at:
        return None
    before, one = recording.generations[at - 1 : at + 1]
    return without_owner(one, recording.origin, before.generation.at_ms)


def _obstacle(one: RecordedGeneration, origin: Origin) -> str:
    if protocol_of(one.generation.assignor) is RebalanceProtocol.SHARE:
        return SHARED
    return FROM_POLLS if origin is Origin.INFERRED else ""


def _gaps(one: RecordedGeneration, before_ms: int | None, pending: NDArray[np.bool_] | None = None) -> _Gaps:
    generation = one.generation
    at = np.full(len(generation.moves), generation.at_ms, dtype=np.int64)
    if not generation.quality.rebalances or not generation.members:
        return _Gaps(at, at.copy(), False)
    match protocol_of(generation.assignor):
        case RebalanceProtocol.EAGER:
            return _eager(one, at)
        case RebalanceProtocol.COOPERATIVE:
            return _cooperative(one, at, before_ms)
    return _reconciled(one, at, pending)


def _eager(one: RecordedGeneration, at: Times) -> _Gaps:
    """All partitions that had an owner have none until the assignment arrives."""
    had_owner = one.generation.moves.sources != NOBODY
    if one.began_ms is None:
        return _Gaps(at, at.copy(), False, NO_JOIN_TIME if had_owner.any() else "")
    return _Gaps(np.where(had_owner, min(one.began_ms, one.generation.at_ms), at), at, True)


def _cooperative(one: RecordedGeneration, at: Times, before_ms: int | None) -> _Gaps:
    moves, lost = one.generation.moves, at.copy()
    orphaned = _orphaned(one)
    if one.began_ms is not None:
        lost[orphaned] = min(one.began_ms, one.generation.at_ms)
    if before_ms is not None and SECOND_ROUND.search(one.generation.event):
        lost[(moves.sources == NOBODY) & (moves.targets != NOBODY)] = before_ms
    return _Gaps(lost, at, bool(orphaned.any()))


def _orphaned(one: RecordedGeneration) -> NDArray[np.bool_]:
    """Which moves are of partitions whose owner is gone: bool[n_moves]."""
    moves, present = one.generation.moves, {member.member_id for member in one.generation.members}
    is_gone = np.array([*(name not in present for name in moves.members), False], dtype=np.bool_)
    return is_gone[moves.sources]


def _reconciled(one: RecordedGeneration, at: Times, pending: NDArray[np.bool_] | None) -> _Gaps:
    """KIP-848. `pending`: bool[n_moves], partitions that their owner had not received before."""
    moves = one.generation.moves
    waits = pending if pending is not None else np.zeros(len(moves), dtype=np.bool_)
    moved = (moves.sources != moves.targets) | waits
    orphaned, began = _orphaned(one), one.began_ms or one.generation.at_ms
    free = orphaned | (moves.sources == NOBODY)
    lost, owned = at.copy(), at.copy()
    acknowledged = [_acknowledged(one, name) for name in moves.members]
    received = [
        _received(one, name, moves.targets, free, at_position) for at_position, name in enumerate(moves.members)
    ]
    for row in np.flatnonzero(moved).tolist():
        source, target = int(moves.sources[row]), int(moves.targets[row])
        end = NEVER_MS if target == NOBODY else received[target][0 if free[row] else 1]
        begin = began if orphaned[row] else end if source in (NOBODY, target) else acknowledged[source]
        owned[row] = one.generation.at_ms if target == NOBODY else end
        lost[row] = min(owned[row], owned[row] if begin is None else begin)
    return _Gaps(lost, owned, True)


def _acknowledged(one: RecordedGeneration, name: str) -> int | None:
    """When the member acknowledged that it has revoked what leaves it; None: not recorded."""
    mine = [step for step in one.steps if step.member_id == name]
    last = max((at for at, step in enumerate(mine) if step.state is MemberState.UNREVOKED), default=None)
    return mine[last + 1].at_ms if last is not None and last + 1 < len(mine) else None


def _received(
    one: RecordedGeneration, name: str, targets: NDArray[np.int32], free: NDArray[np.bool_], position: int
) -> tuple[int, int]:
    """When the member had the free ones of its new partitions, and when it had all of them."""
    mine = [step for step in one.steps if step.member_id == name and step.state is not MemberState.UNREVOKED]
    after = int(np.count_nonzero(targets == position))
    late = int(np.count_nonzero((targets == position) & ~free & (one.generation.moves.sources != position)))
    fallback = NEVER_MS if one.settled_ms is None else one.settled_ms
    first = next((step.at_ms for step in mine if step.partitions >= after - late), fallback)
    return first, next((step.at_ms for step in mine if step.partitions >= after), fallback)


# -- over all generations ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnershipTimeline:
    """Who owned each partition from the first generation to `until_ms`.

    `history.owners` is int32[n_generations, n_partitions]. `lost` and `owned`: int64[n_generations, n_partitions], in
    order of time; between them a partition has no owner, or it is not known (`known`: bool of the same shape).
    `reason`: why times without an owner are not known at all; "" if they are.
    """

    history: OwnershipHistory
    lost: Times
    owned: Times
    known: NDArray[np.bool_]
    until_ms: int
    at_least: bool
    reason: str

    @property
    def layout(self) -> Layout:
        """The partitions."""
        return self.history.layout

    @property
    def since_ms(self) -> int:
        """When the first generation was written."""
        return int(self.owned[0, 0]) if self.owned.size else self.until_ms

    def partitions(self) -> list[TopicPartition]:
        """The partitions in the order of their columns."""
        return list(self.layout.decode(np.arange(len(self.layout), dtype=np.int32)))

    def spans(self, column: int) -> list[Span]:
        """The spans of one partition, without holes from `since_ms` to `until_ms`; neighbours differ."""
        found: list[Span] = []
        ends = [*self.lost[1:, column].tolist(), self.until_ms]
        for row, owner in enumerate(self.history.owners[:, column].tolist()):
            lost, owned = int(self.lost[row, column]), int(self.owned[row, column])
            gap = Holding.ABSENT if owner == MISSING else Holding.UNOWNED
            _append(found, Span(lost, owned, gap if self.known[row, column] else Holding.UNKNOWN))
            _append(found, self._span(owned, ends[row], owner))
        return found

    def _span(self, start_ms: int, end_ms: int, owner: int) -> Span:
        if owner < 0:
            return Span(start_ms, end_ms, Holding.ABSENT if owner == MISSING else Holding.UNOWNED)
        return Span(start_ms, end_ms, Holding.OWNED, self.history.members[owner])

    @cached_property
    def without_owner_ms(self) -> Times:
        """How long each partition had no owner: int64[n_partitions]."""
        exists = self.history.owners != MISSING
        gaps = np.where(self.known & exists, self.owned - self.lost, 0)
        ends = np.vstack([self.lost[1:], np.full((1, self.lost.shape[1]), self.until_ms, dtype=np.int64)])
        rests = np.where(self.history.owners == NOBODY, ends - self.owned, 0)
        total: Times = (gaps + rests).sum(axis=0)
        return total


def _append(found: list[Span], new: Span) -> None:
    """Add the span, or make the last one longer."""
    if new.end_ms <= new.start_ms:
        return
    last = found[-1] if found else None
    if last is not None and (last.holding, last.owner) == (new.holding, new.owner):
        found[-1] = Span(last.start_ms, new.end_ms, new.holding, new.owner)
    else:
        found.append(new)


def ownership_timeline(recording: Recording, until_ms: int) -> OwnershipTimeline:
    """Who owned each partition since the oldest generation of the recording, which has at least one.

    Raises ValueError without a generation.
    """
    shown = recording.generations
    if not shown:
        raise ValueError("there is no generation")
    history = ownership_history([one.generation for one in shown])
    _keep_partitions_of_an_empty_group(shown, history)
    shape = history.owners.shape
    lost, owned, known = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.ones(shape, np.bool_)
    at_least, reason, pending = False, "", np.zeros(shape[1], np.bool_)
    for row, one in enumerate(shown):
        lost[row] = owned[row] = one.generation.at_ms
        gaps, why = _row(shown, row, recording.origin, pending[_codes(one, history.layout)])
        reason = reason or why
        if gaps is not None:
            codes = _codes(one, history.layout)
            lost[row, codes], owned[row, codes] = gaps.lost, gaps.owned
            at_least = at_least or (gaps.at_least and bool((gaps.owned > gaps.lost).any()))
            pending = owned[row] == NEVER_MS
            known[row] = ~pending
    _put_in_order(lost, owned, max(until_ms, shown[-1].generation.at_ms))
    end_ms = max(until_ms, int(owned.max(initial=0)))
    return OwnershipTimeline(history, lost, owned, known, end_ms, at_least, reason)


def _keep_partitions_of_an_empty_group(shown: Sequence[RecordedGeneration], history: OwnershipHistory) -> None:
    """Without members nobody subscribes, but the partitions exist; after a deletion the group has none."""
    for row, one in enumerate(shown):
        if row and not one.generation.members and one.generation.event != causes.DELETED:
            owners = history.owners[row]
            owners[(owners == MISSING) & (history.owners[row - 1] != MISSING)] = NOBODY


def _row(
    shown: Sequence[RecordedGeneration], row: int, origin: Origin, pending: NDArray[np.bool_]
) -> tuple[_Gaps | None, str]:
    """The gaps of one generation, or why there are none; the first one has no moves."""
    if row == 0:
        return None, ""
    why = _obstacle(shown[row], origin)
    if why:
        return None, why
    gaps = _gaps(shown[row], None, pending)
    return gaps, gaps.reason


def _codes(one: RecordedGeneration, layout: Layout) -> NDArray[np.int32]:
    return translated(one.generation.moves.codes, one.generation.moves.layout, layout)


def _put_in_order(lost: Times, owned: Times, until_ms: int) -> None:
    """No gap may end after the next one begins, or after `until_ms`; no time may be before an earlier one."""
    np.minimum(lost, until_ms, out=lost)
    for row in range(len(lost) - 2, -1, -1):
        np.minimum(owned[row], lost[row + 1], out=owned[row])
    np.minimum(owned, until_ms, out=owned)
    bounds = np.stack([lost, owned], axis=1).reshape(2 * len(lost), -1)
    np.maximum.accumulate(bounds, axis=0, out=bounds)
    lost[:], owned[:] = bounds[0::2], bounds[1::2]
