"""How many random examples a test tries."""

from typing import Any

from hypothesis import settings

from tests.support.known import known

USUAL = 100
"""Hypothesis's own number, of the usual profile."""


def random_examples(number: int, **others: Any) -> settings:
    """Settings with `number` examples, in the proportion of the profile: `make check` loads one with fewer."""
    return settings(max_examples=max(1, number * known(settings.default).max_examples // USUAL), **others)
