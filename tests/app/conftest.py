"""A source put in place by hand, and the pages run against it without a browser."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import app
from app.server import source
from app.server.source import Source
from app.ui import state
from tests.app import feeds

MAIN = Path(app.__file__).with_name("main.py")
Open = Callable[..., AppTest]


@pytest.fixture
def feed() -> feeds.HandFeed:
    """A feed with the made-up cluster, as of now."""
    return feeds.HandFeed(feeds.report(at_ms=state.now_ms() - 4000))


@pytest.fixture
def demo_source(feed: feeds.HandFeed) -> Source:
    """One cluster, called demo."""
    return feeds.source(demo=feed)


@pytest.fixture
def open_page(demo_source: Source) -> Iterator[Open]:
    """Open a page by name with URL parameters; the source may be replaced."""
    ours = sys.modules["__main__"]
    state.clear()

    def opened(
        page: str = "overview", its: Source = demo_source, zone: str = "Europe/Berlin", **query: str | list[str]
    ) -> AppTest:
        source.install(its)
        test = AppTest.from_file(str(MAIN), default_timeout=60)
        # without one it looks for components in every installed package, which takes longer than most pages
        test._bidi_component_manager = BidiComponentManager()
        test.context = {"timezone": zone, "theme": "light"}
        for key, value in query.items():
            test.query_params[key] = value
        if page != "overview":
            # `switch_page` finds a page only after a run, which would draw the Overview first
            test._page_hash = calc_hash(page)
        return test.run()

    yield opened
    source.uninstall()
    state.clear()
    # AppTest leaves the page as `__main__`, which multiprocessing would run in each process that a later test starts
    sys.modules["__main__"] = ours
