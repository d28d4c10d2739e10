"""The request and the cases of a sweep. Cases are numbered, and each can be computed independently."""

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

MAX_CASES = 5_000_000
"""The driver holds their rows of about 300 bytes."""
MAX_MEMBERS = 10_000
ALL = "all"
SPARK, LOCAL = "spark", "local"
"""Where a sweep runs."""

_RANGE = re.compile(r"(\d{1,5})(?:\.\.(\d{1,5}))?", re.ASCII)
_FACTOR = re.compile(r"x(\d{1,3}(?:\.\d{1,3})?)", re.ASCII)


class Failure(StrEnum):
    """What fails after the group has its assignor and number of members."""

    NONE = "none"
    CRASH = "crash"  # one member dies
    THIRD = "third"  # a third of the members, rounded up, dies at once
    RACK = "rack"  # all members of one rack die at once
    RESTART = "restart"  # every member restarts, one after the other


@dataclass(frozen=True, slots=True)
class MemberCount:
    """A number of members: absolute, or a multiple of the present number."""

    count: int | None = None
    factor: float | None = None

    def of(self, members: int) -> int:
        """The number for a group that has `members` now; at least 1."""
        return self.count if self.count is not None else max(1, round(members * (self.factor or 0.0)))


@dataclass(frozen=True, slots=True)
class SweepRequest:
    """Which cases a sweep has for each group. Without assignors: all compatible ones."""

    assignors: tuple[str, ...] = ()
    member_counts: tuple[MemberCount, ...] = (MemberCount(factor=1.0),)
    failures: tuple[Failure, ...] = (Failure.NONE,)


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `group` is the index of its scenario."""

    group: int
    assignor: str
    members: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of a sweep, group by group. Raises ConfigError for no case, too many cases or too many members."""

    scenarios: Sequence[Scenario]
    request: SweepRequest
    _ends: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for its in self.scenarios:
            self._check_members(its)
        each = (len(self._assignors(its)) * len(self._members(its)) for its in self.scenarios)
        ends = [len(self.request.failures) * end for end in accumulate(each)]
        object.__setattr__(self, "_ends", ends)
        if not ends:
            raise ConfigError("There is no group to sweep", "Name a cluster, a snapshot or a fleet with groups.")
        if ends[-1] > MAX_CASES:
            hint = "Name fewer assignors, member counts or groups."
            raise ConfigError(f"{ends[-1]:,} cases are more than one sweep allows ({MAX_CASES:,})", hint)

    def _check_members(self, its: Scenario) -> None:
        most = self._members(its)[-1]
        if most > max(MAX_MEMBERS, len(its.members)):
            hint = "Name a smaller factor."
            raise ConfigError(f"{most:,} members of {its.name} are more than one case allows ({MAX_MEMBERS:,})", hint)

    def __len__(self) -> int:
        return self._ends[-1]

    def case(self, number: int) -> Case:
        """The case with that number, from 0."""
        group = bisect_right(self._ends, number)
        its = self.scenarios[group]
        rest, failure = divmod(number - (self._ends[group - 1] if group else 0), len(self.request.failures))
        members = self._members(its)
        assignor, size = divmod(rest, len(members))
        return Case(group, self._assignors(its)[assignor], members[size], self.request.failures[failure])

    def groups_done(self, cases: int) -> int:
        """The number of groups whose cases are all among the first `cases`."""
        return bisect_right(self._ends, cases)

    def _assignors(self, its: Scenario) -> Sequence[str]:
        return self.request.assignors or [name for name in compatible_assignors(its) if name in BUILT_IN]

    def _members(self, its: Scenario) -> Sequence[int]:
        return sorted({size.of(len(its.members)) for size in self.request.member_counts})


def parse_assignors(words: Sequence[str]) -> tuple[str, ...]:
    """Unique names; none for `all`. Raises ConfigError for an unknown one."""
    if not words or ALL in words:
        return ()
    for word in words:
        if word not in BUILT_IN:
            raise ConfigError(f"There is no assignor {word!r}", f"Choose from {', '.join(BUILT_IN)}, or {ALL}.")
    return tuple(dict.fromkeys(words))


def parse_member_counts(text: str) -> tuple[MemberCount, ...]:
    """`1..20`, `3,6,12`, `x0.5,x1,x2`, or a mixture. Raises ConfigError for an invalid part."""
    return tuple(dict.fromkeys(size for part in text.split(",") for size in _sizes(part.strip())))


def _sizes(part: str) -> Sequence[MemberCount]:
    if (found := _FACTOR.fullmatch(part)) and float(found[1]) > 0:
        return [MemberCount(factor=float(found[1]))]
    if (found := _RANGE.fullmatch(part)) and 1 <= int(found[1]) <= int(found[2] or found[1]) <= MAX_MEMBERS:
        return [MemberCount(count=count) for count in range(int(found[1]), int(found[2] or found[1]) + 1)]
    hint = f"Write for example 1..20, 3,6,12 or x0.5,x1,x2; at most {MAX_MEMBERS:,}."
    raise ConfigError(f"{part[:40]!r} is not a number of members", hint)


def parse_failures(words: Sequence[str]) -> tuple[Failure, ...]:
    """`none` and the named failures, unique. Raises ConfigError for an unknown one."""
    for word in words:
        if word not in list(Failure):
            raise ConfigError(f"There is no failure {word[:40]!r}", f"Choose from {', '.join(Failure)}.")
    return tuple(dict.fromkeys((Failure.NONE, *map(Failure, words))))
