"""The HTTP routes beside Streamlit's own."""

from difflib import get_close_matches
from html import escape

import streamlit as st
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from app.pages import BY_NAME, PAGES
from app.server import readiness
from app.server.api.burrow.routes import burrow_routes
from app.server.api.routes import API, NO_API
from app.server.compat.page_shell import page_shell
from app.server.metrics import metrics
from app.server.tools.http import ToolsEndpoint

UNKNOWN_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>No such page · groupscope</title>
<style>
  :root {{ color-scheme: light dark }}
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }}
</style>
<h1>There is no page <code>{name}</code></h1>
<p>Did you mean {link}</p>
</html>"""


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
    """Our own answer to an address that is no page, with the nearest page: Streamlit would show the first page."""
    name = request.path_params["name"]
    close = get_close_matches(name.lower().replace("-", "").replace("_", ""), BY_NAME, n=1)
    near = BY_NAME[close[0]] if close else PAGES[0]
    target = f"{_base_path()}{'' if near is PAGES[0] else near.name}"
    link = f'<a href="{escape(target)}">{escape(near.title)}</a>: {escape(near.question)}'
    return HTMLResponse(UNKNOWN_PAGE.format(name=escape(name), link=link), status_code=404)


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
