"""Connections do not wait for acknowledgements before they send, and each wait for a client has a limit."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from streamlit.web.server.starlette import starlette_server
from websockets.sync.client import connect

from app.server import source
from app.server.api.routes import API
from app.server.compat import connections
from app.server.middleware.access import AccessMiddleware
from app.server.settings import Settings
from app.server.source import Source
from app.server.tools.http import ToolsEndpoint
from tests.support.waiting import wait_until

LIMIT_S = 0.4
LARGE = b"x" * 12_000_000
STEP_S = 0.05
GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
JSON = b"Content-Type: application/json\r\nAccept: application/json\r\n"
POST = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"


def accepted_option(listening: socket.socket) -> int:
    """TCP_NODELAY of a connection that the socket accepts."""
    with listening, socket.create_connection(listening.getsockname()[:2]):
        listening.setblocking(True)
        with listening.accept()[0] as connection:
            return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("address", ["127.0.0.1", "::"])
def test_connections_to_the_server_send_small_answers_at_once(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(starlette_server, "_bind_socket", connections._bind)
    monkeypatch.setattr(starlette_server, "_get_uvicorn_config_kwargs", connections._options)
    connections.set_up_connections()
    listening, _ = starlette_server._bind_server_socket(address, address, 0, 1)
    assert accepted_option(listening) == 1


def test_streamlits_own_socket_does_not_name_tcp() -> None:
    listening = connections._bind("127.0.0.1", 0, 1)
    assert listening.proto == 0, "asyncio sets TCP_NODELAY itself: connections.bound is unnecessary"
    assert accepted_option(listening) == 0


async def echo(request: Request) -> Response:
    return PlainTextResponse(await request.body() or b"hello")


async def slow(_request: Request) -> Response:
    await asyncio.sleep(3 * LIMIT_S)
    return PlainTextResponse("at last")


async def endless(_request: Request) -> Response:
    async def parts() -> Any:
        while True:
            yield b"x" * 100_000
            await asyncio.sleep(0)

    return StreamingResponse(parts())


async def large(_request: Request) -> Response:
    return Response(LARGE)


async def page(its: WebSocket) -> None:
    await its.accept()
    await its.send_text(await its.receive_text())


ROUTES = [
    Route("/", echo, methods=["GET", "POST"]),
    Route("/slow", slow),
    Route("/endless", endless),
    Route("/large", large),
    WebSocketRoute("/page", page),
]
MCP = Route("/mcp", ToolsEndpoint(lambda: "/"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    """uvicorn with the options that it gets from us, and with short limits."""
    for name in ("HEAD_WITHIN_S", "BODY_WITHIN_S", "READ_WITHIN_S"):
        monkeypatch.setattr(connections, name, LIMIT_S)
    source.install(Source(Settings(mcp=True), {}))
    app = AccessMiddleware(Starlette(routes=[*ROUTES, API, MCP]), lambda: "")
    its = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, **connections.options()))
    thread = Thread(target=its.run, daemon=True)
    thread.start()
    wait_until(lambda: its.started, every_s=STEP_S)
    yield its
    its.should_exit = its.force_exit = True
    thread.join(20)
    source.uninstall()


@contextmanager
def connected(server: uvicorn.Server) -> Iterator[socket.socket]:
    address = server.servers[0].sockets[0].getsockname()
    with socket.create_connection(address, timeout=20) as client:
        yield client


def dripping(client: socket.socket) -> bytes:
    """What the server says to a client that sends a byte now and then, until it hangs up."""
    said = Event()

    def drip() -> None:
        with suppress(OSError):
            while not said.wait(STEP_S):
                client.sendall(b"x")

    thread = Thread(target=drip, daemon=True)
    thread.start()
    try:
        return until_closed(client)
    finally:
        said.set()
        thread.join(20)


def until_closed(client: socket.socket) -> bytes:
    data = b""
    with suppress(ConnectionResetError):
        while part := client.recv(65_536):
            data += part
    return data


def ends(client: socket.socket, end: bytes) -> bool:
    """Whether an answer arrives that ends so."""
    data = b""
    while not data.endswith(end) and (part := client.recv(65_536)):
        data += part
    return data.endswith(end)


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "], ids=["nothing", "half a head"]
)
@pytest.mark.parametrize("follow", [until_closed, dripping])
def test_a_request_whose_headers_do_not_end_is_hung_up(
    server: uvicorn.Server, sent: bytes, follow: Callable[[socket.socket], bytes]
) -> None:
    with connected(server) as client:
        client.sendall(sent)
        assert follow(client) == b""


def test_a_second_request_whose_headers_do_not_end_is_hung_up(server: uvicorn.Server) -> None:
    with connected(server) as client:
        client.sendall(GET)
        assert ends(client, b"hello")
        client.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        assert dripping(client) == b""


@pytest.mark.parametrize("follow", [until_closed, dripping])
def test_a_request_whose_body_does_not_end_is_told_so(
    server: uvicorn.Server, follow: Callable[[socket.socket], bytes]
) -> None:
    with connected(server) as client:
        client.sendall(POST)
        assert follow(client) == connections.TOO_LATE


def test_a_client_that_does_not_read_its_answer_is_hung_up(server: uvicorn.Server) -> None:
    with connected(server) as client:
        client.sendall(GET.replace(b"/ ", b"/endless ", 1))
        wait_until(lambda: server.server_state.connections, every_s=STEP_S)
        wait_until(lambda: not server.server_state.connections, every_s=STEP_S)


def test_a_client_that_reads_a_large_answer_slowly_gets_all_of_it(server: uvicorn.Server) -> None:
    with connected(server) as client:
        client.sendall(GET.replace(b"/ ", b"/large ", 1))
        left = client.recv(65_536).partition(b"\r\n\r\n")[2]
        read = len(left)
        while read < len(LARGE) and (part := client.recv(len(LARGE) // 40, socket.MSG_WAITALL)):
            read += len(part)
            time.sleep(LIMIT_S / 8)
        assert read == len(LARGE)


def test_a_client_that_waits_for_us_and_an_open_page_are_left_alone(server: uvicorn.Server) -> None:
    host, port = server.servers[0].sockets[0].getsockname()
    with connected(server) as client, connect(f"ws://{host}:{port}/page") as its:
        client.sendall(GET.replace(b"/ ", b"/slow ", 1))
        assert ends(client, b"at last")
        time.sleep(2 * LIMIT_S)  # nothing comes, and nothing may happen
        its.send("hello")
        assert its.recv(20) == "hello"


def test_requests_in_time_share_a_connection(server: uvicorn.Server) -> None:
    with connected(server) as client:
        for _ in range(3):
            client.sendall(POST)
            client.sendall(b"y" * 1000)
            assert ends(client, b"y" * 1000)
            time.sleep(LIMIT_S / 2)  # three of these are more than the limit


@pytest.mark.parametrize("path", ["/", "/api/v1/what-if", "/api/v1/advice", "/mcp"])
def test_a_client_that_hangs_up_before_its_request_is_complete_is_no_error(
    server: uvicorn.Server, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    caplog.set_level(logging.INFO)
    with connected(server) as client:
        client.sendall(
            POST.replace(b"/", path.encode(), 1).replace(b"127.0.0.1\r\n", b"127.0.0.1\r\n" + JSON, 1) + b'{"a":'
        )
        wait_until(lambda: server.server_state.tasks, every_s=STEP_S)
    wait_until(lambda: not server.server_state.tasks, every_s=STEP_S)
    assert [record.message for record in caplog.records if record.levelno > logging.INFO] == []
    assert f"POST {path}: the client hung up before its request was complete" in caplog.messages


def test_clients_that_hang_up_in_the_middle_of_an_answer_are_no_error(
    server: uvicorn.Server, caplog: pytest.LogCaptureFixture
) -> None:
    host, port = server.servers[0].sockets[0].getsockname()
    for path in (b"/endless", b"/slow"):
        with connected(server) as client:
            client.sendall(GET.replace(b"/", path, 1))
            wait_until(lambda: server.server_state.tasks, every_s=STEP_S)
    its = connect(f"ws://{host}:{port}/page")
    its.socket.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: not server.server_state.tasks, every_s=STEP_S)
    assert [record.message for record in caplog.records if record.levelno > logging.INFO] == []
