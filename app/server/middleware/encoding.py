"""Whether an answer may be compressed (RFC 9110, Accept-Encoding)."""

import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

NAME = "accept-encoding"
_ZERO = re.compile(r"q=0(\.0*)?")


class RefusedGzipMiddleware:
    """Hides `gzip;q=0` from Starlette 1.10.0, whose GZipMiddleware looks for the word alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; without its Accept-Encoding where that refuses gzip."""
        if scope["type"] == "http" and not accepts_gzip(Headers(scope=scope).getlist(NAME)):
            others = [(name, value) for name, value in scope["headers"] if name.lower() != NAME.encode()]
            scope = {**scope, "headers": others}
        await self._app(scope, receive, send)


def accepts_gzip(lines: Iterable[str]) -> bool:
    """Whether these lines of Accept-Encoding name gzip, with a weight above 0."""
    parts = ["".join(part.split()).lower().split(";") for part in ",".join(lines).split(",")]
    return any(coding == "gzip" and not any(map(_ZERO.fullmatch, weight)) for coding, *weight in parts)
