"""The policy: which thresholds the verdicts of a group need, and for how many polls a verdict must hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from lag.verdict.rules.group_rules import GroupRules
from lag.verdict.rules.status_rules import Rules


@dataclass(frozen=True, slots=True)
class GroupPolicy:
    """The policy for one group.

    rules               the thresholds of its verdicts
    open_polls          a verdict opens after this many polls in a row that found it
    close_polls         it closes after this many polls in a row that found OK
    flapping_openings   a group whose verdicts opened more than this many times within `flapping_s` seconds is
                        flapping; None: this is not looked for
    """

    rules: Rules = field(default_factory=Rules)
    open_polls: int = 1
    close_polls: int = 1
    flapping_openings: int | None = None
    flapping_s: float = 1800.0

    @property
    def shows_every_poll(self) -> bool:
        """What a poll found is shown at once and as it is."""
        return self.open_polls == self.close_polls == 1 and self.flapping_openings is None


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy for every group: that of the first pattern which matches its id, else `default`.

    Patterns are those of a shell: `payments-*`.
    """

    default: GroupPolicy = field(default_factory=GroupPolicy)
    groups: tuple[tuple[str, GroupPolicy], ...] = ()

    def of(self, group_id: str) -> GroupPolicy:
        """The policy for that group."""
        return self._policies[self._number(group_id)]

    def rules_of(self, group_ids: Sequence[str]) -> GroupRules:
        """The rules of those groups."""
        rules = tuple(policy.rules for policy in self._policies)
        return GroupRules(rules, np.array([self._number(group_id) for group_id in group_ids], np.int64))

    @property
    def shows_every_poll(self) -> bool:
        """What a poll found is shown at once and as it is, for every group."""
        return all(policy.shows_every_poll for policy in self._policies)

    @property
    def longest_flapping_s(self) -> float:
        """The longest time in which openings count, over all groups; 0 if flapping is not looked for."""
        return max((its.flapping_s for its in self._policies if its.flapping_openings is not None), default=0.0)

    @property
    def _policies(self) -> tuple[GroupPolicy, ...]:
        return (self.default, *(policy for _, policy in self.groups))

    def _number(self, group_id: str) -> int:
        matching = (at for at, (pattern, _) in enumerate(self.groups, start=1) if fnmatchcase(group_id, pattern))
        return next(matching, 0)
