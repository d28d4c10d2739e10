"""One real Kafka broker with a listener of every kind, for the ways to connect and to fail."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lag.cluster.connection.address import Address
from lag.embedded.config import HOST
from tests.lag.cluster.connection.certificates import Authority
from tests.support.secure_kafka import kafka_with_users, some_ports, tls_properties

USER, PASSWORD = "alice", "wonderland"
LISTENERS = {
    "PLAIN": "PLAINTEXT",
    "LOST": "PLAINTEXT",
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "LOGIN": "SASL_PLAINTEXT",
    "SAFE": "SASL_SSL",
    "CONTROLLER": "PLAINTEXT",
}
UNREACHABLE = Address("broker-1.groupscope.invalid", 9092)
_JAAS = "org.apache.kafka.common.security"


@dataclass(frozen=True)
class Listeners:
    """Where each listener is, who signs certificates for them, and where its files are."""

    at: Mapping[str, Address]
    authority: Authority
    ca_file: Path

    def __getitem__(self, name: str) -> str:
        return str(self.at[name])


@contextmanager
def broker_with_every_listener(folder: Path) -> Iterator[Listeners]:
    """Start, wait until it serves; stop at the end. `folder` takes the certificates."""
    authority = Authority()
    at = {name: Address(HOST, port) for name, port in zip(LISTENERS, some_ports(len(LISTENERS)), strict=True)}
    ca_file = authority.pem_file(folder / "ca.pem")
    key_file = authority.sign("broker", "localhost").pem_file(folder / "broker.pem")
    properties = _listeners(at) | _tls(ca_file, key_file) | _logins()
    with kafka_with_users(properties, {USER: PASSWORD}, str(at["PLAIN"])):
        yield Listeners(at, authority, ca_file)


def _listeners(at: Mapping[str, Address]) -> dict[str, str]:
    advertised = {**at, "LOST": UNREACHABLE}
    del advertised["CONTROLLER"]
    return {
        "controller.quorum.voters": f"1@{at['CONTROLLER']}",
        "inter.broker.listener.name": "PLAIN",
        "listeners": ",".join(f"{name}://{address}" for name, address in at.items()),
        "advertised.listeners": ",".join(f"{name}://{address}" for name, address in advertised.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in LISTENERS.items()),
    }


def _tls(ca_file: Path, key_file: Path) -> dict[str, str]:
    return tls_properties(ca_file, key_file) | {
        "ssl.client.auth": "none",
        "listener.name.mutual.ssl.client.auth": "required",
    }


def _logins() -> dict[str, str]:
    scram = f"{_JAAS}.scram.ScramLoginModule required;"
    return {
        "listener.name.login.sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "listener.name.login.scram-sha-256.sasl.jaas.config": scram,
        "listener.name.safe.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.safe.scram-sha-512.sasl.jaas.config": scram,
        "listener.name.safe.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule required user_{USER}={PASSWORD};",
        "listener.name.safe.oauthbearer.sasl.jaas.config": (
            f'{_JAAS}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
        ),
    }
