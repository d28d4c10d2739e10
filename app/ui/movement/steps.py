"""Generations as arrays: who owned each partition after each, and what that changed. Every picture reads this."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assignors.model import TopicPartition

NOBODY, ABSENT = -1, -2
"""In place of an owner: the partition has none; it does not exist."""
NO_OWNER = "unassigned"
"""What pages call NOBODY."""
KEPT, GAINED, REVOKED, UNASSIGNED = range(4)
"""Kinds as numbers: positions in `assignors.whatif.moves.MoveKind`."""
NO_CELL = -1
"""In place of a kind: the partition did and does not exist."""

Owners = NDArray[np.int32]
Kinds = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Steps:
    """Some generations of some partitions, in order.

    `start` is who owned each partition before the first of them, `owners` [generations x partitions] who did after
    each: positions in `members`, NOBODY or ABSENT. `present` [generations x members] says who was a member. `ids` are
    the member ids where `members` are shorter names.
    """

    names: tuple[str, ...]
    events: tuple[str, ...]
    members: tuple[str, ...]
    topics: tuple[str, ...]
    topic_of: NDArray[np.int32]
    numbers: NDArray[np.int32]
    start: Owners
    owners: Owners
    present: NDArray[np.bool_]
    ids: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def partitions(self) -> int:
        """How many partitions are looked at, whether they exist all the time or not."""
        return len(self.topic_of)

    def before(self, at: int) -> Owners:
        """Who owned each partition before that generation."""
        return self.owners[at - 1] if at else self.start

    def kinds(self, at: int) -> Kinds:
        """What that generation did to each partition."""
        return kinds_of(self.before(at), self.owners[at])

    def all_kinds(self) -> Kinds:
        """What each generation did to each partition [generations x partitions]."""
        return kinds_of(np.vstack([self.start[None, :], self.owners[:-1]]), self.owners)

    def counts(self) -> NDArray[np.int32]:
        """Partitions of each member after each generation [generations x members]."""
        n = len(self.members)
        rows = [np.bincount(row[row >= 0], minlength=n) for row in self.owners]
        return np.array(rows, dtype=np.int32).reshape(len(self), n)

    def partition(self, column: int) -> TopicPartition:
        """The partition in that column."""
        return TopicPartition(self.topics[self.topic_of[column]], int(self.numbers[column]))

    def owner(self, position: int) -> str:
        """The display name of an owner."""
        return self.members[position] if position >= 0 else NO_OWNER

    def full_owner(self, position: int) -> str:
        """The member id of an owner, for hovering."""
        return self.ids[position] if position >= 0 and self.ids else self.owner(position)

    def title(self, at: int) -> str:
        """Number and event of a generation: "4 · c1 left"."""
        return f"{self.names[at]} · {self.events[at]}"

    def only(self, mask: NDArray[np.bool_]) -> "Steps":
        """The same generations of some of the partitions."""
        return replace(
            self,
            topic_of=self.topic_of[mask],
            numbers=self.numbers[mask],
            start=self.start[mask],
            owners=self.owners[:, mask],
        )

    def topic(self, name: str) -> "Steps":
        """The same generations of one topic. ValueError when it is none of them."""
        return self.only(self.topic_of == self.topics.index(name))

    def movers(self) -> NDArray[np.bool_]:
        """Which partitions changed in any of the generations after the first."""
        kinds = self.all_kinds()[1:]
        return np.asarray(((kinds == GAINED) | (kinds == REVOKED)).any(axis=0))

    def first_move(self, after: int = 0) -> int | None:
        """The first generation after that one in which a partition changed owners; None if none does."""
        kinds = self.all_kinds()[after + 1 :]
        moves = np.flatnonzero(((kinds == GAINED) | (kinds == REVOKED)).any(axis=1))
        return int(moves[0]) + after + 1 if len(moves) else None

    def window(self, first: int, last: int) -> "Steps":
        """Generations `first` up to but not including `last`."""
        return replace(
            self,
            names=self.names[first:last],
            events=self.events[first:last],
            start=self.before(first),
            owners=self.owners[first:last],
            present=self.present[first:last],
        )


def kinds_of(before: NDArray[np.int32], after: NDArray[np.int32]) -> Kinds:
    """What a change of owners is for each partition.

    A deleted partition is revoked from who had it; from then on it does not exist (NO_CELL).
    """
    has, had = after >= 0, before >= 0
    kinds = np.full(after.shape, UNASSIGNED, dtype=np.int8)
    kinds[has] = GAINED
    kinds[has & (after == before)] = KEPT
    kinds[after == ABSENT] = NO_CELL
    kinds[~has & had] = REVOKED
    return kinds


def largest(values: NDArray[np.signedinteger], most: int) -> NDArray[np.intp]:
    """Positions of the `most` largest values, ascending; of equal values the first."""
    return np.sort(np.argsort(-values, kind="stable")[:most])


def small(values: NDArray[np.int32]) -> NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]:
    """The same numbers, none negative, in as few bytes as possible for the browser."""
    most = values.max(initial=0)
    return values.astype(np.uint8) if most < 256 else values.astype(np.uint16) if most < 65_536 else values
