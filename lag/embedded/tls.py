"""Certificates for the embedded cluster's SASL_SSL listener: an authority of its own, the broker's, a client's."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from lag.embedded.config import HOST, TlsFiles

_BEFORE_NOW = timedelta(days=30)


def write_tls_files(folder: Path, broker_valid_for: timedelta) -> TlsFiles:
    """Make an authority and sign a broker for loopback and a client; a negative `broker_valid_for` means expired."""
    now = datetime.now(UTC)
    ca_key = generate_private_key(SECP256R1())
    issuer = _name("groupscope embedded CA")
    ca = _builder(issuer, issuer, ca_key, now + timedelta(days=365))
    ca = ca.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    files = TlsFiles(folder / "ca.pem", folder / "broker.pem", folder / "client.pem")
    files.ca.write_bytes(ca.sign(ca_key, SHA256()).public_bytes(Encoding.PEM))
    for path, valid_for in ((files.broker, broker_valid_for), (files.client, timedelta(days=365))):
        path.write_bytes(_signed_pair(path.stem, issuer, ca_key, now + valid_for))
    return files


def _signed_pair(name: str, issuer: x509.Name, ca_key: EllipticCurvePrivateKey, until: datetime) -> bytes:
    key = generate_private_key(SECP256R1())
    hosts = [x509.IPAddress(ipaddress.ip_address(HOST)), x509.DNSName("localhost")]
    builder = _builder(_name(name), issuer, key, until)
    signed = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False).sign(ca_key, SHA256())
    own = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return own + signed.public_bytes(Encoding.PEM)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(until, datetime.now(UTC)) - _BEFORE_NOW)
        .not_valid_after(until)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
