"""Why a connection failed, and a hint how to fix it.

kafka-python reports what it saw; each address is then probed with plain sockets (`probe`) to distinguish causes with
the same symptom: a TLS listener and a frozen broker, a web server and a controller.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from kafka.errors import AuthorizationError, SaslAuthenticationFailedError

from lag.cluster.connection import probe
from lag.cluster.connection.address import Address
from lag.cluster.connection.credentials import PasswordLogin, login, wire_mechanism
from lag.cluster.connection.kerberos_login import KerberosLogin
from lag.cluster.connection.msk_login import MskLogin
from lag.cluster.connection.settings import Settings
from lag.cluster.connection.tls import identity
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
    """Why no bootstrap server could be used; `failures` has the error of the client at each (None: no answer)."""
    return _summary(list(_examined(settings, context, failures).values()))


def advertised(settings: Settings, context: ssl.SSLContext | None, failures: Failures) -> ConnectError:
    """Why no broker of the cluster can be reached, although a bootstrap server answers."""
    found = _examined(settings, context, failures)
    if any(not isinstance(error, AddressError) for error in found.values()):
        return _summary([error for error in found.values() if not isinstance(error, AddressError)])
    reasons = "; ".join(error.cause for error in found.values())
    return AddressError(
        f"{settings.servers} answers, but the addresses that the brokers advertise cannot be reached: {reasons}",
        "Set the brokers' advertised.listeners to addresses that can be reached from here, "
        "or run groupscope in the brokers' network.",
    )


def _examined(settings: Settings, context: ssl.SSLContext | None, failures: Failures) -> dict[Address, ConnectError]:
    """The error at every address, probed concurrently; an address without a result in time does not answer."""
    results: queue.SimpleQueue[tuple[Address, ConnectError]] = queue.SimpleQueue()

    def examine(address: Address, seen: BaseException | None) -> None:
        results.put((address, _Case(settings, context, address).explain(seen)))

    for address, seen in failures.items():
        threading.Thread(target=examine, args=(address, seen), name="groupscope-diagnose", daemon=True).start()
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
    """One error for all addresses: of the most specific kind, with up to three causes and the first hint."""
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
    """One address."""

    def __init__(self, settings: Settings, context: ssl.SSLContext | None, address: Address) -> None:
        self._settings = settings
        self._context = context
        self._at = address

    def explain(self, seen: BaseException | None) -> ConnectError:
        """What is wrong at this address; `seen` is the error of the client."""
        from_client = self._from_client(seen)
        if from_client is not None:
            return from_client
        try:
            with probe.dial(self._at, STEP_S) as sock:
                return self._beyond_tcp(sock)
        except (OSError, OverflowError, UnicodeError) as error:
            return self._unreachable(error)

    def _from_client(self, seen: BaseException | None) -> ConnectError | None:
        """Errors that need no probe: a rejected login, a token endpoint without a token."""
        while seen is not None:
            if isinstance(seen, ConnectError):
                return seen
            if isinstance(seen, SaslAuthenticationFailedError):
                return self._login_refused()
            if isinstance(seen, AuthorizationError):
                return AuthenticationError(
                    f"{self._at} does not authorise us to describe the cluster", "Grant DESCRIBE on the cluster."
                )
            seen = seen.__cause__
        return None

    def _unreachable(self, error: Exception) -> ConnectError:
        match error:
            case socket.gaierror() | UnicodeError():
                cause = f"The host name {self._at.host} is unknown"
                return AddressError(cause, "Check the spelling and the DNS of this machine.")
            case ConnectionRefusedError():
                cause = f"{self._at} refuses the connection"
                return AddressError(cause, "Check that a broker listens on this port and is running.")
            case TimeoutError():
                cause = f"{self._at} cannot be reached: no answer in {STEP_S:g} s"
                return AddressError(cause, "Check the host, the port and any firewall in between.")
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
        except (ConnectionError, TimeoutError, probe.NoAnswer, probe.ConnectionClosed, probe.NotKafka) as error:
            return self._no_kafka(error)

    def _beyond_tls(self, sock: socket.socket) -> ConnectError:
        keys = probe.api_keys(sock)
        if probe.METADATA not in keys:
            return ProtocolMismatch(
                f"{self._at} is a Kafka controller, not a broker", "Name a broker's listener in bootstrap.servers."
            )
        if probe.SASL_HANDSHAKE in keys:
            answer = probe.sasl_handshake(sock, wire_mechanism(self._settings) or "PLAIN")
            mismatch = self._login_mismatch(answer)
            if mismatch is not None:
                return mismatch
        return ConnectError(
            f"{self._at} answers too late or closes the connection",
            "Try again; if it persists, raise socket.connection.setup.timeout.ms.",
        )

    def _login_mismatch(self, answer: probe.Handshake) -> ConnectError | None:
        if not self._settings.uses_sasl:
            return None if answer.error == _NO_SASL_HERE else self._login_wanted(answer)
        if answer.error == _NO_SASL_HERE:
            return self._login_not_wanted()
        if answer.error == _MECHANISM_NOT_ENABLED:
            offered = ", ".join(answer.mechanisms) or "none"
            return AuthenticationError(
                f"{self._at} does not offer {wire_mechanism(self._settings)}; it offers {offered}",
                "Set sasl.mechanism to one of these.",
            )
        return None

    def _login_wanted(self, answer: probe.Handshake) -> ConnectError:
        wanted = "SASL_SSL" if self._settings.uses_tls else "SASL_PLAINTEXT"
        offers = f" ({', '.join(answer.mechanisms)})" if answer.mechanisms else ""
        protocol = self._settings.security_protocol
        return ProtocolMismatch(
            f"{self._at} requires SASL authentication{offers}, but security.protocol is {protocol}",
            f"Set security.protocol={wanted}, sasl.mechanism and sasl.jaas.config.",
        )

    def _login_not_wanted(self) -> ConnectError:
        plain = "SSL" if self._settings.uses_tls else "PLAINTEXT"
        return ProtocolMismatch(
            f"{self._at} does not support SASL, but security.protocol is {self._settings.security_protocol}",
            f"Set security.protocol={plain}, or use the port of a SASL listener.",
        )

    def _login_refused(self) -> ConnectError:
        who = login(self._settings)
        mechanism = self._settings.sasl_mechanism
        if isinstance(who, PasswordLogin):
            scram = mechanism != "PLAIN"
            return AuthenticationError(
                f"{self._at} rejects user {who.username!r} ({mechanism})",
                "Check user name and password" + (f", and that {mechanism} is set up for this user." if scram else "."),
            )
        if isinstance(who, KerberosLogin):
            return AuthenticationError(
                f"{self._at} rejects the Kerberos ticket of {who.who}",
                f"Check that the broker's keytab has the current key of {who.service}/{self._at.host}, "
                "and that the clocks of broker, KDC and this machine agree within 5 minutes.",
            )
        if isinstance(who, MskLogin):
            return AuthenticationError(
                f"{self._at} rejects the token that {who.who} signed",
                "Allow kafka-cluster:Connect on the cluster in its IAM policy, and check the clock of this machine.",
            )
        return AuthenticationError(
            f"{self._at} rejects our bearer token",
            "Check its issuer, audience, scope and expiry, and that the brokers trust the issuer.",
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
                "Use a host name from the certificate, or (less safe) set ssl.endpoint.identification.algorithm "
                "to an empty value.",
            )
        if code in _UNKNOWN_ISSUER:
            return CertificateError(
                f"The certificate of {self._at} is signed by an unknown CA",
                "Add the CA's certificate (PEM or PKCS#12) to ssl.truststore.location.",
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
                f"{self._at} aborts the TLS handshake",
                "It may require a client certificate (ssl.keystore.location), or have no common cipher suite.",
            )
        return ProtocolMismatch(
            f"{self._at} has no TLS version in common with us ({reason.replace('_', ' ').lower()})",
            "Allow TLS 1.2 or 1.3 on the broker (ssl.enabled.protocols).",
        )

    def _own_certificate(self, reason: str) -> ConnectError:
        own = identity(self._settings)
        if own is None:
            return CertificateError(
                f"{self._at} requires a client certificate, but none is set",
                "Set ssl.keystore.location (PEM or PKCS#12) and its password.",
            )
        if own.expires < datetime.now(UTC):
            return CertificateError(
                f"Our certificate in {own.key_name} expired on {own.expires:%Y-%m-%d}", "Renew it and replace the file."
            )
        return CertificateError(
            f"{self._at} rejects our certificate from {own.key_name} ({reason.replace('_', ' ').lower()})",
            "Use a certificate from a CA in the brokers' trust store.",
        )

    def _no_kafka(self, error: Exception) -> ConnectError:
        """No Kafka broker answers over the protocol that is set."""
        protocol, sasl = self._settings.security_protocol, self._settings.sasl_mechanism is not None
        if self._context is None and probe.speaks_tls(self._at, SECOND_LOOK_S):
            wanted = "SASL_SSL" if sasl else "SSL (or SASL_SSL where a login is needed)"
            return ProtocolMismatch(
                f"{self._at} uses TLS, but security.protocol is {protocol}", f"Set security.protocol={wanted}."
            )
        if self._context is not None and probe.speaks_kafka(self._at, SECOND_LOOK_S):
            wanted = "SASL_PLAINTEXT" if sasl else "PLAINTEXT"
            return ProtocolMismatch(
                f"{self._at} does not use TLS, but security.protocol is {protocol}",
                f"Set security.protocol={wanted}, or use the port of a TLS listener.",
            )
        if probe.speaks_http(self._at, SECOND_LOOK_S):
            return ProtocolMismatch(f"{self._at} is a web server, not Kafka", "Set bootstrap.servers to a broker.")
        if isinstance(error, TimeoutError | probe.NoAnswer):
            return _silent(self._at)
        return ProtocolMismatch(
            f"{self._at} does not answer as a Kafka broker does", "Name a broker's host and port in bootstrap.servers."
        )
