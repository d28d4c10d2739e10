"""Connecting to a real broker over every kind of listener, and the error when it cannot be done."""

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient, ScramMechanism, UserScramCredentialUpsertion
from kafka.errors import KafkaError
from kafka.protocol.metadata import MetadataRequest

from lag.cluster.connection.connect import Connection, open_manager
from lag.cluster.connection.settings import Settings, load_settings
from lag.embedded.broker import EmbeddedKafka
from lag.errors import AddressError, AuthenticationError, CertificateError, ConfigError, ConnectError, ProtocolMismatch
from tests.lag.cluster.broker import PASSWORD, UNREACHABLE, USER, Listeners
from tests.lag.cluster.connection import strangers
from tests.lag.cluster.connection.certificates import DAY, Authority

WRONG = "not-the-password"


def settings(servers: str, **keys: object) -> Settings:
    """`ssl_truststore_location=…` stands for ssl.truststore.location=…"""
    return load_settings(servers, None, {f"GROUPSCOPE_{name.upper()}": str(value) for name, value in keys.items()})


def login(mechanism: str, password: str = PASSWORD) -> dict[str, object]:
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    jaas = f'org.apache.kafka.common.security.{module} required username="{USER}" password="{password}";'
    return {"sasl_mechanism": mechanism, "sasl_jaas_config": jaas}


def safe(listeners: Listeners, mechanism: str, password: str = PASSWORD) -> dict[str, object]:
    store = {"ssl_truststore_location": listeners.ca_file}
    return {"security_protocol": "SASL_SSL", **store, **login(mechanism, password)}


def refusal(wanted: Settings, kind: type[ConnectError]) -> str:
    with pytest.raises(ConnectError) as caught:
        open_manager(wanted).close()
    assert type(caught.value) is kind, caught.value
    return str(caught.value)


def names_of_topics(connection: Connection) -> list[str]:
    request = MetadataRequest(topics=MetadataRequest.ALL_TOPICS, allow_auto_topic_creation=False)
    answer = connection.manager.run(connection.manager.send, request, 1)
    return [topic.name for topic in answer.topics]


def eventually(ask: Callable[[], list[str]], within_s: float = 20.0) -> list[str]:
    until = time.monotonic() + within_s
    while True:
        try:
            return ask()
        except KafkaError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


