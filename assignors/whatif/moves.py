"""The difference between two assignments, partition by partition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import overload

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import Holdings, Members, covering, holdings, pieces
from assignors.layout import Codes, Layout
from assignors.model import Assignment, TopicPartition

NOBODY = -1


class MoveKind(StrEnum):
    """Same owner, new owner, no owner any more, no owner before or after."""

    KEPT = "kept"
    GAINED = "gained"
    REVOKED = "revoked"
    UNASSIGNED = "unassigned"


_KINDS = tuple(MoveKind)
_KEPT, _GAINED, _REVOKED, _UNASSIGNED = map(np.uint8, range(len(_KINDS)))


@dataclass(frozen=True, slots=True)
class Move:
    """A partition with its owner before and after (None: no owner).

    A partition with several owners (share groups) has one move for each; gained ones have no source.
    """

    tp: TopicPartition
    source: str | None
    target: str | None
    kind: MoveKind


@dataclass(frozen=True, slots=True, eq=False)
class Moves(Sequence[Move]):
    """Moves in the order of topics and partitions, as arrays; a `Move` is created when it is read.

    `codes`: int32[n_moves], of `layout`. `sources` and `targets`: int32[n_moves], positions in `members`; -1 = none.
    `kinds`: uint8[n_moves], positions in `tuple(MoveKind)`.
    """

    layout: Layout
    members: tuple[str, ...]
    codes: Codes
    sources: Members
    targets: Members
    kinds: NDArray[np.uint8]

    def count(self, kind: MoveKind) -> int:
        """How many moves are of that kind."""
        return int(np.count_nonzero(self.kinds == _KINDS.index(kind)))

    def of(self, *kinds: MoveKind) -> "Moves":
        """The moves of those kinds."""
        return self._at(np.isin(self.kinds, [_KINDS.index(kind) for kind in kinds]))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> Move: ...
    @overload
    def __getitem__(self, at: slice) -> "Moves": ...
    def __getitem__(self, at: int | slice) -> "Move | Moves":
        if isinstance(at, slice):
            return self._at(at)
        row = range(len(self))[at]
        return next(iter(self._at(slice(row, row + 1))))

    def __iter__(self) -> Iterator[Move]:
        names = (*self.members, None)  # -1 is the last one
        columns = (self.sources.tolist(), self.targets.tolist(), self.kinds.tolist())
        for tp, source, target, kind in zip(self.layout.decode(self.codes), *columns, strict=True):
            yield Move(tp, names[source], names[target], _KINDS[kind])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def _at(self, rows: slice | NDArray[np.bool_]) -> "Moves":
        sources, targets = self.sources[rows], self.targets[rows]
        return Moves(self.layout, self.members, self.codes[rows], sources, targets, self.kinds[rows])


def moves(before: Assignment, after: Assignment, layout: Layout | None = None) -> Moves:
    """The moves between two assignments.

    `layout` has the partitions to compare; it grows if an assignment has more. None: the layouts of the assignments,
    where plain lists reach to their highest partition number. Raises AssignorError for impossible partition numbers.
    """
    old_parts, new_parts = pieces(before), pieces(after)
    layout = covering((*old_parts, *new_parts), layout)
    members = tuple(dict.fromkeys(chain(before.by_member, after.by_member)))
    position = {member: at for at, member in enumerate(members)}
    old = holdings(before, old_parts, layout, position)
    new = holdings(after, new_parts, layout, position)
    sources, targets = _owners(old, len(layout)), _owners(new, len(layout))
    codes = np.arange(len(layout), dtype=np.int32)
    single = Moves(layout, members, codes, sources, targets, _kinds(sources, targets))
    if _has_one_each(old, sources) and _has_one_each(new, targets):
        return single
    return _with_several(single, _pairs(old, len(members)), _pairs(new, len(members)))


def _owners(held: Holdings, partitions: int) -> Members:
    owners = np.full(partitions, NOBODY, dtype=np.int32)
    owners[held.codes] = held.owners
    return owners


def _has_one_each(held: Holdings, owners: Members) -> bool:
    return len(held.codes) == np.count_nonzero(owners != NOBODY)


def _kinds(sources: Members, targets: Members) -> NDArray[np.uint8]:
    owned = np.where(sources == targets, _KEPT, _GAINED)
    lost = np.where(sources == NOBODY, _UNASSIGNED, _REVOKED)
    return np.where(targets == NOBODY, lost, owned)


def _pairs(held: Holdings, members: int) -> NDArray[np.int64]:
    """code * members + owner of each pair, sorted and unique: int64[n_pairs]."""
    return np.unique(held.codes.astype(np.int64) * members + held.owners)


def _with_several(single: Moves, old: NDArray[np.int64], new: NDArray[np.int64]) -> Moves:
    """The moves, with one per owner for partitions that have or had several."""
    members, total = len(single.members), len(single.layout)
    most = [np.bincount(pairs // members, minlength=total) for pairs in (old, new)]
    several = np.maximum(*most) > 1
    old, new = (pairs[several[pairs // members]] for pairs in (old, new))
    kept = np.intersect1d(old, new, assume_unique=True)
    gained = np.setdiff1d(new, old, assume_unique=True)
    revoked = np.setdiff1d(old, new, assume_unique=True)
    pairs = np.concatenate((kept, gained, revoked))
    kinds = np.repeat([_KEPT, _GAINED, _REVOKED], [len(kept), len(gained), len(revoked)])
    who = (pairs % members).astype(np.int32)
    sources, targets = np.where(kinds == _GAINED, NOBODY, who), np.where(kinds == _REVOKED, NOBODY, who)
    shared = Moves(single.layout, single.members, (pairs // members).astype(np.int32), sources, targets, kinds)
    return _merged(single._at(~several), shared)


def _merged(first: Moves, second: Moves) -> Moves:
    codes = np.concatenate((first.codes, second.codes))
    order = np.argsort(codes, kind="stable")
    sources = np.concatenate((first.sources, second.sources))[order]
    targets = np.concatenate((first.targets, second.targets))[order]
    kinds = np.concatenate((first.kinds, second.kinds))[order]
    return Moves(first.layout, first.members, codes[order], sources, targets, kinds)
