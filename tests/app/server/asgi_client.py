"""Requests and WebSockets to the whole app or to a middleware, without a socket."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.types import ASGIApp, Message

from tests.app.server.client import Answer
from tests.support.event_loop import run_beside

HOST = "127.0.0.1:8501"


@dataclass(frozen=True)
class Asked:
    """A request, or the handshake of a WebSocket. `client` is the peer, `server` the address that it came to.

    A header whose value has line breaks is sent as several lines.
    """

    path: str
    method: str = "GET"
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = (b"",)
    client: tuple[str, int] = ("127.0.0.1", 50_000)
    server: tuple[str, int] = ("127.0.0.1", 8501)
    scheme: str = "http"
    is_websocket: bool = False

    def scope(self) -> dict[str, Any]:
        headers = {"host": HOST, **{name.lower(): value for name, value in self.headers.items()}}
        return {
            "type": "websocket" if self.is_websocket else "http",
            "method": self.method,
            "path": unquote(self.path),
            "raw_path": self.path.encode(),
            "root_path": "",
            "query_string": self.query.encode(),
            "headers": [
                (name.encode(), line.encode()) for name, value in headers.items() if value for line in value.split("\n")
            ],
            "client": self.client,
            "server": self.server,
            "scheme": self.scheme.replace("http", "ws") if self.is_websocket else self.scheme,
            "extensions": {"websocket.http.response": {}} if self.is_websocket else {},
            "subprotocols": [],
        }


def answer(app: ASGIApp, asked: Asked) -> Answer:
    """The answer of the app; 101 for a WebSocket that was accepted, and then closed by the browser."""
    sent: list[Message] = []
    body = [
        {"type": "http.request", "body": chunk, "more_body": at < len(asked.chunks) - 1}
        for at, chunk in enumerate(asked.chunks)
    ]
    received: list[Message] = [{"type": "websocket.connect"}] if asked.is_websocket else list(body)

    async def receive() -> Message:
        if not received and not asked.is_websocket:
            await anyio.sleep_forever()  # the client stays connected: an answer in parts ends when it is disconnected
        return received.pop(0) if received else {"type": "websocket.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        with anyio.fail_after(30):
            await app(asked.scope(), receive, send)

    run_beside(run)  # the context says who the visitor is
    if sent[0]["type"] in ("websocket.accept", "websocket.close"):
        return Answer(101 if sent[0]["type"] == "websocket.accept" else 403, {}, b"")
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(part.get("body", b"") for part in sent[1:]))
