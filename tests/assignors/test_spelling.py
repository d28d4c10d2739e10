"""Suggestions: the nearest name, found with a bounded number of comparisons of bounded names."""

from collections.abc import Sequence
from itertools import count, islice
from typing import Any

import pytest
from rapidfuzz import process

from assignors.scenario import ScenarioError, check_bytes
from assignors.scenario.line_numbers import find_lines
from assignors.scenario.syntax import tokens
from assignors.spelling import MAX_COMPARED, MAX_COMPARED_LETTERS, closest, suggestion

FLEET = [f"payments-service-prod-eu-west-1-consumer-{number:05d}" for number in range(10_000)]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The names that were compared, search by search."""
    searches: list[Sequence[str]] = []
    search = process.extractOne

    def counted(word: str, choices: Sequence[str], **options: Any) -> Any:
        searches.append(choices)
        return search(word, choices, **options)

    monkeypatch.setattr(process, "extractOne", counted)
    return searches


@pytest.mark.parametrize(
    ("word", "words", "found"),
    [
        ("topcs", ["members", "topics"], "topics"),
        ("billing", ["members", "topics"], None),
        ("", ["topics"], None),
        ("a", [], None),
        ("\ud800topics", ["topics"], "topics"),
        ("payments-service-prod-eu-west-1-consumer-0777", FLEET, "payments-service-prod-eu-west-1-consumer-00777"),
    ],
)
def test_the_nearest_word(word: str, words: Sequence[str], found: str | None) -> None:
    assert closest(word, words) == found


def test_the_first_of_equally_near_words_is_suggested() -> None:
    assert suggestion("lag", ["lab", "lap"]) == " Did you mean 'lab'?"


def test_a_word_longer_than_any_name_is_not_compared(compared: list[Sequence[str]]) -> None:
    assert closest("a" * (MAX_COMPARED_LETTERS + 1), ["a" * MAX_COMPARED_LETTERS]) is None
    assert suggestion("a" * 2_000_000, ["topics", "members"]) == ""
    assert compared == []


def test_only_names_of_a_usual_length_are_compared(compared: list[Sequence[str]]) -> None:
    usual, long = "a" * MAX_COMPARED_LETTERS, "a" * (MAX_COMPARED_LETTERS + 1)
    assert closest("a" * 250, [long, usual]) == usual
    assert compared == [[usual]]


def test_of_endlessly_many_names_the_first_are_compared(compared: list[Sequence[str]]) -> None:
    assert closest("t5", (f"t{number}" for number in count())) == "t5"
    assert list(map(len, compared)) == [MAX_COMPARED]


def test_each_of_the_20_problems_of_a_scenario_is_one_search(compared: list[Sequence[str]]) -> None:
    members = ", ".join(f"{{id: {'a' * 90}{number}}}" for number in range(1_000))
    capacity = ", ".join(f"{'a' * 89}b{number}: 1" for number in range(1_000))
    text = f"schema_version: 1\nname: x\nassignor: range\nmembers: [{members}]\ncapacity: {{{capacity}}}\n"
    with pytest.raises(ScenarioError) as raised:
        check_bytes(text.encode(), "")
    assert len(raised.value.problems) == 20
    assert list(map(len, compared)) == [1_000] * 20


def test_the_file_is_read_again_only_up_to_the_last_problem() -> None:
    text = "name: x\nfoo: [" + "1, " * 100_000 + "1]\n"
    stream = tokens(text, "a.yaml")
    assert find_lines(tokens(text, "a.yaml"), []) == {}
    assert find_lines(stream, [("foo",), ("name",)]) == {("foo",): 2, ("name",): 1}
    assert len(list(islice(stream, 100_000))) == 100_000
