"""An answer that cannot be decoded ends its connection at once, whatever the decoder raises."""

import socket
from collections.abc import Iterator

import pytest
from kafka.errors import KafkaProtocolError
from kafka.net.selector import NetworkSelector

from lag.cluster.compat.transports import PlainTransport
from tests.support.waiting import wait_until


class Broken:
    """The protocol of a connection, whose decoder raises `error`."""

    _sensors = None

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.lost: list[BaseException | None] = []

    def data_received(self, data: bytes) -> None:
        raise self._error

    def connection_lost(self, error: BaseException | None) -> None:
        self.lost.append(error)


@pytest.fixture
def net() -> Iterator[NetworkSelector]:
    selector = NetworkSelector()
    selector.start()
    yield selector
    selector.stop()
    selector.close()


@pytest.mark.parametrize(
    "error", [ValueError("length"), TypeError("None"), AttributeError("x"), ReferenceError("gone")]
)
def test_a_decoder_that_fails_ends_the_connection(net: NetworkSelector, error: Exception) -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    protocol, transport = Broken(error), PlainTransport(net, ours)
    transport.set_protocol(protocol)
    net.call_soon_threadsafe(transport.resume_reading)
    with theirs:
        theirs.sendall(b"an answer")
        (seen,) = wait_until(lambda: protocol.lost, within_s=5)
    assert isinstance(seen, KafkaProtocolError)
    assert f"{type(error).__name__} when decoding its answer" in str(seen)
