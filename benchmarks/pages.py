"""How fast a person sees data: the Overview of 5,000 groups in a real Chromium, a slider, and a second `make run`."""

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from assignors.simulation.stories import STORIES
from benchmarks import fill
from benchmarks.measure import GROUPSCOPE
from benchmarks.report import Row
from lag.embedded.broker import EmbeddedKafka
from tests.support.chromium import AT_REST, launch

GROUPS = 5_000
TABS = 10
FILTERS = 15
THINK_MS = 1_300  # and not in step with the polls
WATCH_POLLS = 4
TABLE = "[data-testid=stDataFrame] canvas"
SLIDES = 3


def rows() -> Iterator[Row]:
    """The Overview of 5,000 groups: first table, a filter, ten tabs; a slider; `groupscope up`, everything cached."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        with EmbeddedKafka() as kafka:
            fill.groups(kafka.bootstrap_servers, "page", GROUPS, 10)
            with served(["serve", "--bootstrap-server", kafka.bootstrap_servers]) as url:
                yield from _overview(browser, url)
                yield _tabs(browser, url)
        with EmbeddedKafka() as kafka, served(["serve", "--bootstrap-server", kafka.bootstrap_servers]) as url:
            yield _sliders(browser, url)
        yield from _second_run(browser)
        browser.close()


@contextmanager
def served(arguments: list[str]) -> Iterator[str]:
    """The address of a dashboard, as it tells a person, once it has data."""
    command = [GROUPSCOPE, *arguments, "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            yield next(line.split()[1] for line in server.stdout if line.startswith("Dashboard"))
        finally:
            server.terminate()


def _overview(browser: Browser, url: str) -> Iterator[Row]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(url)
    page.wait_for_selector(TABLE)
    shown = [_shown_after(page, url) for _ in range(3)]
    yield Row(
        f"Overview of {GROUPS:,} groups: table shown after navigation", f"{min(shown):.2f} s", "goal < 2 s; best of 3"
    )
    answers = sorted(_filter(page) for _ in range(FILTERS))
    yield Row(
        "the same: a text filter is applied",
        f"{median(answers):.2f} s",
        f"goal < 0.5 s; median of {FILTERS}, worst {answers[-1]:.2f} s: polls of {GROUPS:,} groups go on meanwhile",
    )
    page.close()


def _shown_after(page: Page, url: str) -> float:
    began = time.monotonic()
    page.goto(url)
    page.wait_for_selector(TABLE)
    return time.monotonic() - began


def _filter(page: Page) -> float:
    """From the last key stroke to a table of one group."""
    box = page.get_by_placeholder("Group or topic…")
    box.fill("page-0123")
    page.locator('[aria-label^="10 groups by urgency"]').wait_for()
    began = time.monotonic()
    box.press("End")
    box.press("4")
    page.locator('[aria-label^="1 group by urgency"]').wait_for()
    took_s = time.monotonic() - began
    page.wait_for_timeout(THINK_MS)
    return took_s


def _tabs(browser: Browser, url: str) -> Row:
    none = _requests_per_minute(url)
    pages = [browser.new_page() for _ in range(TABS)]
    for page in pages:
        page.goto(url)
        page.wait_for_selector(TABLE)
    ten = _requests_per_minute(url)
    for page in pages:
        page.close()
    return Row("requests to Kafka per minute, no tab and ten tabs open", f"{none:.0f} and {ten:.0f}", "goal: no more")


def _sliders(browser: Browser, url: str) -> Row:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    took = {name: median(_slide(page, url, name, at) for at in range(SLIDES)) for name in STORIES}
    slowest = max(took, key=lambda name: took[name])
    return Row(
        f"a slider of the Protocol lab, each of {len(STORIES)} stories under three protocols: until the page shows it",
        f"{median(took.values()):.2f} s",
        f"median; slowest story {took[slowest]:.2f} s ({slowest}); each the median of {SLIDES}; goal < 1 s",
    )


def _slide(page: Page, url: str, story: str, at: int) -> float:
    """From the key to a page that is at rest again; each time another value, so that nothing is remembered."""
    page.goto(f"{url}/protocol?story={story}&heartbeat={2000 + 1000 * at}")
    page.wait_for_selector(TABLE)
    page.wait_for_selector(AT_REST)
    page.locator(".st-key-protocol_heartbeat").get_by_role("slider").focus()
    began = time.monotonic()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**heartbeat={2500 + 1000 * at}**", wait_until="commit")
    page.wait_for_selector(AT_REST)
    return time.monotonic() - began


def _requests_per_minute(url: str) -> float:
    """Polls counted from one to another, times the requests of each."""
    first = before = ready(url)
    while before["polls"] == first["polls"]:
        time.sleep(0.05)
        before = ready(url)
    began = time.monotonic()
    while (now := ready(url))["polls"] < before["polls"] + WATCH_POLLS:
        time.sleep(0.05)
    return 60 * WATCH_POLLS * now["requests_per_poll"] / (time.monotonic() - began)


def ready(url: str) -> dict[str, int]:
    """The state of the only cluster, from /api/ready."""
    with urllib.request.urlopen(f"{url}/api/ready") as answer:
        (cluster,) = json.loads(answer.read())["clusters"].values()
    return dict(cluster)


def _second_run(browser: Browser) -> Iterator[Row]:
    began = time.monotonic()
    with served(["up", "--no-pipeline"]) as url:
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector(TABLE)
        took_s = time.monotonic() - began
        page.close()
    yield Row("groupscope up with a warm cache: page with data", f"{took_s:.1f} s", "goal < 15 s")
