"""An HTTP client of the routes, without a socket.

Unlike Starlette's TestClient it needs no HTTP library, and can read the beginning of an answer that never ends.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import Message

from app.server.routes import ROUTES


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def request(
    method: str,
    path: str,
    query: str = "",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    *,
    until: str | None = None,
    routes: Sequence[BaseRoute] = ROUTES,
) -> Answer:
    """The answer; with `until`, the client goes away as soon as this text has arrived."""
    sent: list[Message] = []
    received: list[Message] = [{"type": "http.request", "body": body}]
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
        "server": ("localhost", 80),
    }

    async def exchange() -> None:
        gone = anyio.Event()

        async def receive() -> Message:
            if received:
                return received.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if until is not None and until.encode() in _body(sent):
                gone.set()

        with anyio.fail_after(30):
            await Starlette(routes=routes)(scope, receive, send)

    # a thread of its own: Playwright keeps a loop running in this one after a browser test
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, exchange).result()
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], answered, _body(sent))


def get(path: str, query: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    return request("GET", path, query, headers=headers)


def _body(sent: Sequence[Message]) -> bytes:
    return b"".join(part.get("body", b"") for part in sent)
