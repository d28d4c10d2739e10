"""What somebody who opens the dashboard for the first time wants to know, with the clicks that it takes.

`pytest --log-cli-level=INFO` shows the clicks and seconds of each.
"""

import json
import logging
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, Page, expect

from app.ui import formats
from tests.app.last_night import CRASHED, DEPLOYED, SWITCHED
from tests.browser.conftest import Open
from tests.browser.test_pages import cell, click_row
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser
log = logging.getLogger(__name__)

WORST = "fraud-scoring-v2"
QUARTER_OF_AN_HOUR_MS = 900_000
BERLIN = ZoneInfo("Europe/Berlin")
BROKEN = b"""schema_version: 1
name: broken
assignor: range
topiks: []
topics:
  - {name: orders, partitions: -3}
members:
  - {id: a, topics: [orders]}
events:
  - {at: soon, join: {id: b, topics: [orders]}}
"""


@dataclass
class Newcomer:
    """A page, and the clicks so far."""

    page: Page
    clicks: int = 0
    since_s: float = field(default_factory=time.monotonic)

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def press(self, button: str) -> None:
        self.click(self.page.get_by_role("button", name=button, exact=True))


Arrive = Callable[..., Newcomer]


@pytest.fixture
def arrive(open_page: Open, request: pytest.FixtureRequest) -> Iterator[Arrive]:
    """Open a page as a newcomer. At the end the clicks and seconds go to the log."""
    arrived: list[Newcomer] = []

    def opened(path: str = "/") -> Newcomer:
        arrived.append(Newcomer(open_page(path)))
        return arrived[-1]

    yield opened
    for one in arrived:
        log.info("%s: %d clicks, %.1f s", request.node.name, one.clicks, time.monotonic() - one.since_s)


def headline(page: Page) -> Locator:
    return page.locator("h1")


def last_poll_ms(url: str) -> int:
    with urllib.request.urlopen(f"{url}/api/ready", timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
    return int(found["clusters"]["demo"]["at_ms"])


def test_which_group_why_and_since_when_needs_no_click(arrive: Arrive, dashboard_url: str) -> None:
    new = arrive()
    expect(headline(new.page)).to_contain_text(f"{WORST} has lag and has not committed since ")
    expect(new.page.get_by_text("It is 318,396 records behind")).to_be_in_viewport()
    expect(cell(new.page, WORST)).to_be_attached()

    def stopped_a_quarter_of_an_hour_before_the_last_poll() -> bool:
        at_ms = last_poll_ms(dashboard_url)
        stated = headline(new.page).inner_text()  # the next poll may come between the two
        return formats.clock(at_ms - QUARTER_OF_AN_HOUR_MS, BERLIN) in stated

    wait_until(stopped_a_quarter_of_an_hour_before_the_last_poll, within_s=60, every_s=0.5)
    assert new.clicks == 0


def test_what_to_do_needs_one_click(arrive: Arrive) -> None:
    new = arrive()
    expect(cell(new.page, WORST)).to_be_attached()
    click_row(new.page, 0)
    new.clicks += 1
    expect(headline(new.page)).to_contain_text(WORST)
    expect(new.page.get_by_text("Do this next")).to_be_in_viewport()
    expect(new.page.get_by_role("strong").filter(has_text="Check the consumers' processes")).to_be_in_viewport()
    expect(new.page.get_by_text(f"--describe --group {WORST} --members --verbose")).to_be_in_viewport()
    assert new.clicks == 1


def two_more(new: Newcomer) -> None:
    """From a group's page, once it has been read."""
    expect(new.page.get_by_text("Why this assignment")).to_be_visible()
    new.press("What if…")
    how_many = new.page.get_by_label("How many")
    new.click(how_many)
    how_many.fill("2")
    new.press("Add")
    expect(headline(new.page)).to_contain_text("fraud-3 joins, fraud-4 joins: ")


def test_two_members_more_need_three_clicks_and_which_assignor_and_why_none(arrive: Arrive) -> None:
    new = arrive(f"/group?group={WORST}")
    two_more(new)
    expect(headline(new.page)).to_contain_text(re.compile(r": \d+ of 12 partitions move.*, no idle members"))
    assert new.clicks == 3
    expect(
        new.page.get_by_text(re.compile(r"(Keep|Change to) (range|cooperative-sticky|sticky|roundrobin)"))
    ).to_be_in_viewport()
    assert new.clicks == 3


def test_last_nights_rebalances_and_their_causes_need_two_clicks(arrive: Arrive) -> None:
    new = arrive()
    new.click(new.page.get_by_role("link", name="Generations"))
    expect(headline(new.page)).to_contain_text(f"rebalances of {DEPLOYED} in the last ")
    new.click(new.page.get_by_role("radio", name="24 h", exact=True))
    expect(headline(new.page)).to_contain_text("of 3 groups in the last 24 h")
    for text in (CRASHED, SWITCHED, "assignor range → roundrobin", "c-b left or timed out"):
        expect(cell(new.page, text)).to_be_attached()
    assert new.clicks == 2


def test_a_broken_file_shows_all_its_errors_at_once(arrive: Arrive) -> None:
    new = arrive("/whatif")
    new.click(new.page.get_by_role("radio", name="File"))
    with new.page.expect_file_chooser() as chooser:
        new.press("Upload")
    chooser.value.set_files({"name": "broken.yaml", "mimeType": "application/yaml", "buffer": BROKEN})
    expect(new.page.get_by_text("3 problems; nothing has changed")).to_be_in_viewport()
    for line, why in (
        (4, "The key 'topiks' is unknown. Did you mean 'topics'?"),
        (6, "This must be at least 1."),
        (10, "Write a duration such as 30s, 1500ms, 2m or 1h"),
    ):
        expect(new.page.get_by_text(re.compile(rf"^line {line} .*{re.escape(why)}"))).to_be_in_viewport()
    assert new.clicks == 2


def test_a_link_shows_the_same_after_another_rebalance(arrive: Arrive, open_page: Open) -> None:
    address = f"/generations?group={DEPLOYED}"
    new = arrive(address)
    expect(new.page).to_have_url(re.compile(r"generation=\d+"))
    expect(headline(new.page)).to_contain_text("Generation ")
    link, stated = new.page.url, headline(new.page).inner_text()
    assert new.clicks == 0

    open_page("/demo").get_by_role("button", name="Add a member").click()

    def newest() -> str:
        page = open_page(address)
        expect(page).to_have_url(re.compile(r"generation=\d+"))
        return page.url

    wait_until(lambda: newest() != link, within_s=60, every_s=1)
    later = open_page(link.removeprefix(new.page.evaluate("location.origin")))
    expect(headline(later)).to_have_text(stated)
    assert later.url == link
