"""One scenario under several assignors."""

from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from assignors.registry import names
from assignors.whatif.events import Event, Scenario, UseAssignor
from assignors.whatif.generations import Generation
from assignors.whatif.moves import MoveKind, moves
from assignors.whatif.quality import Quality, given_up

SHARE = "share-simple"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The generations under one assignor; `error` says why it cannot assign the group."""

    assignor: str
    generations: tuple[Generation, ...] = ()
    error: str | None = None

    @property
    def last(self) -> Quality | None:
        return self.generations[-1].quality if self.generations else None

    @property
    def change(self) -> tuple[Generation, ...]:
        """The rebalances by which the group changed to the assignor; none if it had it at the start."""
        later = self.generations[1:]
        if not later or self.generations[0].assignor == self.assignor:
            return ()
        return tuple(takewhile(lambda made: made.at_ms == 0, later))

    def moved(self) -> int:
        """How often an owner gave up a partition."""
        return sum(generation.quality.moved for generation in self.generations[1:])

    def moved_partitions(self) -> int:
        """Partitions that an owner gave up at least once: fewer than `moved` where one moves several times."""
        given = [(one.moves.layout, given_up(one.moves, one.topics)) for one in self.generations[1:]]
        given = [(layout, codes) for layout, codes in given if len(codes)]
        if len(given) < 2:
            return sum(len(np.unique(codes)) for _, codes in given)
        return len({tp for layout, codes in given for tp in layout.decode(np.unique(codes))})

    def stayed(self) -> int:
        """Partitions with the same owner at the start and at the end."""
        return moves(self.generations[0].after, self.generations[-1].after).count(MoveKind.KEPT)

    def rebalances(self) -> int:
        """Rebalances after the start."""
        return sum(generation.quality.rebalances for generation in self.generations[1:])

    def paused(self) -> int:
        """How often a partition paused for a rebalance."""
        return sum(generation.quality.paused for generation in self.generations[1:])


def compatible_assignors(scenario: Scenario) -> list[str]:
    """The names of the assignors for this type of group, its own first. Share groups have only one."""
    if scenario.assignor == SHARE:
        return [SHARE]
    return list(dict.fromkeys([scenario.assignor, *(name for name in names() if name != SHARE)]))


def with_change_to(scenario: Scenario, assignor: str) -> tuple[Scenario, str]:
    """The scenario and the assignor to fold so that the group changes to `assignor` before the first event.

    A group that owns nothing yet, or an assignor without a registered name, simply starts with it.
    """
    if assignor == scenario.assignor or assignor not in names():
        return scenario, assignor
    if not any(member.owned for member in scenario.members):
        return scenario, assignor
    return replace(scenario, events=(Event(0, UseAssignor(assignor)), *scenario.events)), scenario.assignor
