"""The connections of Streamlit's server: small answers are sent at once, and no client may keep one for nothing.

Streamlit binds its socket without naming TCP, so asyncio leaves Nagle's algorithm on for its connections: an answer's
body waits for the acknowledgement of its headers, which the other side delays by 40 ms. uvicorn has a time limit only
between two requests: a client that sends half of one, or does not read its answer, keeps its connection for ever.

Checked against Streamlit 1.67.0 (`_bind_socket`, `_get_uvicorn_config_kwargs`) and uvicorn 0.54.0. The first is
unnecessary once the socket that `starlette_server._bind_socket` returns has the protocol IPPROTO_TCP (uvicorn has the
same bug: https://github.com/Kludex/uvicorn/issues/3149), the second once uvicorn limits the time of a request
(https://github.com/Kludex/uvicorn/issues/157).
"""

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, Any

from streamlit.web.server.starlette import starlette_server
from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as HttpProtocol
else:
    HttpProtocol = AutoHTTPProtocol

log = logging.getLogger(__name__)

HEAD_WITHIN_S = 10.0
"""From the connection, or from the answer before, to the end of a request's headers."""
BODY_WITHIN_S = 60.0
READ_WITHIN_S, LEAST_READ_BYTES = 60.0, 60_000
"""A client that does not keep up with its answer reads so much of it within each such time."""
CLOSE_WITHIN_S = 1.0
TOO_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain\r\nContent-Length: 37\r\nConnection: close\r\n\r\n"
    b"The body of the request came too late"
)

_bind = starlette_server._bind_socket
_options = starlette_server._get_uvicorn_config_kwargs


def set_up_connections() -> None:
    """For the socket on which Streamlit listens from now on, and all its connections."""
    starlette_server._bind_socket = bound
    starlette_server._get_uvicorn_config_kwargs = options


def bound(address: str, port: int, backlog: int) -> socket.socket:
    """A socket that listens there, with TCP_NODELAY, which its connections inherit."""
    listening = _bind(address, port, backlog)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def options() -> dict[str, Any]:
    """Streamlit's options of uvicorn, with our protocol."""
    return {**_options(), "http": HttpConnection}


class HttpConnection(HttpProtocol):
    """One connection. Each of its waits for the client is limited as a whole: single bytes do not extend it.

    A WebSocket takes the connection over; it has its own pings.
    """

    _wait: tuple[float, Any] | None = None
    _timer: asyncio.TimerHandle | None = None
    _reads: asyncio.TimerHandle | None = None
    _is_over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, *request: Any) -> None:
        self._is_over = True
        super().handle_websocket_upgrade(*request)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reads()

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._reads)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_over = True
        _cancel(self._timer)
        _cancel(self._reads)
        super().connection_lost(exc)

    def _watch_reads(self) -> None:
        """A large answer is one write: writing is paused until nearly all of it is read, which may take long."""
        most = self.transport.get_write_buffer_size() - LEAST_READ_BYTES
        self._reads = self.loop.call_later(READ_WITHIN_S, self._look_at_reads, most)

    def _look_at_reads(self, most: int) -> None:
        """Hang up if more than `most` bytes are left to read."""
        if self.transport.get_write_buffer_size() > most:
            self.transport.abort()
        else:
            self._watch_reads()

    def _watch(self) -> None:
        """Limit the wait that begins now; leave that of one which goes on."""
        wait = self._waits()
        if wait != self._wait:
            _cancel(self._timer)
            self._wait, self._timer = wait, None if wait is None else self.loop.call_later(wait[0], self._close)

    def _waits(self) -> tuple[float, Any] | None:
        """How long to wait for the client, and after which request; None: the client waits for us."""
        if self._is_over:
            return None
        if self.transport.is_closing():
            return READ_WITHIN_S, None
        if self.cycle is None or self.cycle.response_complete:
            return HEAD_WITHIN_S, self.cycle
        return (BODY_WITHIN_S, self.cycle) if self.cycle.more_body else None

    def _close(self) -> None:
        if self.cycle is not None and not self.cycle.response_started:
            self.transport.write(TOO_LATE)
        log.debug("%s: closed, because its request came too late", self.client)
        self.transport.close()  # once it has sent what is left, which the client may not read
        self._timer = self.loop.call_later(CLOSE_WITHIN_S, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
