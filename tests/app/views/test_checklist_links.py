"""Links of the checklist: each opens a page that exists with the story that it names."""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

import app
from app.ui.pages import BY_NAME
from app.ui.scenario import story_link as links_protocol
from app.views.labs.calls import link as links_calls
from app.views.labs.delivery import link as links_delivery
from app.views.labs.watermark import link as links_watermark
from assignors.labs.checklist import ROWS, Page, rows_of
from assignors.scenario import examples, load_scenario
from assignors.whatif.generations import fold

PLAYS = list(dict.fromkeys(play for row in ROWS for play in row.plays))
APP = Path(app.__file__).parent


def split(link: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(link)
    return parts.path.removeprefix("/"), dict(parse_qsl(parts.query, strict_parsing=True))


@pytest.mark.parametrize("page", Page)
def test_every_page_of_a_link_exists(page):
    assert (APP / BY_NAME[page].script).is_file()


@pytest.mark.parametrize("play", PLAYS, ids=lambda play: play.link)
def test_a_link_opens_its_story(play):
    page, said = split(play.link)
    assert page == play.page
    match play.page:
        case Page.PROTOCOL:
            assert links_protocol.decode(said).story == play.story
        case Page.DELIVERY:
            assert links_delivery.story_of(*links_delivery.decode(said)) == links_delivery.BY_NAME[play.story]
        case Page.WATERMARK:
            assert links_watermark.decode(said) == links_watermark.BY_NAME[play.story]
        case Page.CALLS:
            assert links_calls.decode(said) == links_calls.BY_NAME[play.story]
        case Page.WHATIF:
            generations = fold(load_scenario(examples()[said["example"]]), said.get("assignor"))
            assert int(said.get("gen", 1)) < len(generations)


def test_what_if_says_which_rows_an_example_plays(open_page):
    page = open_page("whatif", example="seven-for-three", gen="0")
    assert not page.exception
    told = "\n".join(element.value for element in page.markdown).replace("\\", "")
    numbers = ", ".join(row.row_id for row in rows_of(Page.WHATIF, "seven-for-three"))
    assert numbers == "1b.1, 1b.2, 1b.4"
    assert f"Plays {numbers} of the checklist." in told
