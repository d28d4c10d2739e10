"""What is answered before anybody asks who makes a request, and with which headers."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from app.server import source
from app.server.access.limits import BURST, EVERY_S, MOST_BODY_BYTES, TokenBuckets
from app.server.api import dispatch
from app.server.middleware import access as middleware
from app.server.middleware.access import AccessMiddleware
from app.server.routes import ROUTES
from app.server.settings import Settings
from app.server.source import Source
from tests.app.server.asgi_client import Asked, answer

POLICY = "default-src 'self'"
WITHOUT = Settings()


async def greet(request: Request) -> PlainTextResponse:
    await request.body()
    made = PlainTextResponse("hello")
    made.set_cookie("a", "1", samesite=None)
    made.headers.append("set-cookie", "_streamlit_xsrf=2; Path=/; SameSite=Lax")
    return made


async def accept(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


OWN: list[BaseRoute] = [
    Route("/", greet, methods=["GET", "POST"]),
    WebSocketRoute("/_stcore/stream", accept),
    Route("/_stcore/metrics", greet),
    Route("/_stcore/agent/interact", greet, methods=["POST"]),
]


@pytest.fixture(autouse=True)
def _no_source() -> Iterator[None]:
    yield
    source.uninstall()


def app(settings: Settings = WITHOUT, routes: list[BaseRoute] = OWN) -> ASGIApp:
    source.install(Source(settings, {}))
    return AccessMiddleware(Starlette(routes=routes), lambda: POLICY)


@pytest.mark.parametrize("is_websocket", [False, True], ids=["request", "WebSocket"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, None),
        ({"Host": "localhost:8501"}, None),
        ({"Host": "evil.example:8501"}, 421),
        ({"Host": "evil.example:8501", "Origin": "http://evil.example:8501"}, 421),
        ({"Origin": "http://evil.example:8501"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": ""}, 421),
    ],
)
def test_dns_rebinding_and_pages_of_others_are_refused(
    is_websocket: bool, headers: dict[str, str], status: int | None
) -> None:
    """A WebSocket with the Host and the Origin of another page was accepted (101) before."""
    path = "/_stcore/stream" if is_websocket else "/"
    got = answer(app(), Asked(path, headers=headers, is_websocket=is_websocket))
    assert got.status == (status or (101 if is_websocket else 200))
    if status is not None:
        assert got.headers["content-type"] == "application/problem+json"
        assert got.json["status"] == status


def test_a_name_that_was_allowed_is_answered() -> None:
    served = app(Settings(allowed_hosts=("lag.example.com",)))
    assert answer(served, Asked("/", headers={"Host": "lag.example.com"})).status == 200


@pytest.mark.parametrize(
    ("insecure", "allow_writes", "status"), [(False, False, 403), (True, False, 200), (True, True, 403)]
)
def test_without_login_other_machines_are_answered_only_if_that_was_asked_for(
    insecure: bool, allow_writes: bool, status: int
) -> None:
    asked = Asked("/", headers={"Host": "10.0.0.7:8501"}, server=("10.0.0.7", 8501))
    assert answer(app(Settings(insecure=insecure, allow_writes=allow_writes)), asked).status == status


@pytest.mark.parametrize("path", ["/api/live", "/api/ready"])
def test_probes_are_open_whatever_their_host(path: str) -> None:
    asked = Asked(path, headers={"Host": "pod.example"}, server=("10.0.0.7", 8501))
    assert answer(app(routes=[*ROUTES]), asked).status in (200, 503)


@pytest.mark.parametrize(("path", "method"), [("/_stcore/metrics", "GET"), ("/_stcore/agent/interact", "POST")])
def test_addresses_of_streamlit_that_nobody_needs_are_closed(path: str, method: str) -> None:
    assert answer(app(), Asked(path, method)).status == 404


@pytest.mark.parametrize(("path", "host"), [("/", "127.0.0.1"), ("/nowhere", "127.0.0.1"), ("/", "evil.example")])
def test_every_answer_has_the_headers_that_guard_it(path: str, host: str) -> None:
    headers = answer(app(), Asked(path, headers={"Host": host})).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(("scheme", "secure"), [("http", ""), ("https", "; Secure")])
def test_scripts_read_no_cookie_but_the_one_against_forged_requests(scheme: str, secure: str) -> None:
    sent: list[tuple[bytes, bytes]] = []
    served = app()

    async def spied(scope: Any, receive: Any, send: Any) -> None:
        async def noted(message: Any) -> None:
            sent.extend(message.get("headers", ()))
            await send(message)

        await served(scope, receive, noted)

    answer(spied, Asked("/", scheme=scheme))
    cookies = [value.decode() for name, value in sent if name == b"set-cookie"]
    assert cookies == [
        f"a=1; Path=/; SameSite=Lax; HttpOnly{secure}",
        f"_streamlit_xsrf=2; Path=/; SameSite=Lax{secure}",
    ]


def test_over_a_proxy_that_speaks_https_cookies_are_secure_only_if_it_is_trusted() -> None:
    asked = Asked("/", headers={"X-Forwarded-Proto": "https"}, client=("10.0.0.5", 40_000))
    assert "Secure" not in answer(app(), asked).headers["set-cookie"]
    assert "Secure" in answer(app(Settings(trusted_proxies=(ip_network("10.0.0.0/24"),))), asked).headers["set-cookie"]


@pytest.mark.parametrize(
    ("headers", "chunks"),
    [
        ({"Content-Length": str(MOST_BODY_BYTES + 1)}, (b"",)),
        ({"Content-Length": "x"}, (b"",)),
        ({}, (b"x" * 1_000_000,) * 6),
    ],
    ids=["announced", "nonsense", "streamed"],
)
def test_a_body_that_is_too_large_is_refused(headers: dict[str, str], chunks: tuple[bytes, ...]) -> None:
    assert answer(app(), Asked("/", "POST", headers=headers, chunks=chunks)).status == 413


def test_only_so_many_pages_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "MOST_SESSIONS", 1)
    served = app()
    inner: list[int] = []

    async def first(socket: WebSocket) -> None:
        inner.append(answer_within(served))
        await accept(socket)

    def answer_within(outer: ASGIApp) -> int:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(answer, outer, Asked("/_stcore/stream", is_websocket=True)).result().status

    served._app = Starlette(routes=[WebSocketRoute("/_stcore/stream", first)])  # type: ignore[attr-defined]
    assert answer(served, Asked("/_stcore/stream", is_websocket=True)).status == 101
    assert inner == [503]
    assert answer(app(), Asked("/_stcore/stream", is_websocket=True)).status == 101


def test_expensive_calls_of_one_client_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.server.api.endpoints.advice.computed", lambda *_: b"{}")
    served = app(routes=[*ROUTES])
    body = (b'{"properties": "session.timeout.ms=1"}',)
    asked = Asked("/api/v1/advice", "POST", headers={"Content-Type": "application/json"}, chunks=body)
    monkeypatch.setattr(dispatch, "computations", TokenBuckets(clock_s=lambda: 0.0))
    got = [answer(served, asked) for _ in range(BURST + 1)]
    assert [each.status for each in got] == [200] * BURST + [429]
    assert got[-1].headers["content-type"] == "application/problem+json"
    assert got[-1].headers["retry-after"] == f"{EVERY_S:.0f}"
    assert answer(served, replace(asked, client=("127.0.0.2", 50_000))).status == 200
    assert answer(served, Asked("/api/v1/clusters")).status == 200
