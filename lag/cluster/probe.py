"""Find out, with plain sockets and a few bytes, what listens at an address.

Used after a connection has failed. Every function answers within `timeout_s` a step, closes what it opens, and sends
no credentials. Kafka's frames here: ApiVersions v0 (key 18) and SaslHandshake v1 (key 17).
"""

import socket
import ssl
import struct
from typing import NamedTuple

from lag.cluster.address import Address

METADATA = 3
SASL_HANDSHAKE = 17
API_VERSIONS = 18

_CORRELATION = 0x67726F75
_MAX_FRAME = 1_000_000
_CLIENT_ID = b"groupscope"
_WEB_REQUEST = b"GET / HTTP/1.0\r\n\r\n"


class NotKafka(Exception):
    """What came back is not a Kafka response."""


class Silence(Exception):
    """The connection stands, and nothing comes back."""


class HungUp(Exception):
    """The other side closed the connection instead of answering."""


class Handshake(NamedTuple):
    """Answer to SaslHandshake: Kafka's error code (0, 33: mechanism not enabled, 34: no SASL here) and what is."""

    error: int
    mechanisms: tuple[str, ...]


def dial(address: Address, timeout_s: float) -> socket.socket:
    """A connected socket. Raises OSError: gaierror, ConnectionRefusedError, TimeoutError, ..."""
    return socket.create_connection(address, timeout=timeout_s)


def secure(sock: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
    """The socket after the TLS handshake. Raises ssl.SSLError, TimeoutError, ConnectionError."""
    return context.wrap_socket(sock, server_hostname=host.rstrip("."))


def api_keys(sock: socket.socket) -> frozenset[int]:
    """The requests that a Kafka node knows. Raises NotKafka, Silence, HungUp, ssl.SSLError."""
    body = _ask(sock, API_VERSIONS, 0, b"")
    try:
        error, count = struct.unpack_from(">hi", body)
        keys = frozenset(key for key, _, _ in struct.iter_unpack(">hhh", body[6:]))
    except struct.error:
        raise NotKafka from None
    if error or count != len(keys):
        raise NotKafka
    return keys


def sasl_handshake(sock: socket.socket, mechanism: str) -> Handshake:
    """What the listener says to a login with `mechanism`. Raises as `api_keys`."""
    name = mechanism.encode()
    body = _ask(sock, SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)
    try:
        error, count = struct.unpack_from(">hi", body)
        return Handshake(error, _strings(body, 6, count))
    except (struct.error, UnicodeDecodeError):
        raise NotKafka from None


def speaks_kafka(address: Address, timeout_s: float) -> bool:
    """Whether Kafka answers here without TLS."""
    try:
        with dial(address, timeout_s) as sock:
            return bool(api_keys(sock))
    except (OSError, NotKafka, Silence, HungUp):
        return False


def speaks_tls(address: Address, timeout_s: float) -> bool:
    """Whether a TLS server is here, whoever it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with dial(address, timeout_s) as sock, secure(sock, context, address.host):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except (OSError, ValueError):
        return False


def speaks_http(address: Address, timeout_s: float) -> bool:
    """Whether a web server is here."""
    try:
        with dial(address, timeout_s) as sock:
            sock.sendall(_WEB_REQUEST)
            return _receive(sock, 5) == b"HTTP/"
    except (OSError, Silence, HungUp):
        return False


def _ask(sock: socket.socket, key: int, version: int, body: bytes) -> bytes:
    head = struct.pack(">hhih", key, version, _CORRELATION, len(_CLIENT_ID)) + _CLIENT_ID
    try:
        sock.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
    except ConnectionError:
        raise HungUp from None
    size, correlation = struct.unpack(">ii", _receive(sock, 8))
    if correlation != _CORRELATION or not 4 <= size <= _MAX_FRAME:
        raise NotKafka
    return _receive(sock, size - 4)


def _receive(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        try:
            part = sock.recv(size - len(data))
        except TimeoutError:
            raise (NotKafka if data else Silence) from None
        except ConnectionError:
            raise HungUp from None
        except ssl.SSLEOFError:
            raise HungUp from None
        if not part:
            raise NotKafka if data else HungUp
        data += part
    return data


def _strings(body: bytes, at: int, count: int) -> tuple[str, ...]:
    found = []
    for _ in range(count):
        (length,) = struct.unpack_from(">h", body, at)
        found.append(body[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return tuple(found)
