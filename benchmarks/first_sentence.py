"""How long pages take in a browser that has never seen them, while the demo runs: the first sentence, then all of it.

The tab has no debugger (`benchmarks.plain_tab`), and its clock looks at each frame: Playwright notices up to a second
late what a busy page shows. Two pages of Streamlit's own are timed beside them, a line, and a line with a table and a
chart: no page of Streamlit takes less on this machine. Then What if in a browser that has seen it, and how long a step
takes on What if and Generations: from the key to the animation at the next generation.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from app.pages import BY_NAME, PAGES, PageInfo
from benchmarks.pages import TABLE, served
from benchmarks.plain_tab import PlainTab, plain_tab
from benchmarks.report import Row
from tests.lag.cluster.connection.strangers import free_port
from tests.support.chromium import AT_REST, launch

GROUP = "order-fulfilment"
VISITS = 5
STEPS = 5
EXAMPLE = "100-partitions"
SHOWN = """() => [...document.querySelectorAll(
    '[role=figure]:has(g.updatemenu-button) .scatterlayer .textpoint text')].at(-1)?.textContent"""
"""The line above the lanes of the animation: the generation that it shows; undefined without an animation."""
CLOCK = """(() => {
    const seen = window.seen = {}
    const all = selector => [...document.querySelectorAll(`[data-testid=stMain] ${selector}`)]
    const isShown = element => element?.getClientRects().length > 0
    const isEmpty = drawing => element => isShown(element) && !isShown(element.querySelector(drawing))
    const isDrawn = () =>
        document.querySelector('[data-test-script-state=notRunning]')
        && !all('[data-testid=stSkeleton]').some(isShown)
        && !all('[data-testid=stPlotlyChart]').some(isEmpty('.main-svg'))
        && !all('[data-testid=stDataFrame]').some(isEmpty('canvas'))
    const look = () => {
        if (!seen.first && all('h1').some(isShown)) seen.first = performance.now() / 1000
        if (seen.first && isDrawn()) seen.all = performance.now() / 1000
        else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
})()"""
"""Sets `seen.first`, when the headline is shown, and `seen.all`, when all is: seconds since the page was asked for."""
ONE_LINE = "import streamlit\nstreamlit.title('One line')\n"
WITH_CHART = f"""{ONE_LINE}import pandas, plotly.graph_objects
streamlit.dataframe(pandas.DataFrame({{"a": [1]}}))
streamlit.plotly_chart(plotly.graph_objects.Figure().add_scatter(y=[1, 2]))
"""
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
        for what, script in (("one line", ONE_LINE), ("one line, a table and a chart", WITH_CHART)):
            with _streamlit(script) as peer:
                yield _row(browser, f"Streamlit's own page of {what}", peer)
        for info in PAGES:
            yield _row(browser, info.title, _address(url, info))
        yield _again(browser, _address(url, BY_NAME["whatif"]))
        for name in ("whatif", "generations"):
            yield _steps(browser, url, name)
        browser.close()


@contextmanager
def _streamlit(source: str) -> Iterator[str]:
    """The address of a page that does what `source` says."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "page.py")
        script.write_text(source)
        options = [f"--server.port={port}", "--server.headless=true"]
        command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            assert server.stdout is not None
            try:
                next(line for line in server.stdout if b"URL" in line)
                yield f"http://127.0.0.1:{port}"
            finally:
                server.kill()


def _address(url: str, info: PageInfo) -> str:
    return f"{url}/{'' if info is PAGES[0] else info.name}{f'?group={GROUP}' if info.shows_group else ''}"


def _row(browser: Browser, title: str, address: str) -> Row:
    visits = [_visit(browser, address) for _ in range(VISITS)]
    first, drawn = (median(times) for times in zip(*visits, strict=True))
    first_visit = " and ".join(f"{seconds:.2f} s" for seconds in visits[0])
    return Row(
        f"{title}: first sentence, and all drawn",
        f"{first:.2f} and {drawn:.2f} s",
        f"goal < 1.5 s and < 2.5 s; median of {VISITS}, each in a new profile; the server's first: {first_visit}",
    )


def _again(browser: Browser, address: str) -> Row:
    with plain_tab(browser, CLOCK) as tab:
        _, *visits = [_seen(tab, address) for _ in range(1 + VISITS)]
    first, drawn = (median(times) for times in zip(*visits, strict=True))
    return Row(
        "What if again, in the same profile: first sentence, and all drawn",
        f"{first:.2f} and {drawn:.2f} s",
        f"goal < 1.5 s; median of {VISITS}",
    )


def _visit(browser: Browser, address: str) -> tuple[float, float]:
    with plain_tab(browser, CLOCK) as tab:
        return _seen(tab, address)


def _seen(tab: PlainTab, address: str) -> tuple[float, float]:
    """Seconds until the headline is shown, and until tables and charts are, too, and no script runs any more."""
    tab.open(address)
    first, drawn = tab.wait_for("window.seen?.all && [seen.first, seen.all]")
    return first, drawn


def _steps(browser: Browser, url: str, name: str) -> Row:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{url}/{name}?example={EXAMPLE}&gen=0")
    page.wait_for_function(SHOWN)
    page.wait_for_selector(AT_REST)
    page.get_by_role("slider", name="Generation").focus()
    took = [_step(page) for _ in range(STEPS)]
    page.close()
    return Row(
        f"{BY_NAME[name].title}: a step of the slider, until the animation shows it",
        f"{median(took):.2f} s",
        f"goal < 0.5 s; median of {STEPS}, worst {max(took):.2f} s; example {EXAMPLE}",
    )


def _step(page: Page) -> float:
    before = page.evaluate(SHOWN)
    began = time.monotonic()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"before => ![undefined, before].includes(({SHOWN})())", arg=before)
    took_s = time.monotonic() - began
    page.wait_for_selector(AT_REST)
    return took_s
