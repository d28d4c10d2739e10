"""The lag over time on the Group page in a real Chromium: a drag chooses a time, which is in the URL."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.app.views import pasts
from tests.browser.conftest import Open, served

pytestmark = pytest.mark.browser
CHOSEN = re.compile(r"from=\d{4}-\d\d-\d\dT\d\d%3A\d\dZ&to=")


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The made-up dashboard with an hour of polls that ends now."""
    root = str(tmp_path_factory.mktemp("past") / "history")
    pasts.write_polls(root, datetime.now(UTC))
    with served(env={"GROUPSCOPE_HISTORY": root}) as url:
        yield url


def drag(page: Page, begin: float, end: float) -> None:
    """Drag over the first chart, from one part of its width to another."""
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + begin * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=8)
    page.mouse.up()


def test_a_drag_zooms_and_a_button_shows_the_last_hour_again(open_page: Open, polled: str) -> None:
    page = open_page(f"/group?group={pasts.BAD}", url=polled)
    expect(page.get_by_role("heading", name="Lag, last hour")).to_be_visible()
    expect(page.get_by_text("No polls from")).to_be_visible()
    drag(page, 0.15, 0.35)
    expect(page).to_have_url(CHOSEN)
    expect(page.get_by_role("heading", name=re.compile(r"Lag, \d\d:\d\d:00 to \d\d:\d\d:00"))).to_be_visible()
    expect(page.get_by_text("▽ Falling behind").first).to_be_visible()
    whole = page.url
    drag(page, 0.5, 0.2)
    expect(page).not_to_have_url(whole)
    page.get_by_role("button", name="Last hour").click()
    expect(page.get_by_role("heading", name="Lag, last hour")).to_be_visible()
    expect(page).not_to_have_url(CHOSEN)
