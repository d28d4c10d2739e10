"""The HTTP routes beside Streamlit's own."""

import re
from pathlib import Path

import pytest
from streamlit.file_util import get_static_dir

from app.pages import EMBEDDED_ONLY, PAGES
from app.server import unknown_page
from app.server.web_app import packaged_config
from tests.app.server.client import get


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("overveiw", '<a href="/">Overview</a>'),
        ("what-if", '<a href="/whatif">What if</a>'),
        ("Generation", '<a href="/generations">Generations</a>'),
        ("topic", '<a href="/topics">Topics</a>'),
        ("protocol-lab", '<a href="/protocol">Protocol lab</a>'),
    ],
)
def test_an_unknown_address_names_the_nearest_page(address: str, near: str) -> None:
    answer = get(f"/{address}")
    assert answer.status == 404
    assert f"Did you mean {near}?" in answer.text
    assert f"<code>{address}</code>" in answer.text


def test_an_address_like_no_page_suggests_none_and_lists_all_pages() -> None:
    answer = get("/no-such-page")
    assert answer.status == 404
    assert "Did you mean" not in answer.text
    for page in PAGES:
        assert (f">{page.title}</a>" in answer.text) is (page.name not in EMBEDDED_ONLY)


def test_the_links_of_an_unknown_address_keep_its_query() -> None:
    text = get("/grop", "cluster=prod&group=a%22b").text
    assert 'Did you mean <a href="/group?cluster=prod&amp;group=a%22b">Group</a>?' in text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_answer_to_an_unknown_address_has_the_colours_and_the_font_of_the_pages(
    theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = packaged_config()
    monkeypatch.setattr("app.server.plain_page.st.get_option", config.get)
    text = unknown_page.html("xyz", "", "/")
    assert f"--backgroundColor: {config[f'theme.{theme}.backgroundColor']}" in text
    font = re.search(r'url\("/(.*?)"\)', text)
    assert font is not None
    assert (Path(get_static_dir()) / font[1]).is_file()


def test_a_page_is_served_and_the_first_one_is_at_the_root() -> None:
    assert get("/group", "group=a").status == 200
    assert get("/overview", "group=a").headers["location"] == "/?group=a"


@pytest.mark.parametrize("address", ["_stcore", "favicon.png", "a/b", "<script>"])
def test_what_is_no_word_is_left_to_streamlit(address: str) -> None:
    assert get(f"/{address}").text == "Not Found"
