"""The checklist: no row without a story or a word on what took its place, no story without a row, and its page."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import assignors
from assignors.labs import calls, delivery, watermark
from assignors.labs.checklist import ROWS, Page, Row, rows_of
from assignors.labs.checklist.document import DASHBOARD, markdown, titles
from assignors.scenario import examples, load_scenario
from assignors.simulation import stories

DOCUMENT = Path(assignors.__file__).parents[1] / "docs" / "stories.md"
SIZES = {"1a": 12, "1b": 15, "1c": 16, "1d": 9}
"""Rows of each section: 1b has a row for each of its 10 cases, and for each statement of the text below them."""
LABS = {
    Page.PROTOCOL: list(stories.STORIES),
    Page.DELIVERY: list(delivery.STORIES),
    Page.WATERMARK: list(watermark.STORIES),
    Page.CALLS: list(calls.STORIES),
}
PLAYS = [play for row in ROWS for play in row.plays]


def test_rows_are_numbered_section_by_section() -> None:
    assert [row.row_id for row in ROWS] == [f"{part}.{at}" for part, size in SIZES.items() for at in range(1, size + 1)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.row_id)
def test_a_row_is_played_unless_kafka_removed_it(row: Row) -> None:
    assert bool(row.plays) is not row.removed
    assert row.claim.endswith(".")
    assert row.fact.endswith(".")


def test_removed_are_the_old_consumer_and_zookeepers_controller() -> None:
    assert [row.row_id for row in ROWS if row.removed] == ["1a.11", "1a.12"]


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.link)
def test_every_story_of_a_row_exists(play: Any) -> None:
    if play.page is Page.WHATIF:
        assert load_scenario(examples()[play.story]).assignor in assignors.names()
        assert play.parameters.get("assignor", "range") in assignors.names()
        assert play.parameters.keys() <= {"example", "assignor", "gen"}
    else:
        assert play.story in LABS[play.page]


@pytest.mark.parametrize("page", LABS)
def test_every_story_of_a_lab_plays_a_row(page: Page) -> None:
    assert [name for name in LABS[page] if not rows_of(page, name)] == []
    assert max(Counter(LABS[page]).values()) == 1


def test_the_page_of_the_documentation_is_what_the_rows_say() -> None:
    text = markdown()
    assert DOCUMENT.read_text() == text, "run `python -m assignors.labs.checklist > docs/stories.md`"
    lines = [line for line in text.splitlines() if line.startswith("| 1")]
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [row.row_id for row in ROWS]
    for row, line in zip(ROWS, lines, strict=True):
        assert all(f"({DASHBOARD}{play.link})" in line for play in row.plays)


def test_every_story_of_the_labs_has_a_title() -> None:
    assert set(titles()) == {(page, name) for page, names in LABS.items() for name in names}
