"""A dashboard in a process of its own, and a real Chromium that looks at it.

`dashboard_url` is the one place that says which dashboard the tests see.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.support.chromium import check_driver, launch

DESKTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
READY_WITHIN_S = 120.0
PATIENCE_MS = 60_000
Open = Callable[..., Page]

expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def served(*arguments: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The made-up dashboard on a free port, with more variables in its environment; ended at the end."""
    port = _free_port()
    command = [sys.executable, "-m", "tests.browser.synthetic_server", str(port), *arguments]
    its = {**os.environ, **(env or {})}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=its)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_ready(url, process)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "the dashboard ended before it was ready"
        try:
            with urllib.request.urlopen(f"{url}/api/ready", timeout=5):
                return
        except OSError:  # not there yet, or too busy to answer
            time.sleep(0.1)
    raise AssertionError(f"the dashboard was not ready within {READY_WITHIN_S:.0f} s")


@pytest.fixture(scope="session")
def dashboard_url() -> Iterator[str]:
    """The dashboard that the tests look at."""
    with served() as url:
        yield url


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests."""
    check_driver()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, dashboard_url: str) -> Iterator[Open]:
    """Open a path of the dashboard in a fresh profile. At the end no page may have complained."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []
    pages: list[Page] = []

    def opened(path: str = "/", viewport: ViewportSize = DESKTOP, dark: bool = False, url: str = dashboard_url) -> Page:
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        context = chromium.new_context(viewport=viewport, color_scheme=scheme, timezone_id="Europe/Berlin")
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url + path)
        page.locator("h1").first.wait_for()
        pages.append(page)
        return page

    yield opened
    boxes = [page.locator('[data-testid="stException"]').count() for page in pages]
    for context in contexts:
        context.close()
    assert complaints == []
    assert sum(boxes) == 0


def step_by_key(page: Page, button: str) -> None:
    """Press the key of "Next" or "Previous", once it has one.

    Each kind of widget comes with a script of its own, in any order: that a page's slider is there does not say that
    its buttons are. A key works when the button's effect has run, which React does once the button has been drawn.
    """
    expect(page.get_by_role("button", name=button)).to_be_enabled()
    page.evaluate("() => new Promise(done => requestIdleCallback(done))")
    page.keyboard.press({"Next": "ArrowRight", "Previous": "ArrowLeft"}[button])
