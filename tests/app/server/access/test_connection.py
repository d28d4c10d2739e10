"""Where a request comes from, behind no proxy, one or several."""

from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.access.connection import Connection, connection
from tests.app.server.asgi_client import Asked

PROXIES = tuple(map(ip_network, ("10.0.0.0/24", "2001:db8:1::/64")))
PROXY = ("10.0.0.5", 40_000)


def connected(client: tuple[str, int] = PROXY, **headers: str) -> Connection:
    """Header lines are separated by line breaks."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return connection(Asked("/", headers=named, client=client).scope(), "/", PROXIES)


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("", "10.0.0.5"),
        ("192.0.2.7", "192.0.2.7"),
        ("6.6.6.6, 192.0.2.7", "192.0.2.7"),
        ("6.6.6.6\n192.0.2.7", "192.0.2.7"),
        ("6.6.6.6\n7.7.7.7, 192.0.2.7", "192.0.2.7"),
        ("6.6.6.6, 192.0.2.7, 10.0.0.9", "192.0.2.7"),
        ("6.6.6.6\n192.0.2.7\n2001:db8:1::9\n10.0.0.9", "192.0.2.7"),
        ("10.0.0.8, 10.0.0.9", "10.0.0.8"),
        ("6.6.6.6, 10.0.0.8, 192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("6.6.6.6, 192.0.2.7, [2001:db8:1::9]:80", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("6.6.6.6, 192.0.2.7, ::ffff:10.0.0.9", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::1"),
        ("fe80::1%\x1b[31m<b>", "fe80::1"),
        ("192.0.2.7, ,\n,", "192.0.2.7"),
        (" ,\n", "10.0.0.5"),
        ("6.6.6.6, unknown", "10.0.0.5"),
        ("6.6.6.6, <script>, 10.0.0.9", "10.0.0.9"),
        ("6.6.6.6, 192.0.2.7:x", "10.0.0.5"),
        ("6.6.6.6, for=192.0.2.7", "10.0.0.5"),
    ],
)
def test_the_last_address_that_is_no_trusted_proxy_is_the_client(forwarded: str, address: str) -> None:
    """What stands before it, or before something that is no address, is what the client says itself."""
    assert connected(x_forwarded_for=forwarded).address == address


@given(st.lists(st.sampled_from(["6.6.6.6", "10.0.0.7", "junk", "", "[::1]:80"]), max_size=5), st.data())
def test_nothing_that_a_client_sends_before_changes_its_address(forged: list[str], data: Any) -> None:
    entries = [*forged, "192.0.2.7", *data.draw(st.lists(st.sampled_from(["10.0.0.7", "2001:db8:1::9"]), max_size=3))]
    breaks = data.draw(st.lists(st.sampled_from([",", ", ", "\n"]), min_size=len(entries), max_size=len(entries)))
    sent = "".join(text for pair in zip(entries, breaks, strict=True) for text in pair)
    assert connected(x_forwarded_for=sent).address == "192.0.2.7"


@pytest.mark.parametrize("client", [("192.0.2.1", 40_000), ("10.0.0.5", 0), ("", 40_000)])
def test_nobody_else_is_believed(client: tuple[str, int]) -> None:
    asked = connected(client, x_forwarded_for="6.6.6.6", x_forwarded_proto="https")
    assert (asked.address, asked.is_https, asked.is_from_proxy) == (client[0], False, False)


def test_a_proxy_on_a_socket_for_both_families_is_trusted() -> None:
    asked = connected(("::ffff:10.0.0.5", 40_000), x_forwarded_for="6.6.6.6\n192.0.2.7")
    assert (asked.address, asked.is_from_proxy) == ("192.0.2.7", True)


def test_the_header_forwarded_is_not_read() -> None:
    assert connected(forwarded="for=6.6.6.6;proto=https").address == "10.0.0.5"
    assert not connected(forwarded="for=6.6.6.6;proto=https").is_https


@pytest.mark.parametrize(
    ("forwarded", "schemes", "is_https"),
    [
        ("192.0.2.7", "https", True),
        ("192.0.2.7", "HTTPS", True),
        ("192.0.2.7", "https\nhttp", False),
        ("192.0.2.7", "http\nhttps", True),
        ("192.0.2.7, 10.0.0.9", "https, http", True),
        ("192.0.2.7\n10.0.0.9", "https\nhttp\nhttp", False),
        ("192.0.2.7, 10.0.0.9", "https", True),
        ("", "https", True),
        ("", "", False),
    ],
)
def test_the_scheme_is_the_one_that_the_outermost_trusted_proxy_saw(
    forwarded: str, schemes: str, is_https: bool
) -> None:
    assert connected(x_forwarded_for=forwarded, x_forwarded_proto=schemes).is_https is is_https
