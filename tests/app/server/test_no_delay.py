"""The connections of a server do not wait for acknowledgements before they send."""

import socket

import pytest
from streamlit.web.server.starlette import starlette_server

from app.server.compat import no_delay


def accepted_option(listening: socket.socket) -> int:
    """TCP_NODELAY of a connection that the socket accepts."""
    with listening, socket.create_connection(listening.getsockname()[:2]):
        listening.setblocking(True)
        with listening.accept()[0] as connection:
            return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("address", ["127.0.0.1", "::"])
def test_connections_to_the_server_send_small_answers_at_once(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(starlette_server, "_bind_socket", no_delay._bind)
    no_delay.send_at_once()
    listening, _ = starlette_server._bind_server_socket(address, address, 0, 1)
    assert accepted_option(listening) == 1


def test_streamlits_own_socket_does_not_name_tcp() -> None:
    listening = no_delay._bind("127.0.0.1", 0, 1)
    assert listening.proto == 0, "asyncio sets TCP_NODELAY itself: app.server.compat.no_delay is unnecessary"
    assert accepted_option(listening) == 0
