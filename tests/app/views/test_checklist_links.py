"""Links of the checklist: each opens a page that exists with the story that it names."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

import app
from app.pages import BY_NAME
from app.ui.labs import link_codec
from app.ui.scenario.story_link import STORIES as PROTOCOL_STORIES
from assignors.labs import calls, delivery, watermark
from assignors.labs.checklist import ROWS, Page, rows_of
from assignors.scenario import examples, load_scenario
from assignors.simulation.fold import fold
from tests.app.conftest import Open

PLAYS = {play.link: play for row in ROWS for play in row.plays}.values()
STORIES = {
    Page.PROTOCOL: PROTOCOL_STORIES,
    Page.DELIVERY: delivery.STORIES,
    Page.WATERMARK: watermark.STORIES,
    Page.CALLS: calls.STORIES,
}
APP = Path(app.__file__).parent


def split(link: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(link)
    return parts.path.removeprefix("/"), dict(parse_qsl(parts.query, strict_parsing=True))


@pytest.mark.parametrize("page", Page)
def test_every_page_of_a_link_exists(page: Any) -> None:
    assert (APP / BY_NAME[page].script).is_file()


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.link)
def test_a_link_opens_its_story(play: Any) -> None:
    page, stated = split(play.link)
    assert page == play.page
    if play.page is Page.WHATIF:
        generations = fold(load_scenario(examples()[stated["example"]]), stated.get("assignor"))
        assert int(stated.get("gen", 1)) < len(generations)
    else:
        assert link_codec.decode(stated, STORIES[play.page]) == STORIES[play.page][play.story]


def test_what_if_says_what_an_example_shows(open_page: Open) -> None:
    page = open_page("whatif", example="seven-for-three", gen="0")
    assert not page.exception
    help_ = "\n".join(element.help for element in page.markdown).replace("\\", "")
    rows = rows_of(Page.WHATIF, "seven-for-three")
    assert [row.row_id for row in rows] == ["1b.1", "1b.2", "1b.4"]
    assert all(row.claim in help_ and row.fact in help_ for row in rows)
