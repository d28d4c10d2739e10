"""The HTTP routes beside Streamlit's own."""

from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route

from app.server import source
from app.server.compat.page_shell import page_shell
from app.ui.pages import PAGES


async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the root: Streamlit serves the first page only there, and answers its name with "Page not found"."""
    return RedirectResponse(f"{_base_path()}?{request.url.query}".rstrip("?"))


async def page(_request: Request) -> HTMLResponse:
    """Any other page."""
    return HTMLResponse(page_shell(_base_path()), headers={"Cache-Control": "no-cache"})


def _base_path() -> str:
    return f"/{st.get_option('server.baseUrlPath').strip('/')}/".replace("//", "/")


async def ready(_request: Request) -> JSONResponse:
    """200 when every cluster has been read at least once, else 503; with the state of each cluster."""
    clusters = {name: _state(feed) for name, feed in source.current().feeds.items()}
    is_ready = bool(clusters) and all(state["number"] is not None for state in clusters.values())
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


ROUTES = [
    Route("/api/ready", ready),
    Route(f"/{PAGES[0].name}", first_page),
    *(Route(f"/{info.name}", page) for info in PAGES[1:]),
]
