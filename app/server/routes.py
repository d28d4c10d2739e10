"""The HTTP routes beside Streamlit's own."""

import streamlit as st
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from app.pages import PAGES
from app.server import readiness
from app.server.api.burrow.routes import burrow_routes
from app.server.api.routes import API, NO_API
from app.server.compat.page_shell import page_shell
from app.server.metrics import metrics
from app.server.tools.http import ToolsEndpoint
from app.server.unknown_page import html as unknown_page_html


class PageNameConvertor(Convertor[str]):
    """A single word, which neither Streamlit's own paths nor files are."""

    regex = "[A-Za-z][A-Za-z0-9_-]*"

    def convert(self, value: str) -> str:
        """The word as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The word as it is."""
        return value


register_url_convertor("page_name", PageNameConvertor())


async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the root: Streamlit serves the first page only there, and answers its name with "Page not found"."""
    return RedirectResponse(f"{_base_path()}?{request.url.query}".rstrip("?"))


async def page(_request: Request) -> HTMLResponse:
    """Any other page."""
    return HTMLResponse(page_shell(_base_path()), headers={"Cache-Control": "no-cache"})


async def unknown_page(request: Request) -> HTMLResponse:
    """Any other word."""
    answer = unknown_page_html(request.path_params["name"], request.url.query, _base_path())
    return HTMLResponse(answer, status_code=404)


def _base_path() -> str:
    return f"/{st.get_option('server.baseUrlPath').strip('/')}/".replace("//", "/")


ROUTES = [
    API,
    *burrow_routes(),
    *readiness.ROUTES,
    NO_API,
    Route("/metrics", metrics),
    Route("/mcp", ToolsEndpoint(_base_path)),
    Route(f"/{PAGES[0].name}", first_page),
    *(Route(f"/{info.name}", page) for info in PAGES[1:]),
    Route("/{name:page_name}", unknown_page),
]
