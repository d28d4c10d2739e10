"""Key and trust stores of every kind, in real handshakes with a TLS server that asks for a client certificate."""

import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from lag.cluster.connection.address import Address
from lag.cluster.connection.settings import load_settings
from lag.cluster.connection.tls import ssl_context
from lag.embedded.java import find_java
from lag.errors import ConfigError
from tests.lag.cluster.connection import strangers
from tests.lag.cluster.connection.certificates import Authority, Signed

SECRET = "geheim-42"


def context_of(**keys: object) -> ssl.SSLContext:
    env = {f"GROUPSCOPE_SSL_{name.upper()}": str(value) for name, value in keys.items()}
    return ssl_context(load_settings("a:1", None, {"GROUPSCOPE_SECURITY_PROTOCOL": "SSL", **env}))


def refusal(**keys: object) -> str:
    with pytest.raises(ConfigError) as caught:
        context_of(**keys)
    assert SECRET not in str(caught.value)
    return str(caught.value)


@contextmanager
def server(authority: Authority, folder: Path, *, own: Signed | None = None, mutual: bool = False) -> Iterator[Address]:
    """Names the client of each handshake: the subject of its certificate, or `nobody`."""
    context = (own or authority.sign("server")).server_context(folder)
    if mutual:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=authority.own.certificate_pem)

    def greet(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as secured:
            subject = (secured.getpeercert() or {}).get("subject", ((("", "nobody"),),))
            secured.sendall(str(subject[0][0][1]).encode())

    with strangers.serve(greet) as address:
        yield address


def greeting(address: Address, context: ssl.SSLContext) -> str:
    with (
        socket.create_connection(address, timeout=10) as sock,
        context.wrap_socket(sock, server_hostname=address.host) as s,
    ):
        return s.recv(100).decode()


def keytool(*arguments: str) -> None:
    command = [str(find_java().home / "bin" / "keytool"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def truststore_by_keytool(authority: Authority, folder: Path, kind: str) -> Path:
    pem, store = authority.pem_file(folder / "import.pem"), folder / f"trust.{kind}"
    keytool(
        "-importcert", "-noprompt", "-alias", "ca", "-file", str(pem),
        "-keystore", str(store), "-storepass", SECRET, "-storetype", kind,
    )  # fmt: skip
    return store


class TestTrust:
    def test_the_broker_is_trusted_by_pem_file_text_and_java_made_pkcs12(
        self, authority: Authority, tmp_path: Path
    ) -> None:
        by_file = context_of(truststore_location=authority.pem_file(tmp_path / "ca.pem"), truststore_type="PEM")
        by_text = context_of(truststore_certificates=authority.own.certificate_pem)
        by_store = context_of(
            truststore_location=truststore_by_keytool(authority, tmp_path, "pkcs12"), truststore_password=SECRET
        )
        by_librdkafka_name = context_of(ca_location=authority.pem_file(tmp_path / "ca.pem"))
        with server(authority, tmp_path) as address:
            contexts = [by_file, by_text, by_store, by_librdkafka_name]
            assert [greeting(address, context) for context in contexts] == ["nobody"] * 4

    def test_a_certificate_that_is_no_root_can_be_trusted_by_itself(self, authority: Authority, tmp_path: Path) -> None:
        own = authority.sign("server")
        (tmp_path / "leaf.pem").write_text(own.certificate_pem)
        with server(authority, tmp_path, own=own) as address:
            assert greeting(address, context_of(truststore_location=tmp_path / "leaf.pem")) == "nobody"

    def test_without_a_trust_store_the_system_decides(self, authority: Authority, tmp_path: Path) -> None:
        with server(authority, tmp_path) as address, pytest.raises(ssl.SSLCertVerificationError):
            greeting(address, context_of())

    def test_the_host_name_is_checked_unless_the_settings_say_no(self, authority: Authority, tmp_path: Path) -> None:
        trust = {"truststore_location": authority.pem_file(tmp_path / "ca.pem")}
        with server(authority, tmp_path, own=authority.sign("server", "elsewhere", ip="")) as address:
            with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
                greeting(address, context_of(**trust))
            assert greeting(address, context_of(**trust, endpoint_identification_algorithm="")) == "nobody"


class TestIdentity:
    @pytest.mark.parametrize(
        "store",
        [
            lambda own, folder: {"keystore_location": own.pem_file(folder / "me.pem")},
            lambda own, folder: {
                "keystore_location": own.pem_file(folder / "me.pem", SECRET), "key_password": SECRET
            },
            lambda own, folder: {
                "keystore_location": own.p12_file(folder / "me.p12", SECRET), "keystore_password": SECRET
            },
            lambda own, folder: {"keystore_key": own.key_pem(), "keystore_certificate_chain": own.certificate_pem},
            lambda own, folder: two_files(own, folder),
        ],
        ids=["PEM", "encrypted PEM", "PKCS#12", "inline", "two files"],
    )  # fmt: skip
    def test_the_server_learns_who_we_are(
        self, authority: Authority, tmp_path: Path, store: Callable[[Signed, Path], dict[str, object]]
    ) -> None:
        keys = store(authority.sign("groupscope"), tmp_path)
        context = context_of(truststore_certificates=authority.own.certificate_pem, **keys)
        with server(authority, tmp_path, mutual=True) as address:
            assert greeting(address, context) == "groupscope"

    def test_no_key_stays_on_disk(self, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        own = authority.sign("me").p12_file(tmp_path / "me.p12", SECRET)
        (tmp_path / "temporary").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
        context_of(keystore_location=own, keystore_password=SECRET)
        assert list((tmp_path / "temporary").iterdir()) == []


def two_files(own: Signed, folder: Path) -> dict[str, object]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    key.write_text(own.key_pem())
    certificate.write_text(own.certificate_pem)
    return {"key_location": key, "certificate_location": certificate}


class TestRefusals:
    def test_a_jks_store_is_refused_with_the_command_that_converts_it(
        self, authority: Authority, tmp_path: Path
    ) -> None:
        store = truststore_by_keytool(authority, tmp_path, "jks")
        assert refusal(truststore_location=store, truststore_password=SECRET) == (
            f"ssl.truststore.location {store} is in Java's old JKS format, which only Java reads. Convert it: "
            f"keytool -importkeystore -srckeystore {store} -destkeystore trust.p12 -deststoretype PKCS12, "
            "and name the .p12 file."
        )

    def test_a_missing_or_wrong_store_password_is_named(self, authority: Authority, tmp_path: Path) -> None:
        own = authority.sign("me").p12_file(tmp_path / "me.p12", SECRET)
        cause = f"ssl.keystore.location {own} cannot be opened: ssl.keystore.password"
        assert refusal(keystore_location=own).startswith(f"{cause} is missing, or")
        assert refusal(keystore_location=own, keystore_password="x").startswith(
            f"{cause} is wrong, or the file is damaged"
        )

    def test_a_missing_or_wrong_key_password_is_named(self, authority: Authority, tmp_path: Path) -> None:
        own = authority.sign("me").pem_file(tmp_path / "me.pem", SECRET)
        assert refusal(keystore_location=own).endswith("is encrypted. Set ssl.key.password.")
        assert refusal(keystore_location=own, key_password="x").endswith("cannot be read. Correct ssl.key.password.")

    def test_a_key_of_another_certificate_is_refused(self, authority: Authority) -> None:
        one, two = authority.sign("one"), authority.sign("two")
        reported = refusal(keystore_key=one.key_pem(), keystore_certificate_chain=two.certificate_pem)
        assert reported.startswith("The private key of ssl.keystore.key does not match its certificate.")

    def test_half_of_an_identity_is_refused(self, authority: Authority, tmp_path: Path) -> None:
        own = authority.sign("me")
        assert refusal(keystore_key=own.key_pem()).endswith("must be set together. Set both.")
        assert refusal(certificate_location=tmp_path / "x").endswith("must be set together. Set both.")

    def test_a_trust_store_in_place_of_a_key_store_is_recognised(self, authority: Authority, tmp_path: Path) -> None:
        store = truststore_by_keytool(authority, tmp_path, "pkcs12")
        reported = refusal(keystore_location=store, keystore_password=SECRET)
        assert reported.endswith("holds no private key with its certificate. Name a key store, not a trust store.")

    def test_a_missing_directory_or_foreign_file_is_named(self, authority: Authority, tmp_path: Path) -> None:
        missing, der = tmp_path / "missing", tmp_path / "ca.der"
        der.write_bytes(authority.own.certificate.public_bytes(Encoding.DER))
        (tmp_path / "text").write_text("hello")
        assert "cannot be read: No such file or directory" in refusal(truststore_location=missing)
        assert "cannot be read: Is a directory" in refusal(truststore_location=tmp_path)
        assert "holds no readable certificate" in refusal(truststore_location=tmp_path / "text")
        assert "cannot be opened" in refusal(truststore_location=der)
        assert "private key of ssl.keystore.location" in refusal(keystore_location=tmp_path / "text")
