"""Small answers are sent at once.

Streamlit binds its socket without naming TCP, so asyncio leaves Nagle's algorithm on for its connections: an answer's
body waits for the acknowledgement of its headers, which the other side delays by 40 ms.

Checked against Streamlit 1.67.0. uvicorn 0.54.0 has the same bug: https://github.com/Kludex/uvicorn/issues/3149.
Unnecessary once the socket that `starlette_server._bind_socket` returns has the protocol IPPROTO_TCP.
"""

import socket

from streamlit.web.server.starlette import starlette_server

_bind = starlette_server._bind_socket


def send_at_once() -> None:
    """Set TCP_NODELAY on the socket on which Streamlit listens from now on; its connections inherit it."""
    starlette_server._bind_socket = bound


def bound(address: str, port: int, backlog: int) -> socket.socket:
    """A socket that listens there, with TCP_NODELAY."""
    listening = _bind(address, port, backlog)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
