"""A limit for a whole exchange with a server: a socket's timeout does not end one that gets a byte now and then."""

import concurrent.futures
import http.client
import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from ssl import SSLContext
from typing import Any, TypeVar

T = TypeVar("T")


class DeadlinePassed(Exception):
    """The exchange was not complete in time."""


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


def within(seconds: float, exchange: Callable[[Deadline], T]) -> T:
    """What the exchange returns or raises, in a thread of its own. Raises DeadlinePassed after that time.

    Its connections are hung up then. Nothing can end a look-up of a name, or a TLS handshake: the thread is left behind
    until the timeouts of these end it.
    """
    limit, done = Deadline(), concurrent.futures.Future[T]()

    def run() -> None:
        try:
            done.set_result(exchange(limit))
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that waits
            done.set_exception(error)

    threading.Thread(target=run, name="exchange", daemon=True).start()
    concurrent.futures.wait([done], seconds)
    if done.done():
        return done.result()
    limit.hang_up()
    raise DeadlinePassed


class Limited:
    """A connection of the standard library. It adds each socket as soon as it is there: TLS replaces the first."""

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


class _Http(Limited, http.client.HTTPConnection):
    """`connect` waits on its first socket for the answer of a proxy."""


class _Https(Limited, http.client.HTTPSConnection):
    """The same over TLS."""


class LimitedHttp(urllib.request.HTTPHandler):
    """Opens `http:` addresses."""

    def __init__(self, limit: Deadline) -> None:
        super().__init__()
        self._limit = limit

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """As the base class does."""
        return self.do_open(limited(_Http, self._limit), req)


class LimitedHttps(urllib.request.HTTPSHandler):
    """Opens `https:` addresses."""

    def __init__(self, limit: Deadline, context: SSLContext | None = None) -> None:
        super().__init__(context=context)
        self._limit, self._tls = limit, context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """As the base class does."""
        return self.do_open(limited(_Https, self._limit), req, context=self._tls)


def limited(connection: type[Limited], limit: Deadline) -> Any:
    """The class with that limit."""
    return type(connection.__name__, (connection,), {"limit": limit})
