"""Patterns of somebody else's: which of them are matched at all."""

import pytest

from assignors.patterns import is_quick


@pytest.mark.parametrize(
    "pattern", ["orders", "orders-.*", ".*", "a|b|c|d|e|f|g", r"eu\.[a-z]+\.(orders|refunds)", "[*+?]{3}"]
)
def test_expressions_of_every_day_are_matched(pattern: str) -> None:
    assert is_quick(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(o+)+x", "(a|aa)*b", "(.?){99}", ".*.*.*.*x", "(a|ab)(b|bc)(c|cd)(d|de)(e|ef)", r"\pL+", "(", "(?=o)orders"],
)
def test_expressions_that_may_take_for_ever_or_that_not_everybody_knows_are_not(pattern: str) -> None:
    assert not is_quick(pattern)
