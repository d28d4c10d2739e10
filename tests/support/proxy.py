"""A TCP proxy in front of one broker, which can vanish after so many requests, spoil answers, and come back."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from lag.cluster.connection.address import Address
from lag.embedded.broker import EmbeddedKafka


class Proxy:
    """Forwards Kafka's frames. `vanish_after(n)`: the n-th request still passes, then all connections break.
    `spoil(api_key)`: of the answers to such requests only length and correlation id are the broker's.

    The address is there before the target: a broker can be configured to advertise it.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = Address(*self._listener.getsockname()[:2])
        self.target: tuple[str, int] | None = None
        self._left: int | None = None
        self._spoiled: int | None = None
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def vanish_after(self, requests: int) -> None:
        """Let so many requests pass from now on; 0: be gone at once, until `come_back`."""
        with self._lock:
            self._left = requests
        if not requests:
            self._hang_up()

    def spoil(self, api_key: int) -> None:
        """Make nonsense of the answers to that kind of request, until `come_back`."""
        self._spoiled = api_key

    def come_back(self) -> None:
        """Forward everything again, as it is."""
        with self._lock:
            self._left = self._spoiled = None

    @property
    def vanished(self) -> bool:
        """Whether the last allowed request has passed."""
        return self._left == 0

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        self._hang_up()
        for thread in self._threads[1:]:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.target is None or self.vanished:
                client.close()
                continue
            broker = socket.create_connection(self.target)
            self._sockets += [client, broker]
            asked: dict[bytes, int] = {}
            for pump, source, sink in ((self._requests, client, broker), (self._answers, broker, client)):
                self._threads.append(threading.Thread(target=pump, args=(source, sink, asked)))
                self._threads[-1].start()

    def _requests(self, client: socket.socket, broker: socket.socket, asked: dict[bytes, int]) -> None:
        with broker:
            try:
                for frame in _frames(client):
                    if not self._may_pass():
                        break
                    asked[frame[8:12]] = int.from_bytes(
                        frame[4:6]
                    )  # after the length: API key, version, correlation id
                    broker.sendall(frame)
            except OSError:
                return
        if self.vanished:
            self._hang_up()

    def _answers(self, broker: socket.socket, client: socket.socket, asked: dict[bytes, int]) -> None:
        with client:
            try:
                for frame in _frames(broker):
                    spoiled = asked.pop(frame[4:8]) == self._spoiled
                    client.sendall(frame[:8] + b"\xff" * (len(frame) - 8) if spoiled else frame)
            except OSError:
                return

    def _may_pass(self) -> bool:
        with self._lock:
            if self._left is None:
                return True
            if self._left == 0:
                return False
            self._left -= 1
            return True

    def _hang_up(self) -> None:
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


def _frames(source: socket.socket) -> Iterator[bytes]:
    """Whole messages, each with the four bytes that give its length, until the connection ends."""
    with source.makefile("rb") as stream:
        while len(size := stream.read(4)) == 4:
            yield size + stream.read(struct.unpack(">i", size)[0])


@contextmanager
def broker_behind_proxy() -> Iterator[Proxy]:
    """A proxy in front of a broker that advertises the proxy's address only: without it the cluster is gone."""
    with Proxy() as proxy:
        advertised = {"advertised.listeners": f"PLAINTEXT://{proxy.address}"}
        with EmbeddedKafka(properties=advertised, heap_mb=256) as kafka:
            host, port = kafka.bootstrap_servers.split(":")
            proxy.target = (host, int(port))
            yield proxy
