"""The checks that every request passes before anybody asks who makes it."""

from collections.abc import Callable
from http import HTTPStatus

from app.server.access.connection import Connection
from app.server.access.hosts import is_allowed_host, is_loopback, is_same_origin
from app.server.access.limits import MOST_BODY_BYTES
from app.server.access.refusal import Refusal
from app.server.settings import Settings

PROBES = ("/api/live", "/api/ready")
"""Open to everybody: they say nothing of groups."""

CLOSED = ("/_stcore/metrics", "/_stcore/agent")
"""Streamlit's own addresses that nobody needs."""

TOO_LARGE = f"The body has more than {MOST_BODY_BYTES:,} bytes."
OTHER_ORIGIN = "The request comes from a page of another server. A proxy must pass the Host that the browser sent."
NO_LOGIN = (
    "This server has no login, so it answers only on a loopback address. Configure a login (--login or "
    "--trust-header), or start it with --insecure."
)

OPEN_WRITES = (
    "This server has no login: --insecure with --allow-writes would let everybody change offsets. Configure a login, "
    "or leave one of the two out."
)


def refusal(asked: Connection, settings: Settings) -> Refusal | None:
    """Why nobody may make the request; None: somebody may."""
    return next((found for check in CHECKS if (found := check(asked, settings)) is not None), None)


def _host(asked: Connection, settings: Settings) -> Refusal | None:
    if asked.path in PROBES or is_allowed_host(asked.headers.get("host"), asked.local_address, settings.allowed_hosts):
        return None
    detail = "This server does not answer to that Host. Add its name with --allowed-host."
    return Refusal(HTTPStatus.MISDIRECTED_REQUEST, detail)


def _origin(asked: Connection, _settings: Settings) -> Refusal | None:
    if is_same_origin(asked.headers.get("origin"), asked.headers.get("host")):
        return None
    return Refusal(HTTPStatus.FORBIDDEN, OTHER_ORIGIN)


def _listener(asked: Connection, settings: Settings) -> Refusal | None:
    if asked.path in PROBES or settings.has_login or is_loopback(asked.local_address):
        return None
    if settings.insecure:
        return Refusal(HTTPStatus.FORBIDDEN, OPEN_WRITES) if settings.allow_writes else None
    return Refusal(HTTPStatus.FORBIDDEN, NO_LOGIN)


def _closed(asked: Connection, _settings: Settings) -> Refusal | None:
    if any(asked.path == path or asked.path.startswith(f"{path}/") for path in CLOSED):
        return Refusal(HTTPStatus.NOT_FOUND, "There is no such address.")
    return None


def _size(asked: Connection, _settings: Settings) -> Refusal | None:
    length = asked.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length[:20]) <= MOST_BODY_BYTES:
        return None
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE)


CHECKS: tuple[Callable[[Connection, Settings], Refusal | None], ...] = (_host, _origin, _listener, _closed, _size)
