"""The HTTP routes beside Streamlit's own."""

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from app.pages import PAGES
from app.server import source
from app.server.access.session import CALLBACK
from app.server.api.burrow.routes import burrow_routes
from app.server.api.routes import API, BESIDE_API
from app.server.compat.login import login_address
from app.server.compat.page_shell import page_shell
from app.server.metrics import metrics
from app.server.middleware import after_login
from app.server.middleware.access import base_path
from app.server.tools.http import ToolsEndpoint
from app.server.unknown_page import html as unknown_page_html


class PageNameConvertor(Convertor[str]):
    """A single word, which neither Streamlit's own paths nor files are."""

    regex = f"(?!{CALLBACK[1:]}$)[A-Za-z][A-Za-z0-9_-]*"

    def convert(self, value: str) -> str:
        """The word as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The word as it is."""
        return value


register_url_convertor("page_name", PageNameConvertor())


async def first_page(request: Request) -> RedirectResponse:
    """Redirect to the root: Streamlit serves the first page only there, and answers its name with "Page not found"."""
    return RedirectResponse(f"{base_path()}?{request.url.query}".rstrip("?"))


async def login(request: Request) -> Response:
    """Begin a login with the `provider`; afterwards the browser returns to `next`, a page of this server."""
    access, provider = source.installed().access, request.query_params.get("provider", "")
    if access is None or provider not in access.providers:
        return RedirectResponse(base_path())
    answer = RedirectResponse(login_address(provider), headers={"Cache-Control": "no-store"})
    if cookie := after_login.remember(request.query_params.get("next", "")):
        answer.headers.append("set-cookie", cookie)
    return answer


async def page(_request: Request) -> HTMLResponse:
    """Any other page."""
    return HTMLResponse(page_shell(base_path()), headers={"Cache-Control": "no-cache"})


async def unknown_page(request: Request) -> HTMLResponse:
    """Any other word."""
    answer = unknown_page_html(request.path_params["name"], request.url.query, base_path())
    return HTMLResponse(answer, status_code=404)


ROUTES = [
    API,
    *burrow_routes(),
    BESIDE_API,
    Route("/metrics", metrics),
    Route("/mcp", ToolsEndpoint(base_path)),
    Route("/login", login),
    Route(f"/{PAGES[0].name}", first_page),
    *(Route(f"/{info.name}", page) for info in PAGES[1:]),
    Route("/{name:page_name}", unknown_page),
]
