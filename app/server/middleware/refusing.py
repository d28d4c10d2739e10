"""The answer that says why a request is refused: a problem (RFC 9457)."""

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from app.server.access.refusal import Refusal
from app.server.api.problem import MEDIA_TYPE, ApiError

POLICY_VIOLATION = 1008
DENIAL = "websocket.http.response"


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or refuse a WebSocket before it is accepted."""
    if scope["type"] == "websocket" and DENIAL not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    problem = ApiError(refusal.status, refusal.detail).document()
    headers = {"Cache-Control": "no-store", **refusal.headers}
    await JSONResponse(problem, refusal.status.value, headers, MEDIA_TYPE)(scope, receive, send)
