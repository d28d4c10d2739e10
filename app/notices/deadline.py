"""HTTP with a limit for the whole exchange: a socket's timeout does not end one that gets a byte now and then."""

import http.client
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class Deadline:
    """Hangs up the connections that were opened for one exchange."""

    def __init__(self) -> None:
        self._lock, self._sockets = threading.Lock(), list[socket.socket]()
        self.passed = False

    def add(self, connection: socket.socket) -> None:
        """Hang up this one too; at once if the time is over."""
        with self._lock:
            self._sockets.append(connection)
            if self.passed:
                _hang_up(connection)

    def hang_up(self) -> None:
        """The time is over."""
        with self._lock:
            self.passed = True
            for connection in self._sockets:
                _hang_up(connection)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which another thread is using


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
    """Adds each socket as soon as it is there: `connect` waits on it for the answer of a proxy.

    TLS replaces it. Its handshake cannot be hung up; the timeout of the socket limits it as a whole.
    """

    limit: Deadline
    _its: Any = None

    @property
    def sock(self) -> Any:
        return self._its

    @sock.setter
    def sock(self, opened: Any) -> None:
        self._its = opened
        if opened is not None:
            self.limit.add(opened)


class _Https(_Http, http.client.HTTPSConnection):
    """The same over TLS."""


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
