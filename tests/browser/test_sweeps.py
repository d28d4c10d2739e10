"""The Sweeps page in a real Chromium: a fleet, a group, a click on a cell of its heat map, and a run of its own."""

import re
from collections.abc import Iterator

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.app.views import swept
from tests.browser.conftest import PHONE, Open, served
from tests.browser.test_pages import cell, no_sideways_scroll

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard whose history has one sweep."""
    root = tmp_path_factory.mktemp("history")
    swept.sweep(root)
    with served(env={"GROUPSCOPE_HISTORY": str(root)}) as made:
        yield made


def test_the_fleet_and_one_of_its_groups_on_a_phone(open_page: Open, url: str) -> None:
    fleet = open_page("/sweeps", PHONE, url=url)
    expect(fleet.locator("h1")).to_contain_text("2 of 3 groups would gain")
    expect(cell(fleet, "slow")).to_be_attached()
    no_sideways_scroll(fleet)
    group = open_page("/sweeps?group=slow", PHONE, dark=True, url=url)
    expect(group.locator("h1")).to_contain_text("its lag drains in 2 min instead of never")
    expect(group.get_by_role("figure", name="Busiest share by assignor and members: from 60 %")).to_be_attached()
    expect(group.get_by_role("figure", name="Busiest share by number of members: 100 % with")).to_be_attached()
    no_sideways_scroll(group)


def test_a_click_on_a_cell_opens_it_in_what_if(open_page: Open, url: str) -> None:
    page = open_page("/sweeps?group=orders", url=url)
    page.locator(".heatmaplayer").wait_for(state="attached")
    cells = page.locator(".nsewdrag").first
    area = cells.bounding_box()
    assert area is not None
    assignor, members = 1.1 / 3, 3.5 / 6  # the second of three columns, near its edge; the fourth of six rows
    cells.click(position={"x": area["width"] * assignor, "y": area["height"] * members})
    expect(page.locator("h1")).to_contain_text("c-3 joins, with sticky: ")
    assert "assignor=sticky" in page.url
    expect(page.get_by_text("A case of a sweep: 4 members, nothing fails.")).to_be_visible()


def filled(page: Page, members: str) -> Page:
    """The form with these member counts, ready to run."""
    field = page.get_by_label("Members", exact=True)
    field.fill(members)
    field.press("Enter")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    return page


def sweep_processes(url: str) -> list[psutil.Process]:
    """The processes of sweeps that the dashboard of that URL runs."""
    port = url.rpartition(":")[2]
    servers = [its for its in psutil.Process().children() if port in its.cmdline()]
    return [its for server in servers for its in server.children() if "app.server.sweep_run" in its.cmdline()]


def test_a_sweep_runs_shows_progress_and_is_cancelled_and_a_small_one_ends(open_page: Open, dashboard_url: str) -> None:
    page = filled(open_page("/sweeps"), "1..200")
    expect(page.get_by_text("Example fleet, not your cluster")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 27 groups"))).to_be_visible()
    (process,) = sweep_processes(dashboard_url)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The sweep was cancelled")).to_be_visible()
    psutil.wait_procs([process], 20)
    assert sweep_processes(dashboard_url) == []
    filled(page, "x1,x2").get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("only in this session")).to_be_visible()
    assert "sweep=" in page.url


def test_a_tab_that_is_closed_ends_its_sweep(open_page: Open, dashboard_url: str) -> None:
    page = filled(open_page("/sweeps"), "1..200")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    (process,) = sweep_processes(dashboard_url)
    page.goto("about:blank")
    assert psutil.wait_procs([process], 20) == ([process], [])
