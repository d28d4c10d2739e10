"""What a sweep asks, and its cases by number: any of them can be computed by itself, anywhere, again."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

from assignors.registry import BUILT_IN
from assignors.whatif.comparison import compatible_assignors
from assignors.whatif.events import Scenario
from lag.errors import ConfigError

MOST_CASES = 5_000_000
"""The driver holds their rows: some 300 bytes each."""
MOST_MEMBERS = 10_000
ALL = "all"
SPARK, LOCAL = "spark", "local"
"""Where a sweep runs."""

_RANGE = re.compile(r"(\d{1,5})(?:\.\.(\d{1,5}))?", re.ASCII)
_FACTOR = re.compile(r"x(\d{1,3}(?:\.\d{1,3})?)", re.ASCII)


class Failure(StrEnum):
    """What happens once the group has its assignor and its members."""

    NONE = "none"
    CRASH = "crash"  # one member dies
    THIRD = "third"  # a third of the members, rounded up, dies at once
    RACK = "rack"  # all members of one rack die at once
    RESTART = "restart"  # every member restarts, one after the other


@dataclass(frozen=True, slots=True)
class Size:
    """How many members: a number, or so many times as many as there are."""

    count: int | None = None
    factor: float | None = None

    def of(self, members: int) -> int:
        """The number for a group of so many members; at least 1."""
        return self.count if self.count is not None else max(1, round(members * (self.factor or 0.0)))


@dataclass(frozen=True, slots=True)
class Asked:
    """Of every group: these assignors (none named: all that fit), these numbers of members, these failures."""

    assignors: tuple[str, ...] = ()
    sizes: tuple[Size, ...] = (Size(factor=1.0),)
    failures: tuple[Failure, ...] = (Failure.NONE,)


@dataclass(frozen=True, slots=True)
class Case:
    """One case: `group` is the position of its scenario."""

    group: int
    assignor: str
    members: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class Plan:
    """Every case of a sweep, group by group. Raises ConfigError: there are too many, or none, or one is too large."""

    scenarios: Sequence[Scenario]
    asked: Asked
    _ends: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for its in self.scenarios:
            self._check_members(its)
        each = (len(self._assignors(its)) * len(self._members(its)) for its in self.scenarios)
        ends = [len(self.asked.failures) * end for end in accumulate(each)]
        object.__setattr__(self, "_ends", ends)
        if not ends:
            raise ConfigError("There is no group to sweep", "Name a cluster, a snapshot or a fleet with groups in it.")
        if ends[-1] > MOST_CASES:
            hint = "Name fewer assignors, numbers of members or groups."
            raise ConfigError(f"{ends[-1]:,} cases are more than the {MOST_CASES:,} of one sweep", hint)

    def _check_members(self, its: Scenario) -> None:
        most = self._members(its)[-1]
        if most > max(MOST_MEMBERS, len(its.members)):
            hint = "Name a smaller factor."
            raise ConfigError(f"{most:,} members of {its.name} are more than the {MOST_MEMBERS:,} of one case", hint)

    def __len__(self) -> int:
        return self._ends[-1]

    def case(self, number: int) -> Case:
        """Case `number`, from 0."""
        group = bisect_right(self._ends, number)
        its = self.scenarios[group]
        rest, failure = divmod(number - (self._ends[group - 1] if group else 0), len(self.asked.failures))
        members = self._members(its)
        assignor, size = divmod(rest, len(members))
        return Case(group, self._assignors(its)[assignor], members[size], self.asked.failures[failure])

    def _assignors(self, its: Scenario) -> Sequence[str]:
        return self.asked.assignors or [name for name in compatible_assignors(its) if name in BUILT_IN]

    def _members(self, its: Scenario) -> Sequence[int]:
        return sorted({size.of(len(its.members)) for size in self.asked.sizes})


def parse_assignors(words: Sequence[str]) -> tuple[str, ...]:
    """Names, each once; none for `all`. Raises ConfigError on an unknown one."""
    if not words or ALL in words:
        return ()
    for word in words:
        if word not in BUILT_IN:
            raise ConfigError(f"There is no assignor {word!r}", f"There are {', '.join(BUILT_IN)}, and {ALL}.")
    return tuple(dict.fromkeys(words))


def parse_sizes(text: str) -> tuple[Size, ...]:
    """`1..20`, `3,6,12`, `x0.5,x1,x2`, or a mixture. Raises ConfigError naming the part that is none."""
    return tuple(dict.fromkeys(size for part in text.split(",") for size in _sizes(part.strip())))


def _sizes(part: str) -> Sequence[Size]:
    if (found := _FACTOR.fullmatch(part)) and float(found[1]) > 0:
        return [Size(factor=float(found[1]))]
    if (found := _RANGE.fullmatch(part)) and 1 <= int(found[1]) <= int(found[2] or found[1]) <= MOST_MEMBERS:
        return [Size(count=count) for count in range(int(found[1]), int(found[2] or found[1]) + 1)]
    hint = f"Write for example 1..20, 3,6,12 or x0.5,x1,x2; at most {MOST_MEMBERS:,}."
    raise ConfigError(f"{part[:40]!r} is no number of members", hint)


def parse_failures(words: Sequence[str]) -> tuple[Failure, ...]:
    """`none`, which all else is held against, and those named, each once. Raises ConfigError on an unknown one."""
    for word in words:
        if word not in list(Failure):
            raise ConfigError(f"There is no failure {word[:40]!r}", f"There are {', '.join(Failure)}.")
    return tuple(dict.fromkeys((Failure.NONE, *map(Failure, words))))
