"""Subscriptions by pattern: which topics match, and which patterns are refused."""

import pytest

from assignors.model import AssignorError
from assignors.patterns import matching


@pytest.mark.parametrize("pattern", ["(a*)*c", "(a|aa)*c", "(.*)*c", "(a|ab)*(b|bc)*(c|cd)*d", ".*.*.*.*.*.*.*.*c"])
def test_a_pattern_that_backtracks_for_ever_is_matched_like_any_other(pattern: str) -> None:
    assert matching(pattern, ["a" * 249, "a" * 248 + "b"]) == ()


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("orders", ("orders",)),
        (r"\pL+", ("orders", "refunds")),
        (r"\Qeu.orders\E", ("eu.orders",)),
        (r"eu\.[a-z]+|refunds", ("eu.orders", "refunds")),
        ("(?i)ORDERS", ("orders",)),
    ],
)
def test_a_pattern_matches_whole_names(pattern: str, matched: tuple[str, ...]) -> None:
    assert matching(pattern, ["refunds", "orders", "eu.orders"]) == matched


@pytest.mark.parametrize("pattern", ["(", "(?=o)orders", r"(o)\1", "o++", "\ud800"])
def test_a_pattern_that_re2_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(AssignorError, match="not a valid RE2 expression"):
        matching(pattern, ["orders"])
