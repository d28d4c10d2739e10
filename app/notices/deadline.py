"""HTTP with a limit for the whole exchange: a socket's timeout does not end one that gets a byte now and then."""

import http.client
import socket
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


class Deadline:
    """Hangs up the connections that were opened for one exchange."""

    def __init__(self) -> None:
        self._lock, self._sockets = threading.Lock(), list[Callable[[], socket.socket | None]]()
        self.passed = False

    def add(self, opened: Callable[[], socket.socket | None]) -> None:
        """Hang up the socket that this gives then, too."""
        with self._lock:
            self._sockets.append(opened)

    def hang_up(self) -> None:
        """The time is over."""
        with self._lock:
            self.passed = True
            for opened in self._sockets:
                if (found := opened()) is not None:
                    with suppress(OSError):  # it is closed already
                        socket.socket.shutdown(found, socket.SHUT_RDWR)  # below TLS, which another thread is using


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
        self.limit.add(lambda: self.sock)  # a proxy may keep it waiting while it connects
        super().connect()
        opened = self.sock
        self.limit.add(lambda: opened)  # the connection forgets it when an answer begins
        if self.limit.passed:  # during the handshake of TLS there was nothing to hang up
            raise TimeoutError


class _Https(_Http, http.client.HTTPSConnection):
    """Its `connect` adds TLS."""


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
