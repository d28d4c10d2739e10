"""An embedded Kafka with listeners, certificates and users of a test's own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka.admin import KafkaAdminClient, UserScramCredentialUpsertion

from lag.embedded.broker import EmbeddedKafka
from lag.embedded.config import HOST, free_ports
from lag.embedded.jars import kafka_classpath
from lag.embedded.storage import kept_checkpoint
from lag.embedded.user_cache import cache_dir
from tests.lag.cluster.connection.certificates import Authority
from tests.support.waiting import wait_until

MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_JAAS = "org.apache.kafka.common.security"


@dataclass(frozen=True)
class SecureKafka:
    """Both listeners: PLAINTEXT has every right, of SASL_SSL the users have what ACLs allow."""

    bootstrap_servers: str
    sasl_ssl_bootstrap_servers: str
    ca_file: Path


@contextmanager
def secure_kafka(users: Mapping[str, str], super_user: str) -> Iterator[SecureKafka]:
    """One broker with an authorizer; `users` (name -> password) log in by PLAIN and SCRAM."""
    plain, controller, secure = (f"{HOST}:{port}" for port in some_ports(3))
    advertised = f"PLAINTEXT://{plain},SASL_SSL://{secure}"
    with TemporaryDirectory() as folder:
        authority = Authority()
        ca_file = authority.pem_file(Path(folder) / "ca.pem")
        properties = {
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"{advertised},CONTROLLER://{controller}",
            "advertised.listeners": advertised,
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:ANONYMOUS;User:{super_user}",
            **tls_properties(ca_file, authority.sign("broker", "localhost").pem_file(Path(folder) / "broker.pem")),
            **_logins(users),
        }
        with kafka_with_users(properties, users, plain):
            yield SecureKafka(plain, secure, ca_file)


def some_ports(count: int) -> list[int]:
    """Free ports of this machine, at least that many."""
    return [port for own in free_ports(count).values() for port in (own.plaintext, own.controller)][:count]


def tls_properties(ca_file: Path, key_file: Path) -> dict[str, str]:
    """Kafka's properties of a broker with its key and certificate in one PEM file."""
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(key_file),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(ca_file),
    }


@contextmanager
def kafka_with_users(properties: Mapping[str, str], users: Mapping[str, str], servers: str) -> Iterator[None]:
    """One broker whose users have SCRAM credentials. `servers` is a listener that needs no login."""
    try:
        with EmbeddedKafka(properties=properties, heap_mb=256):
            with KafkaAdminClient(bootstrap_servers=servers) as admin:
                _add_users(admin, users)
            yield
    finally:  # other ports have another checkpoint
        kept_checkpoint(cache_dir(), kafka_classpath(), properties).unlink(missing_ok=True)


def _add_users(admin: KafkaAdminClient, users: Mapping[str, str]) -> None:
    for kind in MECHANISMS:  # a request may have each user once
        made = [UserScramCredentialUpsertion(name, kind, password) for name, password in users.items()]
        assert set(admin.alter_user_scram_credentials(made).values()) == {None}

    def known() -> bool:
        found = admin.describe_user_scram_credentials(list(users)).values()
        return all(len(its["credential_infos"]) == len(MECHANISMS) for its in found)

    wait_until(known)


def _logins(users: Mapping[str, str]) -> dict[str, str]:
    listener = "listener.name.sasl_ssl"
    passwords = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    return {
        "sasl.enabled.mechanisms": ",".join(("PLAIN", *MECHANISMS)),
        f"{listener}.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule required {passwords};",
        **{
            f"{listener}.{kind.lower()}.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;"
            for kind in MECHANISMS
        },
    }
