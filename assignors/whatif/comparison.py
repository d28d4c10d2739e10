"""One scenario under one assignor after the other, and what comes of it under each."""

from dataclasses import dataclass, replace

from assignors.registry import names
from assignors.whatif.events import Event, Scenario, UseAssignor
from assignors.whatif.generations import Generation
from assignors.whatif.moves import MoveKind, moves
from assignors.whatif.quality import Quality

SHARE = "share-simple"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where an assignor takes the group, from the first generation to the last; `error` says why it cannot."""

    assignor: str
    generations: tuple[Generation, ...] = ()
    error: str | None = None

    @property
    def last(self) -> Quality | None:
        """The figures of the last generation."""
        return self.generations[-1].quality if self.generations else None

    def moved(self) -> int:
        """Partitions that their owner gave up, once for each time."""
        return sum(generation.quality.moved for generation in self.generations[1:])

    def stayed(self) -> int:
        """Partitions that have the same owner at the end as at the start."""
        return moves(self.generations[0].after, self.generations[-1].after).count(MoveKind.KEPT)

    def rebalances(self) -> int:
        """Rebalances after the start."""
        return sum(generation.quality.rebalances for generation in self.generations[1:])

    def paused(self) -> int:
        """Partitions that stopped, once for each rebalance in which they did."""
        return sum(generation.quality.paused for generation in self.generations[1:])


def fitting(scenario: Scenario) -> list[str]:
    """The named assignors that can plan the group, its own first: share groups have one of their own."""
    if scenario.assignor == SHARE:
        return [SHARE]
    return list(dict.fromkeys([scenario.assignor, *(name for name in names() if name != SHARE)]))


def switched(scenario: Scenario, assignor: str) -> tuple[Scenario, str]:
    """What to fold so that the group changes to that assignor first; one that has no name begins with the events."""
    if assignor == scenario.assignor or assignor not in names():
        return scenario, assignor
    if not any(member.owned for member in scenario.members):
        return scenario, assignor
    return replace(scenario, events=(Event(0, UseAssignor(assignor)), *scenario.events)), scenario.assignor
