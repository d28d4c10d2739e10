"""The HTTP routes beside Streamlit's own."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
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


def get(path: str, query: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        "server": ("localhost", 80),
    }
    # a thread of its own: Playwright keeps a loop running in this one after a browser test
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, Starlette(routes=ROUTES), scope, receive, send).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(part.get("body", b"") for part in sent[1:]))


@pytest.mark.parametrize(
    ("address", "near"), [("what-if", "whatif"), ("Generation", "generations"), ("topic", "topics"), ("xyz", "")]
)
def test_an_unknown_address_names_the_nearest_page(address: str, near: str) -> None:
    answer = get(f"/{address}")
    assert answer.status == 404
    assert f'href="/{near}"' in answer.text
    assert address in answer.text


def test_a_page_is_served_and_the_first_one_is_at_the_root() -> None:
    assert get("/group", "group=a").status == 200
    assert get("/overview", "group=a").headers["location"] == "/?group=a"


@pytest.mark.parametrize("address", ["_stcore", "favicon.png", "a/b", "<script>"])
def test_what_is_no_word_is_left_to_streamlit(address: str) -> None:
    assert get(f"/{address}").text == "Not Found"
