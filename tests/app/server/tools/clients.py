"""The package's own client, over HTTP without a socket and over stdio."""

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from starlette.applications import Starlette

from app.server.routes import ROUTES

R = TypeVar("R")
Talk = Callable[[Client], Awaitable[R]]
SERVER = "http://127.0.0.1:8501"


def over_http(talk: Talk[R], mode: str = "auto") -> R:
    """What the client finds at /mcp of the installed source."""

    async def run() -> R:
        transport = httpx2.ASGITransport(app=Starlette(routes=ROUTES))
        async with (
            httpx2.AsyncClient(transport=transport) as http,
            Client(streamable_http_client(f"{SERVER}/mcp", http_client=http), mode=mode) as client,
        ):
            return await talk(client)

    return run_apart(run)


def over_stdio(talk: Talk[R], command: str = sys.executable, *args: str) -> R:
    """What the client finds with a command, by default the hand-made server."""
    shown = StdioServerParameters(
        command=command, args=list(args) or ["-m", "tests.app.server.tools.hand_made", SERVER], cwd="."
    )

    async def run() -> R:
        async with Client(shown) as client:
            return await talk(client)

    return run_apart(run)


def run_apart(run: Callable[[], Awaitable[R]]) -> R:
    """Run it in a thread of its own: Playwright keeps a loop running in this one after a browser test."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, run).result()


def calls(*asked: tuple[str, Mapping[str, Any]]) -> Talk[Sequence[CallToolResult]]:
    """A conversation: these calls."""

    async def talk(client: Client) -> Sequence[CallToolResult]:
        return [await client.call_tool(name, dict(arguments)) for name, arguments in asked]

    return talk


def document(answer: CallToolResult) -> Any:
    """The structured answer, which is also there as text."""
    (text,) = answer.content
    assert isinstance(text, TextContent)
    assert json.loads(text.text) == answer.structured_content
    return answer.structured_content


def ask(name: str, **arguments: Any) -> Any:
    """The answer of a tool over HTTP: page, notes and result."""
    (answer,) = over_http(calls((name, arguments)))
    assert not answer.is_error, answer.content
    return document(answer)


def refused(name: str, **arguments: Any) -> Any:
    """Why a tool has no answer, as problem details."""
    (answer,) = over_http(calls((name, arguments)))
    assert answer.is_error
    return document(answer)
