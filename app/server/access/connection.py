"""What a request says about where it comes from."""

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

Networks = Collection[IPv4Network | IPv6Network]
REWRITTEN = 0
"""The port of a client whose address uvicorn has taken from X-Forwarded-For: the peer itself is not known then."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One request or WebSocket.

    `path` is below the base path, `query` as it was sent. `local_address` is that of this server, `address` that of the
    client: the last one of X-Forwarded-For if `is_from_proxy`, that is if the peer is a trusted proxy.
    """

    path: str
    query: str
    method: str
    headers: Headers
    local_address: str
    address: str
    is_https: bool
    is_from_proxy: bool
    is_websocket: bool

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies by name."""
        return cookie_parser("; ".join(self.headers.getlist("cookie")))


def connection(scope: Scope, base_path: str, proxies: Networks) -> Connection:
    """What the scope of an HTTP request or a WebSocket says."""
    headers = Headers(scope=scope)
    peer, port = scope.get("client") or ("", REWRITTEN)
    trusted = port != REWRITTEN and is_in(peer, proxies)
    forwarded = headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    scheme = headers.get("x-forwarded-proto", "").strip().lower()
    path: str = scope["path"]
    return Connection(
        path="/" + path.removeprefix(base_path.rstrip("/")).lstrip("/"),
        query=scope.get("query_string", b"").decode("latin-1"),
        method=scope.get("method", "GET"),
        headers=headers,
        local_address=(scope.get("server") or ("", 0))[0] or "",
        address=forwarded if trusted and forwarded else peer,
        is_https=scope["scheme"] in ("https", "wss") or (trusted and scheme in ("https", "wss")),
        is_from_proxy=trusted,
        is_websocket=scope["type"] == "websocket",
    )


def is_in(address: str, networks: Networks) -> bool:
    """Whether the address belongs to one of the networks."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)