class TestConnecting:
    def test_every_kind_of_listener_takes_us(self, listeners: Listeners, tmp_path: Path) -> None:
        own = listeners.authority.sign("groupscope")
        trust = {"ssl_truststore_location": listeners.ca_file}
        mutual = {**trust, "ssl_keystore_location": own.p12_file(tmp_path / "me.p12", "secret")}
        ways = [
            settings(listeners["PLAIN"]),
            settings(listeners["TLS"], security_protocol="SSL", **trust),
            settings(listeners["MUTUAL"], security_protocol="SSL", ssl_keystore_password="secret", **mutual),
            settings(listeners["LOGIN"], security_protocol="SASL_PLAINTEXT", **login("SCRAM-SHA-256")),
            settings(listeners["SAFE"], **safe(listeners, "SCRAM-SHA-512")),
            settings(listeners["SAFE"], **safe(listeners, "PLAIN")),
        ]
        clusters = set()
        for way in ways:
            with open_manager(way) as connection:
                assert names_of_topics(connection) == []
                clusters.add(connection.cluster_id)
        assert len(clusters) == 1
        assert None not in clusters

    def test_a_frozen_a_refusing_and_an_unknown_server_do_not_stand_in_the_way(self, listeners: Listeners) -> None:
        with strangers.serve(strangers.silent) as frozen:
            servers = f"{frozen},127.0.0.1:{strangers.free_port()},{UNREACHABLE},{listeners['PLAIN']}"
            patient = settings(servers, socket_connection_setup_timeout_ms=120_000)
            with open_manager(patient) as connection:
                assert connection.cluster_id is not None

    def test_closing_ends_the_thread_and_the_sockets_and_may_be_done_twice(self, listeners: Listeners) -> None:
        connection = open_manager(settings(listeners["PLAIN"]))
        assert [t.name for t in threading.enumerate() if t.name.startswith("kafka-io")] == ["kafka-io-groupscope"]
        connection.close()
        connection.close()
        assert not [t.name for t in threading.enumerate() if t.name.startswith("kafka-io")]

    def test_neither_log_nor_settings_show_a_password(
        self, listeners: Listeners, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        wanted = settings(listeners["SAFE"], **safe(listeners, "PLAIN"))
        with open_manager(wanted):
            pass
        reported = refusal(settings(listeners["SAFE"], **safe(listeners, "PLAIN", WRONG)), AuthenticationError)
        shown = f"{caplog.text} {wanted!r} {wanted.masked()} {reported}"
        assert PASSWORD not in shown
        assert WRONG not in shown


class TestReturning:
    @pytest.mark.long
    def test_a_broker_that_went_and_came_back_answers_on_the_same_connection(self) -> None:
        with EmbeddedKafka(heap_mb=256) as kafka, open_manager(settings(kafka.bootstrap_servers)) as connection:
            kafka.brokers[0].kill()
            with pytest.raises(KafkaError):
                names_of_topics(connection)
            kafka.brokers[0].restart()
            assert eventually(lambda: names_of_topics(connection)) == []


class TestAddresses:
    def test_an_unknown_host_is_named(self) -> None:
        assert refusal(settings("nowhere.invalid:9092"), AddressError) == (
            "The host name nowhere.invalid is unknown. Check the spelling and the DNS of this machine."
        )

    def test_a_refused_port_is_named(self) -> None:
        port = strangers.free_port()
        assert refusal(settings(f"127.0.0.1:{port}"), AddressError) == (
            f"127.0.0.1:{port} refuses the connection. Check that a broker listens on this port and is running."
        )

    def test_every_server_that_fails_is_named(self) -> None:
        one, two = strangers.free_port(), strangers.free_port()
        reported = refusal(settings(f"127.0.0.1:{one},127.0.0.1:{two}"), AddressError)
        assert f"127.0.0.1:{one} refuses" in reported
        assert f"127.0.0.1:{two} refuses" in reported

    def test_a_server_that_never_answers_is_called_silent(self) -> None:
        with strangers.serve(strangers.silent) as address:
            reported = refusal(settings(str(address), socket_connection_setup_timeout_ms=300), ConnectError)
        assert reported == (
            f"{address} accepts connections but does not answer. "
            "Check whether the broker is frozen, overloaded or still starting."
        )

    def test_an_address_where_packets_are_dropped_times_out(self) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
            address = f"127.0.0.1:{full.getsockname()[1]}"
            with socket.create_connection(full.getsockname()):  # the one place in the queue is taken
                reported = refusal(settings(address, socket_connection_setup_timeout_ms=300), AddressError)
        assert reported.startswith(f"{address} cannot be reached: no answer in 2 s.")

    def test_brokers_that_advertise_an_unreachable_address_are_named(self, listeners: Listeners) -> None:
        assert refusal(settings(listeners["LOST"]), AddressError) == (
            f"{listeners['LOST']} answers, but the addresses that the brokers advertise cannot be reached: "
            f"The host name {UNREACHABLE.host} is unknown. Set the brokers' advertised.listeners to addresses "
            "that can be reached from here, or run groupscope in the brokers' network."
        )


class TestProtocols:
    @pytest.mark.parametrize(
        ("listener", "protocol", "cause", "hint"),
        [
            ("TLS", "PLAINTEXT", "uses TLS, but security.protocol is PLAINTEXT", "Set security.protocol=SSL "),
            ("SAFE", "SASL_PLAINTEXT", "uses TLS, but security.protocol", "Set security.protocol=SASL_SSL."),
            ("PLAIN", "SSL", "does not use TLS, but security.protocol is SSL", "Set security.protocol=PLAINTEXT,"),
            ("LOGIN", "SASL_SSL", "does not use TLS, but security.protocol", "Set security.protocol=SASL_PLAINTEXT,"),
            (
                "LOGIN",
                "PLAINTEXT",
                "requires SASL authentication (SCRAM-SHA-256)",
                "Set security.protocol=SASL_PLAINTEXT,",
            ),
            (
                "SAFE",
                "SSL",
                "requires SASL authentication (PLAIN, SCRAM-SHA-512, OAUTHBEARER)",
                "=SASL_SSL, sasl.mechanism",
            ),
            ("PLAIN", "SASL_PLAINTEXT", "does not support SASL", "Set security.protocol=PLAINTEXT,"),
            ("TLS", "SASL_SSL", "does not support SASL", "Set security.protocol=SSL,"),
            ("CONTROLLER", "PLAINTEXT", "is a Kafka controller, not a broker", "Name a broker's listener"),
        ],
    )
    def test_a_listener_of_another_kind_is_recognised(
        self, listeners: Listeners, listener: str, protocol: str, cause: str, hint: str
    ) -> None:
        keys = login("SCRAM-SHA-256") if protocol.startswith("SASL") else {}
        wanted = settings(
            listeners[listener], security_protocol=protocol, ssl_truststore_location=listeners.ca_file, **keys
        )
        reported = refusal(wanted, ProtocolMismatch)
        assert reported.startswith(f"{listeners[listener]} {cause}")
        assert hint in reported

    @pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
    @pytest.mark.parametrize(
        ("behaviour", "cause"),
        [
            (strangers.web_server, "is a web server, not Kafka"),
            (strangers.says(b"220 mail.example.com ESMTP\r\n" * 10), "does not answer as a Kafka broker does"),
            (strangers.says(b"\x00\x00\x00\x10groupscope!!"), "does not answer as a Kafka broker does"),
            (strangers.says(b"\x00\x00\x00\x0agrou\x00\x00\x00\x00\x00\x01"), "does not answer as a Kafka broker does"),
            (strangers.says(b""), "does not answer as a Kafka broker does"),
        ],
    )
    def test_a_server_that_is_no_broker_is_recognised(
        self, protocol: str, behaviour: strangers.Behaviour, cause: str
    ) -> None:
        with strangers.serve(behaviour) as address:
            keys = {"security_protocol": protocol, "socket_connection_setup_timeout_ms": 500}
            assert refusal(settings(str(address), **keys), ProtocolMismatch).startswith(f"{address} {cause}")


class TestLogins:
    @pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
    def test_a_wrong_password_names_the_user(self, listeners: Listeners, mechanism: str) -> None:
        reported = refusal(settings(listeners["SAFE"], **safe(listeners, mechanism, WRONG)), AuthenticationError)
        assert reported.startswith(f"{listeners['SAFE']} rejects user 'alice' ({mechanism}). Check user name")

    def test_a_mechanism_that_is_not_enabled_is_reported_with_those_that_are(self, listeners: Listeners) -> None:
        reported = refusal(settings(listeners["SAFE"], **safe(listeners, "SCRAM-SHA-256")), AuthenticationError)
        assert reported == (
            f"{listeners['SAFE']} does not offer SCRAM-SHA-256; it offers PLAIN, SCRAM-SHA-512, OAUTHBEARER. "
            "Set sasl.mechanism to one of these."
        )

    def test_a_user_name_with_comma_and_equals_sign_logs_in_by_scram(self, listeners: Listeners) -> None:
        name = "a,b=c"
        admin = KafkaAdminClient(bootstrap_servers=listeners["PLAIN"])
        admin.alter_user_scram_credentials([UserScramCredentialUpsertion(name, ScramMechanism.SCRAM_SHA_256, PASSWORD)])
        admin.close()
        keys = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_username": name, "sasl_password": PASSWORD}
        with open_manager(settings(listeners["LOGIN"], security_protocol="SASL_PLAINTEXT", **keys)) as connection:
            assert connection.cluster_id is not None


class TestCertificates:
    def test_a_broker_of_an_unknown_ca_is_refused(
        self, listeners: Listeners, authority: Authority, tmp_path: Path
    ) -> None:
        for keys in ({}, {"ssl_truststore_location": authority.pem_file(tmp_path / "other.pem")}):
            reported = refusal(settings(listeners["TLS"], security_protocol="SSL", **keys), CertificateError)
            assert reported.startswith(f"The certificate of {listeners['TLS']} is signed by an unknown CA.")

    @pytest.mark.parametrize(
        ("signing", "cause"),
        [
            ({"since": -2 * DAY, "until": -DAY}, "has expired"),
            ({"since": DAY, "until": 2 * DAY}, "is not valid yet"),
            ({"ip": "127.0.0.9"}, "is for another host"),
        ],
    )
    def test_what_is_wrong_with_the_certificate_is_reported(
        self, authority: Authority, tmp_path: Path, signing: dict[str, Any], cause: str
    ) -> None:
        with strangers.serve(strangers.tls(authority.sign("stranger", **signing).server_context(tmp_path))) as address:
            keys = {"security_protocol": "SSL", "ssl_truststore_location": authority.pem_file(tmp_path / "ca.pem")}
            reported = refusal(settings(str(address), **keys), CertificateError)
        assert reported.startswith(f"The certificate of {address} {cause}.")

    def test_a_server_that_breaks_off_the_handshake_is_reported(self, authority: Authority, tmp_path: Path) -> None:
        choosy = authority.sign("stranger").server_context(tmp_path)
        choosy.maximum_version = ssl.TLSVersion.TLSv1_2
        choosy.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")  # of no use with its own elliptic key
        with strangers.serve(strangers.tls(choosy)) as address:
            reported = refusal(settings(str(address), security_protocol="SSL"), CertificateError)
        assert reported.startswith(f"{address} aborts the TLS handshake. It may require a client certificate")

    def test_a_server_with_only_an_old_tls_version_is_reported(self) -> None:
        too_old = bytes.fromhex("15 03 01 00 02 02 46")  # fatal alert: protocol_version
        with strangers.serve(strangers.says(too_old)) as address:
            reported = refusal(settings(str(address), security_protocol="SSL"), ProtocolMismatch)
        assert reported.startswith(f"{address} has no TLS version in common with us (")

    def test_a_tls_server_that_then_says_nothing_is_called_silent(self, authority: Authority, tmp_path: Path) -> None:
        keys = {"ssl_truststore_location": authority.pem_file(tmp_path / "ca.pem")}
        context = authority.sign("stranger").server_context(tmp_path)
        with strangers.serve(strangers.tls(context)) as address:
            wanted = settings(str(address), security_protocol="SSL", socket_connection_setup_timeout_ms=300, **keys)
            assert refusal(wanted, ConnectError).startswith(f"{address} accepts connections but does not answer.")

    def test_a_client_certificate_is_asked_for_and_missing(self, listeners: Listeners) -> None:
        keys = {"security_protocol": "SSL", "ssl_truststore_location": listeners.ca_file}
        reported = refusal(settings(listeners["MUTUAL"], **keys), CertificateError)
        assert reported.startswith(f"{listeners['MUTUAL']} requires a client certificate, but none is set.")

    @pytest.mark.parametrize(
        ("sign", "cause"),
        [
            (
                lambda ours, other: ours.sign("me", since=-3 * DAY, until=-2 * DAY),
                "Our certificate in ssl.keystore.location",
            ),
            (lambda ours, other: other.sign("me"), "{at} rejects our certificate from ssl.keystore.location"),
        ],
    )
    def test_a_client_certificate_that_the_broker_refuses_is_named(
        self, listeners: Listeners, authority: Authority, tmp_path: Path, sign: Callable[..., Any], cause: str
    ) -> None:
        own = sign(listeners.authority, authority).pem_file(tmp_path / "me.pem")
        keys = {"ssl_truststore_location": listeners.ca_file, "ssl_keystore_location": own}
        reported = refusal(settings(listeners["MUTUAL"], security_protocol="SSL", **keys), CertificateError)
        assert reported.startswith(cause.format(at=listeners["MUTUAL"]))


def test_settings_that_lack_something_are_refused_before_anything_is_opened() -> None:
    with pytest.raises(ConfigError, match=r"sasl\.mechanism is not set"):
        open_manager(settings("127.0.0.1:1", security_protocol="SASL_SSL"))
    assert not [t.name for t in threading.enumerate() if t.name.startswith("kafka-io")]
