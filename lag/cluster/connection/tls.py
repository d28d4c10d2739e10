"""Settings -> `ssl.SSLContext`, with trusted certificates and our own from PEM or PKCS#12.

As in Java, the content of a store decides how it is read, not its `…type` setting, and every certificate in the trust
store is trusted, not only roots.
"""

import secrets
import ssl
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import Certificate, load_pem_x509_certificates
from pydantic import SecretStr

from lag.cluster.connection.settings import Settings
from lag.errors import ConfigError

_JKS_MAGIC = b"\xfe\xed\xfe\xed"
_DER_SEQUENCE = b"\x30"
_MAX_BYTES = 10_000_000


class Identity(NamedTuple):
    """Our private key and certificate chain, leaf first; `key_name` is the setting that they come from."""

    key: PrivateKeyTypes
    chain: Sequence[Certificate]
    key_name: str

    @property
    def expires(self) -> datetime:
        """When the leaf certificate expires (UTC)."""
        return self.chain[0].not_valid_after_utc


def ssl_context(settings: Settings) -> ssl.SSLContext:
    """The context for a TLS connection. Raises ConfigError, which names the setting and the file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = settings.check_host == "https"
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusted = trust(settings)
    if trusted is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=_pem(trusted).decode("ascii"))
    own = identity(settings)
    if own is not None:
        _present(context, own)
    return context


def web_context(settings: Settings) -> ssl.SSLContext:
    """For HTTPS to a token endpoint: trusts the system's certificates and the trust store. Raises ConfigError."""
    context = ssl.create_default_context()
    trusted = trust(settings)
    if trusted is not None:
        context.load_verify_locations(cadata=_pem(trusted).decode("ascii"))
    return context


def trust(settings: Settings) -> Sequence[Certificate] | None:
    """The certificates to trust; None: those of the operating system. Raises ConfigError."""
    if settings.truststore_pem is not None:
        return _certificates(settings.truststore_pem.get_secret_value().encode(), "ssl.truststore.certificates")
    if settings.truststore is None:
        return None
    name = f"ssl.truststore.location {settings.truststore}"
    data = _read(settings.truststore, name)
    if not data.startswith(_DER_SEQUENCE):
        return _certificates(data, name)
    store = _open_store(data, settings.truststore_password, name, "ssl.truststore.password")
    found = [entry.certificate for entry in [store.cert, *store.additional_certs] if entry is not None]
    if not found:
        raise ConfigError(f"{name} holds no certificate", "Import the certificate of the brokers' CA into it.")
    return found


def identity(settings: Settings) -> Identity | None:
    """Our key and certificate; None if no key store is set. Raises ConfigError."""
    if settings.keystore_key_pem is not None or settings.keystore_chain_pem is not None:
        return _identity_from_text(settings)
    if settings.certificate_file is not None or settings.key_file is not None:
        return _identity_from_two_files(settings)
    if settings.keystore is None:
        return None
    name = f"ssl.keystore.location {settings.keystore}"
    data = _read(settings.keystore, name)
    if not data.startswith(_DER_SEQUENCE):
        return Identity(_private_key(data, settings, name), _certificates(data, name), name)
    store = _open_store(data, settings.keystore_password, name, "ssl.keystore.password")
    if store.key is None or store.cert is None:
        raise ConfigError(f"{name} holds no private key with its certificate", "Name a key store, not a trust store.")
    return Identity(store.key, [store.cert.certificate, *(c.certificate for c in store.additional_certs)], name)


def _identity_from_text(settings: Settings) -> Identity:
    key, chain = settings.keystore_key_pem, settings.keystore_chain_pem
    if key is None or chain is None:
        raise ConfigError("ssl.keystore.key and ssl.keystore.certificate.chain must be set together", "Set both.")
    return Identity(
        _private_key(key.get_secret_value().encode(), settings, "ssl.keystore.key"),
        _certificates(chain.get_secret_value().encode(), "ssl.keystore.certificate.chain"),
        "ssl.keystore.key",
    )


def _identity_from_two_files(settings: Settings) -> Identity:
    chain, key = settings.certificate_file, settings.key_file
    if key is None or chain is None:
        raise ConfigError("ssl.certificate.location and ssl.key.location must be set together", "Set both.")
    key_name, chain_name = f"ssl.key.location {key}", f"ssl.certificate.location {chain}"
    return Identity(
        _private_key(_read(key, key_name), settings, key_name),
        _certificates(_read(chain, chain_name), chain_name),
        key_name,
    )


def _read(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}", "Check path and permissions.") from None
    if data.startswith(_JKS_MAGIC):
        raise ConfigError(
            f"{name} is in Java's old JKS format, which only Java reads",
            f"Convert it: keytool -importkeystore -srckeystore {path} -destkeystore {path.stem}.p12 "
            "-deststoretype PKCS12, and name the .p12 file.",
        )
    return data


def _open_store(
    data: bytes, password: SecretStr | None, name: str, password_key: str
) -> pkcs12.PKCS12KeyAndCertificates:
    secret = password.get_secret_value().encode() if password is not None else None
    try:
        return pkcs12.load_pkcs12(data, secret)
    except (ValueError, UnsupportedAlgorithm):
        wrong = "is wrong, or the file is damaged"
        state = "is missing, or it is not a PKCS#12 file" if password is None else wrong
        raise ConfigError(f"{name} cannot be opened: {password_key} {state}", f"Correct {password_key}.") from None


def _certificates(pem: bytes, name: str) -> Sequence[Certificate]:
    try:
        return load_pem_x509_certificates(pem)
    except ValueError:
        raise ConfigError(
            f"{name} holds no readable certificate", "Give PEM text (-----BEGIN CERTIFICATE-----) or a PKCS#12 file."
        ) from None


def _private_key(pem: bytes, settings: Settings, name: str) -> PrivateKeyTypes:
    password = settings.key_password.get_secret_value().encode() if settings.key_password is not None else None
    encrypted = b"ENCRYPTED" in pem
    if encrypted and password is None:
        raise ConfigError(f"The private key of {name} is encrypted", "Set ssl.key.password.")
    try:
        return load_pem_private_key(pem, password if encrypted else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        hint = "Correct ssl.key.password." if encrypted else "Give the key as PEM (-----BEGIN PRIVATE KEY-----)."
        raise ConfigError(f"The private key of {name} cannot be read", hint) from None


def _pem(certificates: Sequence[Certificate]) -> bytes:
    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)


def _present(context: ssl.SSLContext, own: Identity) -> None:
    """Load our key into OpenSSL, which takes files only: ours is private, encrypted, and deleted at once."""
    password = secrets.token_hex(32)
    encrypted = own.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password.encode()))
    with tempfile.NamedTemporaryFile(prefix="groupscope-", suffix=".pem") as file:
        file.write(encrypted + _pem(own.chain))
        file.flush()
        try:
            context.load_cert_chain(file.name, password=password)
        except ssl.SSLError:
            raise ConfigError(
                f"The private key of {own.key_name} does not match its certificate",
                "Put the client's own certificate first in the chain.",
            ) from None
