"""A cluster that vanishes while somebody looks at it: the page says so with its age, and recovers without a reload."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.cli.commandline import running
from tests.browser.conftest import Open
from tests.lag.pipeline.broker_side import commit, create_topic
from tests.support.proxy import broker_behind_proxy

pytestmark = [pytest.mark.browser, pytest.mark.broker]

GREY = "h1 .stMarkdownColoredText"
"""The headline's words while the data is stale."""


def cell(page: Page, text: str) -> None:
    """The first table has a cell with that text."""
    expect(page.locator('canvas [role="gridcell"]', has_text=text).first).to_be_attached()


def test_page_of_a_cluster_that_vanishes_says_so_and_recovers_by_itself(open_page: Open, tmp_path: Path) -> None:
    with broker_behind_proxy() as proxy:
        servers = str(proxy.address)
        create_topic(servers, "orders", 1)
        commit(servers, "before", {("orders", 0): 0})
        with running(
            tmp_path, "serve", "--json", "--port", "0", "--interval", "1", "--bootstrap-server", servers
        ) as its:
            page = open_page("/", url=its.first_line()["dashboard"])
            expect(page.locator("h1")).to_have_text("No group needs attention: 1 group")
            cell(page, "before")
            page.evaluate("window.isTheSamePage = true")

            proxy.vanish_after(0)
            expect(page.get_by_text("No new data since")).to_be_visible()
            expect(page.get_by_text(re.compile(r"cannot be reached|does not answer")).first).to_be_visible()
            expect(page.get_by_text(re.compile(r"\b([4-9]|\d\d) s ago"))).to_be_visible()
            expect(page.locator(GREY)).to_have_text("No group needs attention: 1 group")
            cell(page, "before")

            proxy.come_back()
            commit(servers, "after", {("orders", 0): 0})
            expect(page.locator("h1")).to_have_text("No group needs attention: 2 groups")
            cell(page, "after")
            expect(page.locator(GREY)).to_have_count(0)
            expect(page.get_by_text("No new data since")).to_have_count(0)
            assert page.evaluate("window.isTheSamePage")
            page.goto("about:blank")  # its server ends now, of which it would complain
