"""The History page in a real Chromium, on a past that the test has written."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.app.cli.commandline import recorded_groups, running
from tests.app.views import pasts
from tests.browser.conftest import DESKTOP, Open, served
from tests.browser.test_pages import BOTH, cell, click_row, no_sideways_scroll
from tests.support.waiting import wait_until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The made-up dashboard with a day of history that ends now."""
    root = str(tmp_path_factory.mktemp("past") / "history")
    pasts.write(root, datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=1))
    with served(env={"GROUPSCOPE_HISTORY": root}) as url:
        yield url


@BOTH
def test_all_groups(open_page: Open, remembering: str, viewport: ViewportSize) -> None:
    page = open_page("/history", viewport, url=remembering)
    expect(page.locator("h1")).to_have_text(
        "1 of 2 groups was in trouble in the last 24 h: billing-settlement for 3 h 30 min, stopped at worst"
    )
    alt = "Health of 2 groups over time: 1 in trouble; billing-settlement longest"
    expect(page.get_by_role("figure", name=alt)).to_be_attached()
    expect(cell(page, pasts.GOOD)).to_be_attached()
    expect(page.get_by_text(re.compile(r"as of \d"))).to_be_visible()
    no_sideways_scroll(page)
    click_row(page, 0)
    expect(page).to_have_url(re.compile(f"group={pasts.BAD}"))
    expect(page.locator("h1")).to_contain_text("billing-settlement has been in trouble since")


@BOTH
def test_one_group(open_page: Open, remembering: str, viewport: ViewportSize, tmp_path: Path) -> None:
    page = open_page(f"/history?group={pasts.BAD}", viewport, url=remembering, dark=viewport is DESKTOP)
    expect(page.locator("h1")).to_contain_text("twice in the last 24 h, 3 h 30 min in total; at worst 18.0 k records")
    expect(page.get_by_text("lag known for all 2 partitions")).to_be_visible()
    expect(page.get_by_text("3 rebalances; the last at")).to_be_visible()
    for alt in ("Lag of billing-settlement: at worst 18.0 k", "Time lag of billing-settlement: at most 3 min, 3 min"):
        expect(page.get_by_role("figure", name=alt)).to_be_attached()
    expect(page.locator('[data-testid="stDataFrame"]')).to_have_count(3)
    no_sideways_scroll(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON").first.click()
    download.value.save_as(tmp_path / "lag.json")
    points = json.loads((tmp_path / "lag.json").read_text())
    assert len(points) == pasts.MINUTES
    assert [points[at]["lag_records"] for at in (0, pasts.GAP[0], pasts.SECOND[-1])] == [6, None, 18_003]
    page.get_by_text("1 h", exact=True).click()
    expect(page).to_have_url(re.compile("range=1h"))
    expect(page.locator("h1")).to_contain_text("has been in trouble since before")
    page.go_back()
    expect(page.locator("h1")).to_contain_text("twice in the last 24 h")


def test_without_a_history_the_page_names_the_command(open_page: Open) -> None:
    page = open_page("/history")
    expect(page.locator("h1")).to_have_text("No history is recorded")
    expect(page.get_by_text("--history /var/lib/groupscope").first).to_be_visible()


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.timeout(900)
def test_lag_of_the_demos_groups_is_there_without_a_command(open_page: Open, tmp_path: Path) -> None:
    with running(tmp_path, "up", "--json", "--port", "0") as command:
        url = command.first_line()["dashboard"]
        wait_until(lambda: "ad-attribution" in recorded_groups(command, "group_health_1m"), within_s=280, every_s=2)
        page = open_page("/history", url=url)
        expect(page.get_by_role("figure", name="Health of ")).to_be_attached()
        page.goto(f"{url}/history?group=ad-attribution")  # its line has two points a minute later, at the latest
        expect(page.get_by_role("figure", name="Lag of ad-attribution: at worst ")).to_be_attached(timeout=120_000)
        page.goto("about:blank")  # before the server goes
