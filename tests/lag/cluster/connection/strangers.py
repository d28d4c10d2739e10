"""TCP servers on loopback that are not Kafka brokers: what a wrong address may lead to."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from lag.cluster.connection.address import Address

Behaviour = Callable[[socket.socket], None]


@contextmanager
def serve(behave: Behaviour) -> Iterator[Address]:
    """Accept on a free port and let `behave` talk to each client on a thread of its own, until the end."""
    listener = socket.create_server(("127.0.0.1", 0))
    talks: list[threading.Thread] = []
    clients: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            clients.append(client)
            talks.append(threading.Thread(target=_talk, args=(behave, client)))
            talks[-1].start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield Address("127.0.0.1", listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for client in clients:
            _shut(client)
        for talk in talks:
            talk.join()


def says(data: bytes) -> Behaviour:
    """Answers the first bytes it gets with `data`, and hangs up."""

    def behave(client: socket.socket) -> None:
        if client.recv(4096):
            client.sendall(data)

    return behave


def silent(client: socket.socket) -> None:
    """Reads everything and never says a word."""
    while client.recv(4096):
        pass


def web_server(client: socket.socket) -> None:
    """Answers once it has a whole line, as web servers do."""
    data = b""
    while b"\n" not in data:
        part = client.recv(4096)
        if not part:
            return
        data += part
    client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def dripping(client: socket.socket) -> None:
    """A web server whose answer has no end."""
    client.recv(4096)
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    with suppress(OSError):
        while True:
            client.sendall(b" ")
            time.sleep(0.02)


def tls(context: ssl.SSLContext) -> Behaviour:
    """A TLS server that is silent after the handshake."""

    def behave(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as secured:
            silent(secured)

    return behave


def _talk(behave: Behaviour, client: socket.socket) -> None:
    with client:
        try:
            behave(client)
        except OSError:
            return


def _shut(client: socket.socket) -> None:
    try:
        client.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
