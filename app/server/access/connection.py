"""What a request says about where it comes from."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from app.server.access.hosts import host_name

Networks = Collection[IPv4Network | IPv6Network]
SECURE = ("https", "wss")
REWRITTEN = 0
"""The port of a client whose address uvicorn has taken from X-Forwarded-For: the peer itself is not known then."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One request or WebSocket.

    `path` is below the base path, `query` as it was sent. `local_address` is that of this server, `address` that of the
    client. If `is_from_proxy`, that is if the peer is a trusted proxy, it is the last one of X-Forwarded-For that is
    not a trusted proxy too.
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
    hops = [peer, *(_hops(_entries(headers, "x-forwarded-for"), proxies) if trusted else ())]
    scheme = _scheme(_entries(headers, "x-forwarded-proto"), len(hops) - 1) if trusted else ""
    path: str = scope["path"]
    return Connection(
        path="/" + path.removeprefix(base_path.rstrip("/")).lstrip("/"),
        query=scope.get("query_string", b"").decode("latin-1"),
        method=scope.get("method", "GET"),
        headers=headers,
        local_address=(scope.get("server") or ("", 0))[0] or "",
        address=hops[-1],
        is_https=scope["scheme"] in SECURE or scheme in SECURE,
        is_from_proxy=trusted,
        is_websocket=scope["type"] == "websocket",
    )


def _entries(headers: Headers, name: str) -> list[str]:
    """The entries of a list that may stand on several lines (RFC 9110, section 5.3), the oldest first."""
    return [entry for line in headers.getlist(name) for part in line.split(",") if (entry := part.strip())]


def _hops(entries: Sequence[str], proxies: Networks) -> Iterator[str]:
    """Where the request came through, the nearest first: trusted proxies, then the first address that is none.

    A client can send entries of its own, behind which each proxy adds one. So the walk ends at the first address that
    is not trusted, and before an entry that is no address: what is further out may be made up.
    """
    for entry in reversed(entries):
        if (address := _address(entry)) is None:
            return
        yield address
        if not is_in(address, proxies):
            return


def _scheme(entries: Sequence[str], hops: int) -> str:
    """The scheme that the outermost of the trusted proxies was asked with: each adds an entry, or leaves the list."""
    return "".join(entries[-max(hops, 1) :][:1]).lower()


def _address(entry: str) -> str | None:
    """The address in `192.0.2.7:4711`, `[2001:db8::1]:4711` or an entry without a port; None if there is none."""
    found = _ip(entry) or _ip(host_name(entry))
    return None if found is None else str(found)


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    """A socket for both families writes an IPv4 address as `::ffff:192.0.2.7`, and `%` before an interface's name.

    Python takes any text for such a name, so it is left out.
    """
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_in(address: str, networks: Networks) -> bool:
    """Whether the address belongs to one of the networks."""
    found = _ip(address)
    return found is not None and any(found in network for network in networks)
