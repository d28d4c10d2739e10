"""Which Host and Origin a request may have."""

import socket

import pytest

from app.server.access.hosts import is_allowed_host, is_loopback, is_same_origin

HERE, THERE = "127.0.0.1", "10.0.0.7"


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8501", "127.0.0.1", "localhost:8501", "LOCALHOST", "[::1]:8501", "127.8.0.1"]
)
def test_on_loopback_its_own_names_are_allowed(host: str) -> None:
    assert is_allowed_host(host, HERE, ())


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8501",
        "127.0.0.1.evil.example",
        "10.0.0.7:8501",
        "localhost.evil.example",
        "evil.example@localhost",
    ],
)
def test_on_loopback_every_other_host_is_refused(host: str) -> None:
    assert not is_allowed_host(host, HERE, ())


@pytest.mark.parametrize(
    "host", [None, "", ":8501", "localhost:port", "[::1", "a b", "localhost/x", "localhost?x", "\x00"]
)
@pytest.mark.parametrize("address", [HERE, THERE])
def test_what_is_no_host_is_refused(host: str | None, address: str) -> None:
    assert not is_allowed_host(host, address, ("*.example",))


@pytest.mark.parametrize("host", ["10.0.0.7:8501", "192.168.1.4", "[fe80::1]:8501", "localhost", socket.gethostname()])
def test_elsewhere_addresses_and_the_name_of_the_machine_are_allowed(host: str) -> None:
    assert is_allowed_host(host, THERE, ())


def test_elsewhere_other_names_are_refused() -> None:
    assert not is_allowed_host("evil.example", THERE, ())


@pytest.mark.parametrize("address", [HERE, THERE])
def test_a_name_that_was_given_is_allowed_and_no_longer_one(address: str) -> None:
    allowed = ("Lag.example.com", "*.corp.example")
    for host in ("lag.example.com:443", "LAG.example.com.", "a.corp.example", "a.b.corp.example:80"):
        assert is_allowed_host(host, address, allowed), host
    for host in ("evil-lag.example.com", "corp.example", "a.corp.example.evil.example", "example.com"):
        assert not is_allowed_host(host, address, allowed), host


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        (None, "a:1", True),
        ("http://a:1", "a:1", True),
        ("https://A:1", "a:1", True),
        ("http://a:2", "a:1", False),
        ("http://b:1", "a:1", False),
        ("null", "a:1", False),
        ("http://[", "a:1", False),
        ("", "", False),
        ("http://a:1", None, False),
    ],
)
def test_an_origin_must_be_that_of_this_server(origin: str | None, host: str | None, same: bool) -> None:
    assert is_same_origin(origin, host) is same


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        *((name, True) for name in ("127.0.0.1", "127.1.2.3", "::1", "localhost")),
        *((name, False) for name in ("0.0.0.0", "::", "10.0.0.7", "", "my-host")),
    ],
)
def test_which_addresses_only_this_machine_reaches(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected
