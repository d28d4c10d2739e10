"""A certificate authority for one test run, and what it signs."""

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Signed:
    """A private key with its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key_pem(self, password: str | None = None) -> str:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password)).decode()

    def pem_file(self, path: Path, password: str | None = None) -> Path:
        path.write_text(self.key_pem(password) + self.certificate_pem)
        return path

    def server_context(self, folder: Path) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pem_file(folder / "server.pem"))
        return context

    def p12_file(self, path: Path, password: str) -> Path:
        path.write_bytes(
            pkcs12.serialize_key_and_certificates(b"me", self.key, self.certificate, None, _encryption(password))
        )
        return path


class Authority:
    """Signs certificates for localhost, or for a given name."""

    def __init__(self, name: str = "test CA") -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        builder = _builder(subject, subject, key, -DAY, 30 * DAY).add_extension(constraints, critical=True)
        self.own = Signed(key, builder.sign(key, SHA256()))

    def sign(
        self, name: str, *hosts: str, since: timedelta = -DAY, until: timedelta = 30 * DAY, ip: str = "127.0.0.1"
    ) -> Signed:
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(host) for host in hosts]
        names += [x509.IPAddress(ipaddress.ip_address(ip))] if ip else []
        builder = _builder(_name(name), self.own.certificate.subject, key, since, until)
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return Signed(key, builder.sign(self.own.key, SHA256()))

    def pem_file(self, path: Path) -> Path:
        path.write_text(self.own.certificate_pem)
        return path


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, since: timedelta, until: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + since)
        .not_valid_after(now + until)
    )


def _encryption(password: str | None) -> KeySerializationEncryption:
    return NoEncryption() if password is None else BestAvailableEncryption(password.encode())
