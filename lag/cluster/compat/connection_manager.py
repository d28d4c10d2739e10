"""kafka-python's connection manager, for a reader that runs for weeks.

Overrides `_build_transport` of `KafkaConnectionManager`, and uses its `_net`, `_conns` and `_auth_failures`
(kafka-python 3.0.12), because kafka-python

- resolves host names and asks for tokens on the I/O thread, where a slow name server holds up every broker;
- leaves the socket of a failed attempt open, and drops the cause of the failure (here it is `__cause__`);
- cannot close one connection with a given error, nor retry a broker that refused a login before;
- asks for metadata whenever a connection is lost; a poll reads the metadata anyway.
"""

import errno
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Protocol, TypeVar

from kafka.errors import KafkaConnectionError, KafkaTimeoutError
from kafka.future import Future
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.net.transport import KafkaTCPTransport

from lag.cluster.compat.transports import PlainTransport, TlsTransport
from lag.errors import ConnectError

Result = TypeVar("Result")

_IN_PROGRESS = {errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY}
_RETRY_TOKEN_S = 5.0


class Tokens(Protocol):
    """The OAuth tokens or Kerberos tickets of one login (`lag.cluster.connection`: `oauth`, `kerberos`)."""

    def prepare(self, host: str) -> None:
        """Fetch what a login at this host needs. Blocks; raises ConnectError."""

    def renew_when_due(self) -> None:
        """Fetch again what is due. Blocks; raises ConnectError."""

    def due_in_s(self) -> float:
        """Seconds until the next renewal; 0 or less if it is due."""


class ConnectionManager(KafkaConnectionManager):
    """Connections to the brokers of one cluster, all on one I/O thread."""

    def __init__(self, net: NetworkSelector, tokens: Tokens | None = None, **config: Any) -> None:
        self._tokens = tokens
        # The one entry of its configuration that takes any object; our GSSAPI mechanism finds the tickets there.
        super().__init__(net, sasl_oauth_token_provider=tokens, **config)

    def get_connection(self, node_id: int | str, **options: Any) -> KafkaConnection:
        """As kafka-python's, without a metadata request when the connection is lost."""
        return super().get_connection(node_id, **{"refresh_metadata_on_err": False, **options})

    def run(self, work: Callable[..., Coroutine[Any, Any, Result]], *arguments: object) -> Result:
        """As kafka-python's: the result of the coroutine function, which runs on the I/O thread."""
        result: Result = super().run(work, *arguments)
        return result

    def allow_retry(self, node_id: int) -> None:
        """Let the next request connect to this broker at once, whatever failed before."""
        self.reset_backoff(node_id)
        self._auth_failures.pop(node_id, None)

    def version_of(self, node_id: int) -> str | None:
        """The Kafka version that follows from the APIs of this broker; None without a connection to it."""
        connection = self._conns.get(node_id)
        version = connection.broker_version if connection is not None else None
        return ".".join(map(str, version)) if version else None

    def was_active(self, node_id: int, within_s: float) -> bool:
        """Whether bytes went to or came from this broker in the last `within_s` seconds."""
        connection = self._conns.get(node_id)
        transport = connection and connection.transport
        return bool(transport) and time.monotonic() - transport.last_activity < within_s

    def disconnect(self, node_id: int | str, error: Exception) -> None:
        """Close the connection to this broker; requests that wait for an answer fail with `error`."""
        connection = self._conns.pop(node_id, None)
        if connection is not None:
            connection.close(error)

    def close_with(self, error: Exception) -> None:
        """Close everything; requests that wait for an answer fail with `error`."""
        for connection in list(self._conns.values()):
            connection.close(error)
        self.close()

    async def keep_token_fresh(self) -> None:
        """Renew the token before it expires, until the manager is closed."""
        assert self._tokens is not None
        while not self.closed:
            try:
                await self._in_thread(self._tokens.renew_when_due)
                pause_s = self._tokens.due_in_s()
            except ConnectError:  # the next connection reports it
                pause_s = _RETRY_TOKEN_S
            await self._net.sleep(max(1.0, pause_s))

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> KafkaTCPTransport:
        try:
            if self._tokens is not None:
                await self._in_thread(partial(self._tokens.prepare, node.host))
            sock = await self._connect_host(node.host, node.port, timeout_at)
            return await self._transport(sock, node.host, timeout_at)
        except (OSError, OverflowError, UnicodeError, KafkaTimeoutError, ConnectError) as error:
            raise KafkaConnectionError(_reason(error)) from error

    async def _connect_host(self, host: str, port: int, timeout_at: float | None) -> socket.socket:
        """A socket to the first address of `host` that accepts; the remaining time is shared by the addresses."""
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

    async def _transport(self, sock: socket.socket, host: str, timeout_at: float | None) -> KafkaTCPTransport:
        try:
            if not self.ssl_enabled:
                return PlainTransport(self._net, sock, host=host)
            transport = TlsTransport(self._net, sock, host=host, ssl_context=self.config["ssl_context"])
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
        """The result of blocking `work`, on a daemon thread."""
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
        except RuntimeError:  # closed in the meantime, nobody waits
            return


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
