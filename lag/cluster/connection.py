"""kafka-python's connection manager with what a long-lived reader needs of it.

- Host names are resolved and tokens fetched off the I/O thread: a slow name server holds up nothing else.
- The TLS handshake has the deadline of the connect, so a frozen broker cannot keep it waiting for ever.
- What a broker says just before it closes the connection is read: why it refuses a login, for one.
- An answer that cannot be decoded, whatever its decoding raises, ends the connection: else nobody would read on, and
  the broker would be called silent.
- Sockets of failed attempts are closed at once, and the reason of a failure stays attached as `__cause__`.
- A lost connection starts no metadata requests of its own: every poll reads the metadata anyway.
"""

import errno
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kafka.errors import KafkaConnectionError, KafkaProtocolError, KafkaTimeoutError
from kafka.future import Future
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport

from lag.cluster.messages import UNREADABLE
from lag.cluster.oauth import TokenProvider
from lag.errors import ConnectError

Result = TypeVar("Result")

_IN_PROGRESS = {errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY}
_RETRY_TOKEN_S = 5.0


class Manager(KafkaConnectionManager):
    """Connections to the brokers of one cluster, all on one I/O thread."""

    def __init__(self, net: NetworkSelector, tokens: TokenProvider | None = None, **config: Any) -> None:
        self._tokens = tokens
        super().__init__(net, sasl_oauth_token_provider=tokens, **config)

    def get_connection(self, node_id: int | str, **options: Any) -> KafkaConnection:
        """As kafka-python's, without the metadata refresh when the connection is lost."""
        return super().get_connection(node_id, **{"refresh_metadata_on_err": False, **options})

    async def keep_token_fresh(self) -> None:
        """Renew the token before it ends, as long as the connections stand."""
        assert self._tokens is not None
        while not self.closed:
            try:
                await self._in_thread(self._tokens.renew_when_due)
                pause_s = self._tokens.due_in_s()
            except ConnectError:  # the next connection will report it
                pause_s = _RETRY_TOKEN_S
            await self._net.sleep(max(1.0, pause_s))

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> KafkaTCPTransport:
        try:
            if self._tokens is not None:
                await self._in_thread(self._tokens.renew_when_due)
            sock = await self._dial(node.host, node.port, timeout_at)
            return await self._shake_hands(sock, node.host, timeout_at)
        except (OSError, OverflowError, UnicodeError, KafkaTimeoutError, ConnectError) as error:
            raise KafkaConnectionError(_reason(error)) from error

    async def _dial(self, host: str, port: int, timeout_at: float | None) -> socket.socket:
        """A connected socket to the first address of `host` that takes it; each has its share of the time left."""
        found = await self._in_thread(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        failure: Exception = OSError(errno.EADDRNOTAVAIL, "the host name has no address")
        for tried, (family, kind, protocol, _, address) in enumerate(found):
            try:
                return await self._connect_socket(
                    socket.socket(family, kind, protocol), address, _share(timeout_at, len(found) - tried)
                )
            except (OSError, KafkaTimeoutError) as error:
                failure = error
        raise failure

    async def _connect_socket(self, sock: socket.socket, address: Any, timeout_at: float | None) -> socket.socket:
        try:
            sock.setblocking(False)
            for option in self.config["socket_options"]:
                sock.setsockopt(*option)
            code = sock.connect_ex(address)
            if code in _IN_PROGRESS:
                await self._net.wait_write(sock, timeout_at=timeout_at)
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code))
        except BaseException:
            sock.close()
            raise
        return sock

    async def _shake_hands(self, sock: socket.socket, host: str, timeout_at: float | None) -> KafkaTCPTransport:
        try:
            if not self.ssl_enabled:
                return _PlainTransport(self._net, sock, host=host)
            transport = _TlsTransport(self._net, sock, host=host, ssl_context=self.config["ssl_context"])
        except BaseException:
            sock.close()
            raise
        try:
            await transport.handshake_by(timeout_at)
        except BaseException as error:
            transport.abort(error)
            raise
        return transport

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        """The result of blocking `work`, done on a thread of its own (which does not keep the process alive)."""
        done = Future()

        def run() -> None:
            try:
                result = work()
            except (OSError, UnicodeError, ConnectError) as error:
                self._settle(done.failure, error)
            else:
                self._settle(done.success, result)

        threading.Thread(target=run, name="groupscope-connect", daemon=True).start()
        answer: Result = await done
        return answer

    def _settle(self, settle: Callable[[Any], object], outcome: object) -> None:
        try:
            self._net.call_soon_threadsafe(lambda: settle(outcome))
        except RuntimeError:  # closed meanwhile: nobody waits any more
            return


class _Listening:
    """Hand over what was received before the end of the stream: a broker that refuses a login says why, then closes."""

    async def _read_from_sock(self) -> None:
        try:
            await super()._read_from_sock()  # type: ignore[misc]
        except UNREADABLE as error:
            self.abort(KafkaProtocolError(f"{type(error).__name__} when decoding its answer"))  # type: ignore[attr-defined]

    def _sock_recv(self) -> tuple[bytes, Exception | None]:
        data, error = super()._sock_recv()  # type: ignore[misc]
        return data, None if data else error


class _PlainTransport(_Listening, KafkaTCPTransport):
    pass


class _TlsTransport(_Listening, KafkaSSLTransport):
    async def handshake_by(self, timeout_at: float | None) -> None:
        while True:
            try:
                self._sock.do_handshake()
                return
            except ssl.SSLWantReadError:
                await self._net.wait_read(self._sock, timeout_at=timeout_at)
            except ssl.SSLWantWriteError:
                await self._net.wait_write(self._sock, timeout_at=timeout_at)


def _share(timeout_at: float | None, attempts: int) -> float | None:
    now = time.monotonic()
    return None if timeout_at is None else now + max(0.0, timeout_at - now) / attempts


def _reason(error: Exception) -> str:
    match error:
        case KafkaTimeoutError():
            return "no connection in time"
        case socket.gaierror():
            return "the host name is unknown"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted: {error.verify_message}"
        case OSError():
            return error.strerror or type(error).__name__
    return str(error)
