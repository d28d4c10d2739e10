"""Which rules apply to which groups of a snapshot."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.offsets import Ints
from lag.verdict.rules.status_rules import Rules


class GroupRules(NamedTuple):
    """The rules in use, and `number`, int64[n_groups]: which of them are those of each group."""

    rules: tuple[Rules, ...]
    number: Ints

    @classmethod
    def same(cls, rules: Rules, groups: int) -> "GroupRules":
        """The same rules for every group."""
        return cls((rules,), np.zeros(groups, np.int64))

    def of(self, group: int) -> Rules:
        """The rules of that group."""
        return self.rules[int(self.number[group])]

    def groups(self) -> Iterator[tuple[Rules, Ints]]:
        """Each of the rules with the numbers of its groups, int64[n], ascending."""
        return ((rules, np.flatnonzero(self.number == at)) for at, rules in enumerate(self.rules))

    def min_samples(self) -> Ints:
        """int64[n_groups]: `Rules.min_samples` of each group."""
        return np.array([rules.min_samples for rules in self.rules])[self.number]

    def trend_samples(self) -> Ints:
        """int64[n_groups]: `Rules.trend_samples` of each group."""
        return np.array([rules.trend_samples for rules in self.rules])[self.number]

    def min_ms(self) -> NDArray[np.float64]:
        """float64[n_groups]: `Rules.min_s` of each group, in ms."""
        return np.array([rules.min_s for rules in self.rules])[self.number] * 1000
