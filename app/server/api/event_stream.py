"""Server-sent events, to a limited number of clients."""

from collections.abc import AsyncIterator
from http import HTTPStatus

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.server.api.endpoint import EVENTS
from app.server.api.problem import ApiError

MOST_STREAMS = 100
NOT_STORED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""A proxy passes each event on at once (the second is nginx's)."""

_open = 0


class EventStream(StreamingResponse):
    """The events, counted while they are sent."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or the client goes away."""
        global _open
        _open += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            _open -= 1


def event_stream(events: AsyncIterator[bytes], *, has_body: bool) -> Response:
    """The answer with these events; only its headers without a body. Raises ApiError."""
    if not has_body:
        return StreamingResponse(iter(()), headers=NOT_STORED, media_type=EVENTS)  # its length is not known
    if _open >= MOST_STREAMS:
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_STREAMS} clients are already reading events.")
    return EventStream(events, headers=NOT_STORED, media_type=EVENTS)
