"""Random cases put to an oracle: how many there were, and which differ.

A case is known by its seed and number alone, so that each can be looked at again.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one case: the oracle's name, whether Java refused it, and how ours differs ("": not at all)."""

    name: str
    difference: str = ""
    refused: bool = False


@dataclass(slots=True)
class Tally:
    """What a run has seen; cases by oracle, differences with their numbers."""

    cases: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    differences: list[tuple[int, Checked]] = field(default_factory=list)

    def add(self, number: int, checked: Checked) -> None:
        """Count one case."""
        self.cases[checked.name] += 1
        self.refused += checked.refused
        if checked.difference:
            self.differences.append((number, checked))

    def __iadd__(self, other: "Tally") -> "Tally":
        self.cases += other.cases
        self.refused += other.refused
        self.differences += other.differences
        return self


Check = Callable[[int, int], Iterable[Checked]]


def generator(seed: int, number: int) -> random.Random:
    """The random numbers of one case, or of the few cases that have one number."""
    return random.Random(f"{seed}/{number}")


def run(
    check: Check,
    seed: int,
    *,
    cases: int | None = None,
    seconds: float | None = None,
    numbers: Iterable[int] | None = None,
) -> Tally:
    """Check number after number (None: 0, 1, 2, ...) until there were so many cases, or until the time is over."""
    end = None if seconds is None else time.monotonic() + seconds
    tally = Tally()
    for number in count() if numbers is None else numbers:
        if (cases is not None and tally.cases.total() >= cases) or (end is not None and time.monotonic() >= end):
            break
        for checked in check(seed, number):
            tally.add(number, checked)
    return tally
