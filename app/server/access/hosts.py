"""Which Host and Origin a request may have.

A web page of somebody else whose name resolves to this server (DNS rebinding) sends its own name as Host, and as Origin
too. So names are refused unless they are known; IP addresses cannot be rebound. Nothing is looked up.
"""

import socket
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

LOCAL_NAME = "localhost"


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches the address; False for a name other than localhost."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address.lower() == LOCAL_NAME


def is_allowed_host(host: str | None, local_address: str, allowed: Collection[str]) -> bool:
    """Whether a request may have this Host header.

    `local_address` is the address of this server that the connection came to. On loopback, Host is a loopback address
    or localhost; elsewhere it is any IP address or the name of this machine. `allowed` are further names, of which
    `*.example.com` stands for all names below example.com.
    """
    name = host_name(host or "")
    if not name:
        return False
    if any(_matches(name, pattern.lower().rstrip(".")) for pattern in allowed):
        return True
    if is_loopback(local_address):
        return is_loopback(name)
    return is_address(name) or name in (LOCAL_NAME, socket.gethostname().lower())


def is_same_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request with this Origin header comes from a page of this server; programs send none."""
    return origin is None or (bool(host) and _place(origin) == (host or "").lower())


def _place(origin: str) -> str | None:
    """The host and port of an Origin header in lower case; None for `null`."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def host_name(host: str) -> str:
    """The name or address in a Host header in lower case, without port and brackets; "" if it is not valid."""
    try:
        split = urlsplit(f"//{host}")
        _ = split.port  # raises for one that is no number
    except ValueError:
        return ""
    if split.netloc != host or "@" in host:
        return ""
    return (split.hostname or "").rstrip(".")


def is_address(name: str) -> bool:
    """Whether the name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _matches(name: str, pattern: str) -> bool:
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern
