"""Finds out with plain sockets what listens at an address, after a connection has failed.

Every step has a timeout; no credentials are sent. Kafka requests: ApiVersions v0 (key 18), SaslHandshake v1 (key 17).
"""

import socket
import ssl
import struct
import time
from typing import NamedTuple

from lag.cluster.connection.address import Address

METADATA = 3
SASL_HANDSHAKE = 17
API_VERSIONS = 18

_CORRELATION = 0x67726F75
_MAX_FRAME = 1_000_000
_CLIENT_ID = b"groupscope"
_WEB_REQUEST = b"GET / HTTP/1.0\r\n\r\n"


class NotKafka(Exception):
    """The answer is not a Kafka response."""


class NoAnswer(Exception):
    """The connection is open, but no answer arrives."""


class ConnectionClosed(Exception):
    """The peer closed the connection instead of answering."""


class Handshake(NamedTuple):
    """SaslHandshake response: error code (0, 33: mechanism not enabled, 34: no SASL) and the enabled mechanisms."""

    error: int
    mechanisms: tuple[str, ...]


def dial(address: Address, timeout_s: float) -> socket.socket:
    """A connected socket. Raises OSError: gaierror, ConnectionRefusedError, TimeoutError, ..."""
    return socket.create_connection(address, timeout=timeout_s)


def secure(sock: socket.socket, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
    """The socket after the TLS handshake. Raises ssl.SSLError, TimeoutError, ConnectionError."""
    return context.wrap_socket(sock, server_hostname=host.rstrip("."))


def api_keys(sock: socket.socket) -> frozenset[int]:
    """The API keys that a Kafka node supports. Raises NotKafka, NoAnswer, ConnectionClosed, ssl.SSLError."""
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
    """The answer to a SASL handshake with `mechanism`. Raises the same errors as `api_keys`."""
    name = mechanism.encode()
    body = _ask(sock, SASL_HANDSHAKE, 1, struct.pack(">h", len(name)) + name)
    try:
        error, count = struct.unpack_from(">hi", body)
        return Handshake(error, _strings(body, 6, count))
    except (struct.error, UnicodeDecodeError):
        raise NotKafka from None


def speaks_kafka(address: Address, timeout_s: float) -> bool:
    """Whether Kafka answers without TLS."""
    try:
        with dial(address, timeout_s) as sock:
            return bool(api_keys(sock))
    except (OSError, NotKafka, NoAnswer, ConnectionClosed):
        return False


def speaks_tls(address: Address, timeout_s: float) -> bool:
    """Whether any TLS server answers."""
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
    """Whether a web server answers."""
    try:
        with dial(address, timeout_s) as sock:
            sock.sendall(_WEB_REQUEST)
            return _receive(sock, 5) == b"HTTP/"
    except (OSError, NoAnswer, ConnectionClosed):
        return False


def _ask(sock: socket.socket, key: int, version: int, body: bytes) -> bytes:
    head = struct.pack(">hhih", key, version, _CORRELATION, len(_CLIENT_ID)) + _CLIENT_ID
    try:
        sock.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
    except ConnectionError:
        raise ConnectionClosed from None
    size, correlation = struct.unpack(">ii", _receive(sock, 8))
    if correlation != _CORRELATION or not 4 <= size <= _MAX_FRAME:
        raise NotKafka
    return _receive(sock, size - 4)


def _receive(sock: socket.socket, size: int) -> bytes:
    """Within the timeout of the socket, however the bytes arrive."""
    data, timeout_s = b"", sock.gettimeout() or 0.0
    ends_s = time.monotonic() + timeout_s
    while len(data) < size:
        try:
            sock.settimeout(max(0.001, ends_s - time.monotonic()))
            part = sock.recv(size - len(data))
        except TimeoutError:
            raise (NotKafka if data else NoAnswer) from None
        except ConnectionError:
            raise ConnectionClosed from None
        except ssl.SSLEOFError:
            raise ConnectionClosed from None
        if not part:
            raise NotKafka if data else ConnectionClosed
        data += part
    sock.settimeout(timeout_s)
    return data


def _strings(body: bytes, at: int, count: int) -> tuple[str, ...]:
    found = []
    for _ in range(count):
        (length,) = struct.unpack_from(">h", body, at)
        found.append(body[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return tuple(found)
