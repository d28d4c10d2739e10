"""How long each page takes in a browser that has never seen it, while the demo runs: the first sentence, then rest."""

import time
from collections.abc import Iterator
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from app.pages import PAGES, PageInfo
from benchmarks.pages import AT_REST, TABLE, served
from benchmarks.report import Row
from tests.support.chromium import launch

GROUP = "order-fulfilment"
HEADLINE = "[data-testid=stMain] h1"
VISITS = 3
WARM_UP_S = 60.0
"""For the demo's members to join and its lag to be known over several polls."""


def rows() -> Iterator[Row]:
    """Every page of `groupscope up`, and What if on a live group."""
    with sync_playwright() as playwright, served(["up", "--no-pipeline"]) as url:
        browser = launch(playwright)
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector(TABLE)
        time.sleep(WARM_UP_S)
        for info in PAGES:
            yield _row(browser, url, info)
        browser.close()


def _row(browser: Browser, url: str, info: PageInfo) -> Row:
    address = f"{url}/{'' if info is PAGES[0] else info.name}{f'?group={GROUP}' if info.shows_group else ''}"
    visits = [_visit(browser, address) for _ in range(VISITS)]
    first, rest = (median(times) for times in zip(*visits, strict=True))
    first_visit = " and ".join(f"{seconds:.2f} s" for seconds in visits[0])
    return Row(
        f"{info.title}: first sentence, and at rest",
        f"{first:.2f} and {rest:.2f} s",
        f"goal < 1.5 s and < 2.5 s; median of {VISITS}, each in a new profile; the server's first: {first_visit}",
    )


def _visit(browser: Browser, address: str) -> tuple[float, float]:
    """Seconds until the headline is there, and until no script runs any more."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    began = time.monotonic()
    page.goto(address, wait_until="commit")
    page.wait_for_selector(HEADLINE)
    first_s = time.monotonic() - began
    page.wait_for_selector(AT_REST)
    rest_s = time.monotonic() - began
    context.close()
    return first_s, rest_s
