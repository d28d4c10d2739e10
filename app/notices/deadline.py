"""HTTP with a limit for the whole exchange: a socket's timeout does not end one that gets a byte now and then."""

import http.client
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Deadline:
    """Hangs up the connections that were opened for one exchange."""

    def __init__(self) -> None:
        self._lock, self._sockets = threading.Lock(), list[socket.socket]()
        self.passed = False

    def add(self, connection: socket.socket) -> None:
        """Hang up this one too."""
        with self._lock:
            self._sockets.append(connection)

    def hang_up(self) -> None:
        """The time is over."""
        with self._lock:
            self.passed = True
            for connection in self._sockets:
                try:
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which another thread is using
                except OSError:
                    continue  # it is closed already


@contextmanager
def deadline(seconds: float) -> Iterator[Deadline]:
    """Passes after that time, unless the block ends before."""
    made = Deadline()
    timer = threading.Timer(seconds, made.hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield made
    finally:
        timer.cancel()


class _Http(http.client.HTTPConnection):
    limit: Deadline

    def connect(self) -> None:
        super().connect()
        self.limit.add(self.sock)


class _Https(http.client.HTTPSConnection):
    limit: Deadline

    def connect(self) -> None:
        super().connect()
        self.limit.add(self.sock)


class LimitedHttp(urllib.request.HTTPHandler):
    """Opens `http:` addresses."""

    def __init__(self, limit: Deadline) -> None:
        super().__init__()
        self._limit = limit

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """As the base class does."""
        return self.do_open(_limited(_Http, self._limit), req)


class LimitedHttps(urllib.request.HTTPSHandler):
    """Opens `https:` addresses."""

    def __init__(self, limit: Deadline) -> None:
        super().__init__()
        self._limit = limit

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """As the base class does."""
        return self.do_open(_limited(_Https, self._limit), req)


def _limited(connection: type[_Http | _Https], limit: Deadline) -> Any:
    return type(connection.__name__, (connection,), {"limit": limit})
