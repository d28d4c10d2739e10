"""Builds the server around the pages: what starts and stops with it, its routes, its settings.

Streamlit reads `.streamlit/config.toml` from the working directory and beside the script that was started, which is our
command's; `serve` hands over the packaged file, so that theme and security settings hold wherever the command is run.
The file of the checkout's top folder is the same: a wheel has no room for it.
"""

import logging
import tomllib
from asyncio import CancelledError
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route
from streamlit.file_util import get_static_dir

from app.server import source
from app.server.compat.media_retention import keep_downloads
from app.server.compat.shutdown import hurried
from app.server.source import Source
from app.ui.pages import PAGES

log = logging.getLogger(__name__)

APP = Path(__file__).resolve().parents[1]
Start = Callable[[], AbstractContextManager[Source]]


def build(start: Start) -> st.App:
    """The server; `start` makes the source when it starts, and stops it when the server ends."""

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        keep_downloads()
        running = start()
        source.install(await anyio.to_thread.run_sync(running.__enter__))
        try:
            with hurried():
                yield
        except CancelledError:
            log.info("told twice to stop: not waiting for open connections")  # its traceback would tell people nothing
        finally:
            source.uninstall()
            await anyio.to_thread.run_sync(running.__exit__, None, None, None)

    first, *others = PAGES
    pages = [Route(f"/{first.name}", to_first_page), *(Route(f"/{page.name}", page_shell) for page in others)]
    return st.App(APP / "main.py", lifespan=lifespan, routes=[Route("/api/ready", ready), *pages])


def serve(app: st.App, port: int, address: str = "127.0.0.1") -> None:
    """Serve until SIGINT or SIGTERM."""
    app.run(config={**packaged_config(), "server.port": port, "server.address": address, "server.headless": True})


def packaged_config() -> dict[str, Any]:
    """The packaged config.toml as dotted options."""
    return dict(_flat(tomllib.loads((APP / ".streamlit" / "config.toml").read_text())))


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    return [
        pair
        for key, value in table.items()
        for pair in (_flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(f"{prefix}{key}", value)])
    ]


async def to_first_page(request: Request) -> RedirectResponse:
    """Streamlit serves the first page at the root only, and says "Page not found" to whoever types its name."""
    return RedirectResponse(f"{_base()}?{request.url.query}".rstrip("?"))


async def page_shell(_request: Request) -> HTMLResponse:
    """Streamlit's page, told where its server is.

    Else a deep link such as /group?group=x first looks for the server below /group, and the browser's console shows
    two failed requests.
    """
    told = f'<head><script>window.__streamlit={{BACKEND_BASE_URL:location.origin+"{_base()}"}}</script>'
    shell = (Path(get_static_dir()) / "index.html").read_text()
    return HTMLResponse(shell.replace("<head>", told, 1), headers={"Cache-Control": "no-cache"})


def _base() -> str:
    return f"/{st.get_option('server.baseUrlPath').strip('/')}/".replace("//", "/")


async def ready(_request: Request) -> JSONResponse:
    """200 when every cluster has been read at least once, else 503; says per cluster how old its data is."""
    feeds = source.current().feeds
    clusters = {name: _state(feed) for name, feed in feeds.items()}
    is_ready = bool(feeds) and all(state["number"] is not None for state in clusters.values())
    return JSONResponse({"ready": is_ready, "clusters": clusters}, status_code=200 if is_ready else 503)


def _state(feed: source.Feed) -> dict[str, Any]:
    report, status = feed.latest(), feed.status()
    return {
        "number": report.snapshot.number if report else None,
        "at_ms": report.snapshot.at_ms if report else None,
        "complete": report.snapshot.complete if report else None,
        "polls": status.polls,
        "requests_per_poll": sum(broker.requests for broker in report.snapshot.brokers) if report else None,
        "error": None if status.error is None else str(status.error),
    }
