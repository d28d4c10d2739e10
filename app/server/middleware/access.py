"""Decides for every request and every WebSocket whether it is answered, and adds headers to the answer.

It comes before Streamlit and the routes, whichever server runs the app.
"""

import logging
from asyncio import CancelledError
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

import streamlit as st
from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from app.server import source
from app.server.access.access import UNKNOWN, Access
from app.server.access.connection import Connection, connection
from app.server.access.limits import MOST_BODY_BYTES, MOST_SESSIONS
from app.server.access.recorder import AccessRecorder, AuditBusy
from app.server.access.refusal import Refusal
from app.server.access.session import CALLBACK, HEADER, Session, encode
from app.server.access.visitor import Again, Visitor, answering, anyone
from app.server.compat.shutdown import is_stopping
from app.server.middleware import after_login, checks, zones
from app.server.middleware.headers import guarded_cookie, security_headers
from app.server.middleware.refusing import refuse
from app.server.source import Source

log = logging.getLogger(__name__)

TOO_MANY_SESSIONS = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    f"{MOST_SESSIONS} pages of this server are open. Close some, or try again later.",
    {"Retry-After": "30"},
)
AUDIT_BUSY = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "The audit log of this server cannot be written now.", {"Retry-After": "5"}
)
STOPPING = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping.")
NO_ROLE = Refusal(HTTPStatus.FORBIDDEN, "The roles file of this server gives you no role.")


class AccessMiddleware:
    """`policy` returns the Content-Security-Policy of the pages."""

    def __init__(self, app: ASGIApp, policy: Callable[[], str]) -> None:
        self._app, self._policy, self._sessions = app, policy, 0
        self._recorder = AccessRecorder(lambda: source.installed().audit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse a request or a WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        whole = source.installed()
        asked = connection(scope, base_path(), whole.settings.trusted_proxies)
        guarded = self._guarded(send, asked)
        try:
            await self._check(whole, asked, scope, receive, guarded)
        except AuditBusy:
            await refuse(AUDIT_BUSY, scope, receive, guarded)
        except ClientDisconnect:
            log.info("%s %s: the client hung up before its request was complete", asked.method, asked.path)
        except WebSocketDisconnect:
            log.info("%s: the client hung up", asked.path)
        except CancelledError:
            if asked.is_websocket or not is_stopping():
                raise
            with suppress(RuntimeError):  # the answer has begun
                await refuse(STOPPING, scope, receive, guarded)

    async def _check(self, whole: Source, asked: Connection, scope: Scope, receive: Receive, guarded: Send) -> None:
        """Answer requests that may be made."""
        refusal = checks.refusal(asked, whole.settings)
        if refusal is not None:
            self._recorder.refused(asked, refusal)
            await refuse(refusal, scope, receive, guarded)
        elif whole.access is None:
            await self._answer(asked, anyone(asked.address), None, scope, receive, guarded)
        else:
            await self._identify(whole.access, asked, scope, receive, guarded)

    async def _identify(self, access: Access, asked: Connection, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer requests that may be answered."""
        if access.has_changed():
            await to_thread.run_sync(access.problems)  # reads the files, of which a large one takes a while
        session = access.identify(asked)
        if isinstance(session, Refusal):
            self._recorder.refused(asked, session)
            await refuse(session, scope, receive, send)
            return
        visitor = Visitor(address=asked.address) if session is None else access.visitor(session)
        if not visitor.grants and not zones.is_open(asked.path):
            refusal, name = (UNKNOWN, None) if session is None else (NO_ROLE, session.name)
            self._recorder.refused(asked, refusal, name)
            await _instead(access, asked, session)(scope, receive, send)
            return
        again = None if session is None else partial(access.visitor, session)
        await self._answer(asked, visitor, again, _with_session(scope, session), receive, send)

    async def _answer(
        self, asked: Connection, visitor: Visitor, again: Again | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if not asked.is_websocket:
            with answering(visitor, again):
                await self._app(scope, limited(receive), send)
        elif self._sessions >= MOST_SESSIONS:
            await refuse(TOO_MANY_SESSIONS, scope, receive, send)
        else:
            self._sessions += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._sessions -= 1

    def _guarded(self, send: Send, asked: Connection) -> Send:
        """Sends answers with the headers that guard them."""

        async def guarded(message: Message) -> None:
            if message["type"].endswith(".response.start"):
                if asked.path == CALLBACK:
                    await self._log_in(message, asked)
                _guard(message, self._policy(), asked.is_https)
            await send(message)

        return guarded

    async def _log_in(self, message: MutableMapping[str, Any], asked: Connection) -> None:
        """After a login: record it, and return to the page that was asked for before it."""
        headers, access = MutableHeaders(raw=list(message.get("headers", ()))), source.installed().access
        cookies = cookie_parser("; ".join(value.partition(";")[0] for value in headers.getlist("set-cookie")))
        session = None if access is None else access.session_of(cookies, asked.address)
        if session is None:
            return
        await self._recorder.login(session)
        if (address := after_login.remembered(asked.cookies)) is not None:
            headers["location"] = base_path().rstrip("/") + address
            headers.append("set-cookie", after_login.FORGET)
            message["headers"] = headers.raw


def _instead(access: Access, asked: Connection, session: Session | None) -> ASGIApp:
    """Leads somebody who is not known to the login; says to somebody else that they have no role."""
    if not zones.is_page(asked):
        return partial(refuse, UNKNOWN if session is None else NO_ROLE)
    if session is None:
        return zones.login_page(asked, access.providers, base_path())
    return zones.no_role_page(session.name, bool(access.providers), base_path())


def base_path() -> str:
    """The path of the first page; it begins and ends with a slash."""
    return f"/{st.get_option('server.baseUrlPath').strip('/')}/".replace("//", "/")


def _with_session(scope: Scope, session: Session | None) -> Scope:
    """The scope with the session as a header, which nobody else can set: pages read it."""
    name = HEADER.encode()
    headers = [(key, value) for key, value in scope["headers"] if key.lower() != name]
    return {**scope, "headers": headers if session is None else [*headers, (name, encode(session).encode())]}


def _guard(message: MutableMapping[str, Any], policy: str, is_https: bool) -> None:
    headers = MutableHeaders(raw=list(message.get("headers", ())))
    for name, value in security_headers(policy):
        headers.setdefault(name.decode(), value.decode())
    message["headers"] = [
        (name, guarded_cookie(value.decode("latin-1"), is_https).encode("latin-1") if name == b"set-cookie" else value)
        for name, value in headers.raw
    ]


def limited(receive: Receive) -> Receive:
    """Receives a body of at most MOST_BODY_BYTES. Raises HTTPException 413 beyond."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BODY_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, checks.TOO_LARGE)
        return message

    return counted
