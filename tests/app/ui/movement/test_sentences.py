"""What pictures say to who cannot see them."""

from typing import Any

import pytest

from app.ui.movement import sentences
from tests.app.ui.movement.ownerships import many, steps


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (steps("aaaa", "aabb"), "Generation 2: event 2; 2 of 4 partitions moved"),
        (steps("aa--", "ab.b"), "Generation 2: event 2; 1 of 4 partitions moved, 1 assigned, 1 without an owner"),
        (steps("aabb", "aa.."), "Generation 2: event 2; 2 of 4 partitions revoked"),
        (steps("aa", "aa"), "Generation 2: event 2; none of 2 partitions moved"),
        (steps("--", "--"), "Generation 2: event 2; no partitions"),
    ],
)
def test_a_step_says_what_changed(made: Any, text: str) -> None:
    assert sentences.step(made, 1) == text


def test_stills_name_the_greatest_change_but_not_a_first_assignment() -> None:
    made = steps("aaaa", "aaab", "bbab", before="....")
    text = sentences.stills(made, 1)
    assert "generation 3 (event 3): 2" in text
    assert sentences.step(made, 1) in text
    assert "none changed" in sentences.stills(steps("aa", "aa"), 0)


def test_counts_name_who_is_idle_and_who_is_gone() -> None:
    text = sentences.counts(steps("aabc", "aabb", there="d"), 1)
    assert [fact in text for fact in ("0 to 2 partitions", "most on a", "idle: d", "left: c")] == [True] * 4
    assert "1 partition per member" in sentences.counts(steps("ab"), 0)
    assert "no members" in sentences.counts(steps("ab", ".."), 1)


def test_balance_names_who_grew_and_who_shrank() -> None:
    text = sentences.balance(steps("aaab", "abbb"), 1)
    assert text.index("b gained most (+2)") < text.index("a lost most (−2)")


def test_a_flow_names_its_largest_stream() -> None:
    assert "most from a to c (2)" in sentences.flow(steps("aaab", "cc.b"), 1)
    assert "most from" not in sentences.flow(steps("aa", "aa"), 1)


@pytest.mark.parametrize("say", [sentences.step, sentences.stills, sentences.counts, sentences.animation])
def test_a_large_group_gets_a_short_sentence_with_separators(say: Any) -> None:
    text = say(many(12_000, 100, 3), 1)
    assert 0 < len(text) < 250
    assert "," in text or say is sentences.counts
