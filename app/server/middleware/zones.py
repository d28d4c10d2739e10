"""Which addresses are for everybody, and how somebody who is not known, or has no role, is answered."""

from html import escape
from http import HTTPStatus
from urllib.parse import quote

from starlette.responses import HTMLResponse

from app.pages import PAGES
from app.server.access.access import CHALLENGE
from app.server.access.connection import Connection
from app.server.access.session import CALLBACK
from app.server.middleware.checks import PROBES
from app.server.plain_page import plain_page

OPEN = (*PROBES, "/login", "/auth/login", "/auth/logout", CALLBACK, "/_stcore/health", "/favicon.png")
OPEN_FOLDERS = ("/static/",)
"""Streamlit's own scripts and fonts."""

PAGE_PATHS = ("/", *(f"/{page.name}" for page in PAGES))


def is_open(path: str) -> bool:
    """Whether everybody may ask for the address."""
    return path in OPEN or path.startswith(OPEN_FOLDERS)


def is_page(asked: Connection) -> bool:
    """Whether a browser asks for a page."""
    return not asked.is_websocket and asked.method == "GET" and asked.path in PAGE_PATHS


def login_page(asked: Connection, providers: tuple[str, ...], base_path: str) -> HTMLResponse:
    """The page that leads to the login, and after it back to the page that was asked for."""
    after = quote(f"{asked.path}{asked.query and f'?{asked.query}'}", safe="")
    address = f"{base_path}login?next={after}&amp;provider="
    links = [f'<p class="login"><a href="{address}{quote(name)}">{escape(_label(name))}</a></p>' for name in providers]
    none = "<p>This server has no login for browsers. Programs send a token.</p>"
    content = f"<h1>groupscope</h1>\n<p>Log in to see Kafka consumer groups.</p>\n{''.join(links) or none}"
    return _page("Log in", content, HTTPStatus.UNAUTHORIZED, base_path)


def _label(provider: str) -> str:
    return "Log in" if provider == "default" else f"Log in with {provider}"


def no_role_page(name: str, can_log_out: bool, base_path: str) -> HTMLResponse:
    """The page for somebody who is known and may see nothing."""
    log_out = f'<p><a href="{base_path}auth/logout">Log out</a></p>' if can_log_out else ""
    content = (
        f"<h1>No role for <code>{escape(name)}</code></h1>\n"
        '<p class="lead">You are logged in, but the roles file of this server gives you no role.</p>\n'
        f"<p>Ask the administrator of groupscope to add you, or one of your groups, to that file.</p>{log_out}"
    )
    return _page("No role", content, HTTPStatus.FORBIDDEN, base_path)


def _page(title: str, content: str, status: HTTPStatus, base_path: str) -> HTMLResponse:
    headers = {"Cache-Control": "no-store", **(CHALLENGE if status is HTTPStatus.UNAUTHORIZED else {})}
    return HTMLResponse(plain_page(title, content, base_path), status, headers)
