"""Transports that read everything a broker sends.

Overrides `_read_from_sock` and `_sock_recv` of `KafkaTCPTransport` and `KafkaSSLTransport`, and uses their `_sock` and
`_net` (kafka-python 3.0.12), because kafka-python

- drops the bytes that arrive together with the end of the stream: a broker that refuses a login says why, then closes;
- lets decoding errors other than KafkaProtocolError end its read task, and the connection hangs until it times out;
- does not limit the time of a TLS handshake, so a frozen broker blocks it without end.
"""

import ssl

from kafka.errors import KafkaProtocolError
from kafka.net.transport import KafkaSSLTransport, KafkaTCPTransport


class _ReadAll:
    async def _read_from_sock(self) -> None:
        try:
            await super()._read_from_sock()  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait for an answer must hear of it
            self.abort(KafkaProtocolError(f"{type(error).__name__} when decoding its answer"))  # type: ignore[attr-defined]

    def _sock_recv(self) -> tuple[bytes, Exception | None]:
        data, error = super()._sock_recv()  # type: ignore[misc]
        return data, None if data else error


class PlainTransport(_ReadAll, KafkaTCPTransport):
    """A connection without TLS."""


class TlsTransport(_ReadAll, KafkaSSLTransport):
    """A connection with TLS."""

    async def handshake_by(self, timeout_at: float | None) -> None:
        """The TLS handshake, until `timeout_at` on the monotonic clock. Raises KafkaTimeoutError, ssl.SSLError."""
        while True:
            try:
                self._sock.do_handshake()
                return
            except ssl.SSLWantReadError:
                await self._net.wait_read(self._sock, timeout_at=timeout_at)
            except ssl.SSLWantWriteError:
                await self._net.wait_write(self._sock, timeout_at=timeout_at)
