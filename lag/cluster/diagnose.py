"""Why a connection failed, in one sentence, and what to do about it in another.

The client library says what it saw; here each address is looked at again with plain sockets (`lag.cluster.probe`) to
tell apart causes that look alike from outside: a TLS listener and a frozen broker, a web server and a controller.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from kafka.errors import AuthorizationError, SaslAuthenticationFailedError

from lag.cluster import probe
from lag.cluster.address import Address
from lag.cluster.credentials import PasswordLogin, login
from lag.cluster.settings import Settings
from lag.cluster.tls import identity
from lag.errors import (
    AddressError,
    AuthenticationError,
    CertificateError,
    ConnectError,
    ProtocolMismatch,
)

STEP_S = 2.0
SECOND_LOOK_S = 1.0
TOTAL_S = 6.0
_RANK = (AuthenticationError, CertificateError, ProtocolMismatch, ConnectError)
_MECHANISM_NOT_ENABLED = 33
_NO_SASL_HERE = 34
_EXPIRED = 10
_NOT_YET_VALID = 9
_WRONG_HOST = {62, 64}
_UNKNOWN_ISSUER = {2, 7, 18, 19, 20, 21, 27}  # 7: a CA of the same name, with another key

Failures = Mapping[Address, BaseException | None]


def bootstrap(settings: Settings, context: ssl.SSLContext | None, failures: Failures) -> ConnectError:
    """Why none of the bootstrap servers could be used; `failures` has what the client saw at each (None: silence)."""
    return _summary(list(_examined(settings, context, failures).values()))


def advertised(settings: Settings, context: ssl.SSLContext | None, failures: Failures) -> ConnectError:
    """Why none of the brokers that a bootstrap server names can be reached, though the server itself can."""
    found = _examined(settings, context, failures)
    if any(not isinstance(error, AddressError) for error in found.values()):
        return _summary([error for error in found.values() if not isinstance(error, AddressError)])
    reasons = "; ".join(error.cause for error in found.values())
    return AddressError(
        f"{settings.servers} answers, but the addresses that the brokers advertise cannot be reached: {reasons}",
        "Set advertised.listeners of the brokers to addresses that are open from here, "
        "or run groupscope in the brokers' network.",
    )


def _examined(settings: Settings, context: ssl.SSLContext | None, failures: Failures) -> dict[Address, ConnectError]:
    """Every address looked at, all at once; one whose look takes too long is told so."""
    results: queue.SimpleQueue[tuple[Address, ConnectError]] = queue.SimpleQueue()

    def look(address: Address, seen: BaseException | None) -> None:
        results.put((address, _Case(settings, context, address).explain(seen)))

    for address, seen in failures.items():
        threading.Thread(target=look, args=(address, seen), name="groupscope-diagnose", daemon=True).start()
    found = dict(_within(results, len(failures), TOTAL_S))
    return {address: found.get(address) or _silent(address) for address in failures}


def _within(
    results: "queue.SimpleQueue[tuple[Address, ConnectError]]", count: int, total_s: float
) -> Iterator[tuple[Address, ConnectError]]:
    until_s = time.monotonic() + total_s
    for _ in range(count):
        try:
            yield results.get(timeout=max(0.0, until_s - time.monotonic()))
        except queue.Empty:
            return


def _summary(found: list[ConnectError]) -> ConnectError:
    """One error for all addresses: of the most telling kind, with every cause and the hint of the first."""
    kind = next(kind for kind in _RANK if any(isinstance(error, kind) for error in found))
    telling = [error for error in found if isinstance(error, kind)]
    causes = list(dict.fromkeys(error.cause for error in telling))
    return type(telling[0])("; ".join(causes[:3]) + ("; …" if len(causes) > 3 else ""), telling[0].hint)


def _silent(address: Address) -> ConnectError:
    return ConnectError(
        f"{address} accepts connections but does not answer",
        "Check whether the broker is frozen, overloaded or still starting.",
    )


class _Case:
    """One address under examination."""

    def __init__(self, settings: Settings, context: ssl.SSLContext | None, address: Address) -> None:
        self._settings = settings
        self._context = context
        self._at = address

    def explain(self, seen: BaseException | None) -> ConnectError:
        """What is wrong at this address; `seen` is what the client library met."""
        told = self._told(seen)
        if told is not None:
            return told
        try:
            with probe.dial(self._at, STEP_S) as sock:
                return self._beyond_tcp(sock)
        except (OSError, OverflowError, UnicodeError) as error:
            return self._unreachable(error)

    def _told(self, seen: BaseException | None) -> ConnectError | None:
        """Failures that need no second look: a refused login, a token endpoint that does not give a token."""
        while seen is not None:
            if isinstance(seen, ConnectError):
                return seen
            if isinstance(seen, SaslAuthenticationFailedError):
                return self._login_refused()
            if isinstance(seen, AuthorizationError):
                return AuthenticationError(
                    f"{self._at} does not let us see the cluster", "Grant Describe on the cluster."
                )
            seen = seen.__cause__
        return None

    def _unreachable(self, error: Exception) -> ConnectError:
        match error:
            case socket.gaierror() | UnicodeError():
                cause = f"The host name {self._at.host} is unknown"
                return AddressError(cause, "Check its spelling, and that this machine's name server knows it.")
            case ConnectionRefusedError():
                cause = f"{self._at} refuses the connection"
                return AddressError(cause, "Check that a broker listens on this port and is running.")
            case TimeoutError():
                cause = f"{self._at} cannot be reached: no answer in {STEP_S:g} s"
                return AddressError(cause, "Check host, port and firewalls in between.")
        cause = f"{self._at} cannot be reached: {getattr(error, 'strerror', None) or type(error).__name__}"
        return AddressError(cause, "Check host, port and network.")

    def _beyond_tcp(self, sock: socket.socket) -> ConnectError:
        try:
            if self._context is None:
                return self._beyond_tls(sock)
            with probe.secure(sock, self._context, self._at.host) as secured:
                return self._beyond_tls(secured)
        except ssl.SSLCertVerificationError as error:
            return self._broker_certificate(error)
        except ssl.SSLError as error:
            return self._tls_refused(error)
        except (ConnectionError, TimeoutError, probe.Silence, probe.HungUp, probe.NotKafka) as error:
            return self._no_kafka(error)

    def _beyond_tls(self, sock: socket.socket) -> ConnectError:
        keys = probe.api_keys(sock)
        if probe.METADATA not in keys:
            return ProtocolMismatch(
                f"{self._at} is a Kafka controller, not a broker", "Name a broker's listener in bootstrap.servers."
            )
        if probe.SASL_HANDSHAKE in keys:
            answer = probe.sasl_handshake(sock, self._settings.sasl_mechanism or "PLAIN")
            mismatch = self._login_mismatch(answer)
            if mismatch is not None:
                return mismatch
        return ConnectError(
            f"{self._at} answered too late or broke off",
            "Try again; if it stays so, raise socket.connection.setup.timeout.ms.",
        )

    def _login_mismatch(self, answer: probe.Handshake) -> ConnectError | None:
        if not self._settings.uses_sasl:
            return None if answer.error == _NO_SASL_HERE else self._login_wanted(answer)
        if answer.error == _NO_SASL_HERE:
            return self._login_not_wanted()
        if answer.error == _MECHANISM_NOT_ENABLED:
            offered = ", ".join(answer.mechanisms) or "nothing"
            return AuthenticationError(
                f"{self._at} does not offer {self._settings.sasl_mechanism}; it offers {offered}",
                "Set sasl.mechanism to one that it offers.",
            )
        return None

    def _login_wanted(self, answer: probe.Handshake) -> ConnectError:
        wanted = "SASL_SSL" if self._settings.uses_tls else "SASL_PLAINTEXT"
        offers = f" ({', '.join(answer.mechanisms)})" if answer.mechanisms else ""
        return ProtocolMismatch(
            f"{self._at} wants a login by SASL{offers}, and security.protocol is {self._settings.security_protocol}",
            f"Set security.protocol={wanted}, sasl.mechanism and sasl.jaas.config.",
        )

    def _login_not_wanted(self) -> ConnectError:
        plain = "SSL" if self._settings.uses_tls else "PLAINTEXT"
        return ProtocolMismatch(
            f"{self._at} knows no login by SASL, and security.protocol is {self._settings.security_protocol}",
            f"Set security.protocol={plain}, or name the listener that takes logins.",
        )

    def _login_refused(self) -> ConnectError:
        who = login(self._settings)
        mechanism = self._settings.sasl_mechanism
        if isinstance(who, PasswordLogin):
            scram = mechanism != "PLAIN"
            return AuthenticationError(
                f"{self._at} refuses the login of user {who.username!r} by {mechanism}",
                "Check user name and password" + (f", and that {mechanism} is set up for this user." if scram else "."),
            )
        return AuthenticationError(
            f"{self._at} refuses our bearer token",
            "Check that the brokers trust its issuer, and its audience, scope and time of validity.",
        )

    def _broker_certificate(self, error: ssl.SSLCertVerificationError) -> ConnectError:
        code = error.verify_code
        if code == _EXPIRED:
            return CertificateError(f"The certificate of {self._at} has expired", "Renew it on the broker.")
        if code == _NOT_YET_VALID:
            return CertificateError(
                f"The certificate of {self._at} is not valid yet", "Check the clocks of both machines."
            )
        if code in _WRONG_HOST:
            return CertificateError(
                f"The certificate of {self._at} is for another host",
                "Use a host name that stands in the certificate, or (less safe) set "
                "ssl.endpoint.identification.algorithm= to nothing.",
            )
        if code in _UNKNOWN_ISSUER:
            return CertificateError(
                f"The certificate of {self._at} is signed by a CA that we do not know",
                "Name the CA's certificate (PEM or PKCS#12) in ssl.truststore.location.",
            )
        return CertificateError(
            f"The certificate of {self._at} is not accepted: {error.verify_message}", "Replace it on the broker."
        )

    def _tls_refused(self, error: ssl.SSLError) -> ConnectError:
        reason = error.reason or ""
        if "ALERT" not in reason:
            return self._no_kafka(error)
        if "CERTIFICATE" in reason or "UNKNOWN_CA" in reason:
            return self._own_certificate(reason)
        if "HANDSHAKE_FAILURE" in reason:
            return CertificateError(
                f"{self._at} breaks off the TLS handshake",
                "It may want a client certificate (ssl.keystore.location), or have no cipher in common with us.",
            )
        return ProtocolMismatch(
            f"{self._at} and we agree on no TLS version ({reason.replace('_', ' ').lower()})",
            "Allow TLS 1.2 or 1.3 on the broker (ssl.enabled.protocols).",
        )

    def _own_certificate(self, reason: str) -> ConnectError:
        own = identity(self._settings)
        if own is None:
            return CertificateError(
                f"{self._at} asks for a client certificate, and none is set",
                "Set ssl.keystore.location (PEM or PKCS#12) and its password.",
            )
        if own.expires < datetime.now(UTC):
            return CertificateError(
                f"Our certificate in {own.key_name} expired on {own.expires:%Y-%m-%d}", "Renew it and replace the file."
            )
        return CertificateError(
            f"{self._at} refuses our certificate from {own.key_name} ({reason.replace('_', ' ').lower()})",
            "Use one that is signed by a CA in the brokers' trust store.",
        )

    def _no_kafka(self, error: Exception) -> ConnectError:
        """Something answers, or nothing does, but not Kafka over the protocol that is set."""
        protocol, sasl = self._settings.security_protocol, self._settings.sasl_mechanism is not None
        if self._context is None and probe.speaks_tls(self._at, SECOND_LOOK_S):
            wanted = "SASL_SSL" if sasl else "SSL (or SASL_SSL where a login is needed)"
            return ProtocolMismatch(
                f"{self._at} speaks TLS, and security.protocol is {protocol}", f"Set security.protocol={wanted}."
            )
        if self._context is not None and probe.speaks_kafka(self._at, SECOND_LOOK_S):
            wanted = "SASL_PLAINTEXT" if sasl else "PLAINTEXT"
            return ProtocolMismatch(
                f"{self._at} speaks no TLS, and security.protocol is {protocol}",
                f"Set security.protocol={wanted}, or name the TLS listener's port.",
            )
        if probe.speaks_http(self._at, SECOND_LOOK_S):
            return ProtocolMismatch(f"{self._at} is a web server, not Kafka", "Name a broker in bootstrap.servers.")
        if isinstance(error, TimeoutError | probe.Silence):
            return _silent(self._at)
        return ProtocolMismatch(
            f"{self._at} does not answer as a Kafka broker does", "Name a broker's host and port in bootstrap.servers."
        )
