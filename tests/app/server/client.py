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


@dataclass(frozen=True)
class Request:
    """A request. With `until`, the client goes away as soon as this text has arrived.

    A header whose value has line breaks is sent as several lines.
    """

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] | None = None
    until: str | None = None

    def scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "method": self.method,
            "path": unquote(self.path),
            "raw_path": self.path.encode(),
            "query_string": self.query.encode(),
            "headers": [
                (name.lower().encode(), line.encode())
                for name, value in (self.headers or {}).items()
                for line in value.split("\n")
            ],
            "server": ("localhost", 80),
        }


def requests(asked: Sequence[Request], routes: Sequence[BaseRoute] = ROUTES) -> list[Answer]:
    """The answers to requests that come at the same time."""
    found: list[Answer | None] = [None] * len(asked)

    async def answer(at: int, app: Starlette) -> None:
        found[at] = await exchange(asked[at], app)

    async def all_of_them() -> None:
        app = Starlette(routes=routes)
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for at in range(len(asked)):
                    tasks.start_soon(answer, at, app)

    # a thread of its own: Playwright keeps a loop running in this one after a browser test
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, all_of_them).result()
    return [answer for answer in found if answer is not None]


async def exchange(asked: Request, app: Starlette) -> Answer:
    """The answer to one request."""
    sent: list[Message] = []
    received: list[Message] = [{"type": "http.request", "body": asked.body}]
    gone = anyio.Event()

    async def receive() -> Message:
        if received:
            return received.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if asked.until is not None and asked.until.encode() in _body(sent):
            gone.set()

    await app(asked.scope(), receive, send)
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], answered, _body(sent))


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
    """The answer to one request."""
    (answer,) = requests([Request(method, path, query, body, headers, until)], routes)
    return answer


def get(path: str, query: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    return request("GET", path, query, headers=headers)


def _body(sent: Sequence[Message]) -> bytes:
    return b"".join(part.get("body", b"") for part in sent)
