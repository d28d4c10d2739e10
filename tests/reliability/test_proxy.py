"""What the network of the suite does to bytes and connections."""

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from tests.lag.cluster.connection.certificates import Authority
from tests.reliability.proxy import Mode, Network


def echo(listener: socket.socket) -> None:
    """Send back what comes, connection after connection."""
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            while data := client.recv(100):
                client.sendall(data)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    """In front of a server that echoes, as node 1."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=echo, args=(listener,))
        thread.start()
        context = Authority().sign("broker", "localhost").server_context(tmp_path)
        with Network({1: listener.getsockname()}, context) as made:
            yield made
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def connected(network: Network) -> Iterator[ssl.SSLSocket]:
    """A TLS connection through the gate of node 1."""
    host, _, port = network.address(1).partition(":")
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((host, int(port)), timeout=10) as plain,
        trusting.wrap_socket(plain, server_hostname="localhost") as wrapped,
    ):
        yield wrapped


def has_ended(client: ssl.SSLSocket) -> bool:
    """Whether the connection is over, in order or not."""
    try:
        return client.recv(5) == b""
    except OSError:
        return True


def test_what_passes_comes_back(network: Network) -> None:
    with connected(network) as client:
        client.sendall(b"hello")
        assert client.recv(5) == b"hello"


def test_what_is_slow_is_late_both_ways(network: Network) -> None:
    with connected(network) as client:
        network.set(Mode.SLOW)
        began_s = time.monotonic()
        client.sendall(b"hello")
        assert client.recv(5) == b"hello"
        assert time.monotonic() - began_s >= 0.2


def test_what_is_frozen_arrives_when_it_goes_on(network: Network) -> None:
    with connected(network) as client:
        network.set(Mode.FROZEN, 1)
        client.sendall(b"hello")
        client.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.recv(5)
        network.set(Mode.PASS, 1)
        client.settimeout(10)
        assert client.recv(5) == b"hello"


def test_what_is_cut_breaks_and_can_be_made_again(network: Network) -> None:
    with connected(network) as client:
        client.sendall(b"hello")
        assert client.recv(5) == b"hello"
        network.set(Mode.CUT)
        assert has_ended(client)
    with pytest.raises(OSError), connected(network):  # noqa: PT011
        pass
    network.set(Mode.PASS)
    with connected(network) as again:
        again.sendall(b"again")
        assert again.recv(5) == b"again"
