"""The tool server at `/mcp` of the dashboard (streamable HTTP), if GROUPSCOPE_MCP is on."""

from collections.abc import Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive, Scope, Send

from app.server import source
from app.server.compat.request_origin import is_allowed

OFF = "The tool server is off. GROUPSCOPE_MCP=on switches it on.\n"
ONLY_POST = "Only POST: the tool server sends nothing by itself, and has no sessions.\n"
ENCODED = "Send the body without a Content-Encoding.\n"
REFUSED = "This Host or Origin is not allowed.\n"


class ToolsEndpoint:
    """Answers each request by itself: there are no sessions, so a restart loses none.

    `base_path` returns the path of the first page, which begins and ends with a slash.
    """

    def __init__(self, base_path: Callable[[], str]) -> None:
        self._base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        refusal = _refusal(request)
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            whole = await _received(receive, scope)
            await _serve(f"{request.url.scheme}://{request.url.netloc}{self._base_path()}", scope, whole, send)


def _refusal(request: Request) -> Response | None:
    """Why the request gets no answer; None: it gets one."""
    if not source.current().settings.mcp:
        return PlainTextResponse(OFF, HTTPStatus.NOT_FOUND)
    if not is_allowed(request.headers.get("host"), request.headers.get("origin")):
        return PlainTextResponse(REFUSED, HTTPStatus.FORBIDDEN)
    if request.method != "POST":
        return PlainTextResponse(ONLY_POST, HTTPStatus.METHOD_NOT_ALLOWED, {"Allow": "POST"})
    if "content-encoding" in request.headers:
        return PlainTextResponse(ENCODED, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    return None


async def _received(receive: Receive, scope: Scope) -> Receive:
    """Receives the whole body at once. Raises ClientDisconnect, which the package would log as an error of its own."""
    parts: list[Message] = [{"type": "http.request", "body": await Request(scope, receive).body()}]

    async def again() -> Message:
        return parts.pop() if parts else await receive()

    return again


async def _serve(dashboard: str, scope: Scope, receive: Receive, send: Send) -> None:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from app.server.tools.protocol import tool_server  # imported here because the package is an extra

    manager = StreamableHTTPSessionManager(tool_server(dashboard), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)
