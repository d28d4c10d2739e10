"""Where the server listens, and whether it may."""

import ssl
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any

from app.server.access.hosts import is_address, is_loopback
from app.server.settings import Settings
from lag.errors import ConfigError

ALL_ADDRESSES = ("0.0.0.0", "::")
PEM_HINT = "Name a certificate in PEM and its key without a password"


@dataclass(frozen=True, slots=True)
class Listener:
    """Port and address; with the files of a certificate and of its key, the server speaks https."""

    port: int
    host: str = "127.0.0.1"
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def url(self) -> str:
        """The address of the first page, for a browser on this machine."""
        return f"{'http' if self.tls_cert is None else 'https'}://{self._shown_host}:{self.port}"

    @property
    def _shown_host(self) -> str:
        if self.host in ALL_ADDRESSES:
            return "localhost"
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def names(self) -> tuple[str, ...]:
        """The host, if it is a name."""
        return () if is_address(self.host) else (self.host,)

    def options(self) -> dict[str, Any]:
        """Streamlit's options."""
        tls = {"server.sslCertFile": str(self.tls_cert), "server.sslKeyFile": str(self.tls_key)}
        return {
            "server.port": self.port,
            "server.address": self.host,
            "server.headless": True,
            **(tls if self.tls_cert is not None else {}),
        }

    def connect(self, timeout_s: float) -> HTTPConnection:
        """A connection to the server, from this machine. It uses no proxy, and trusts the server's certificate."""
        host = "localhost" if self.host in ALL_ADDRESSES else self.host
        if self.tls_cert is None:
            return HTTPConnection(host, self.port, timeout=timeout_s)
        return HTTPSConnection(host, self.port, timeout=timeout_s, context=ssl._create_unverified_context())

    def is_open(self, settings: Settings) -> bool:
        """Whether other machines reach the server and need no login."""
        return not is_loopback(self.host) and not settings.has_login

    def check(self, settings: Settings) -> None:
        """Raise ConfigError if others reach the server and need no login, or if the certificate cannot be used."""
        if self.is_open(settings) and not settings.insecure:
            raise ConfigError(
                f"--host {self.host} lets other machines in, and no login is configured",
                "Configure a login (--login FILE or --trust-header NAME), keep --host 127.0.0.1 behind a proxy, or add "
                "--insecure to let everybody in",
            )
        self._check_certificate()

    def _check_certificate(self) -> None:
        if self.tls_cert is None and self.tls_key is None:
            return
        if self.tls_cert is None or self.tls_key is None:
            raise ConfigError("TLS needs both a certificate and its key", "Give --tls-cert FILE and --tls-key FILE")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.tls_cert, self.tls_key, _no_password)
        except (OSError, ValueError) as error:
            why = error.strerror or "it is not PEM" if isinstance(error, OSError) else str(error)
            raise ConfigError(f"{self.tls_cert} and {self.tls_key} cannot be used: {why}", PEM_HINT) from None


def _no_password() -> str:
    raise ValueError("the key has a password")
