"""The configuration of the brokers of an embedded cluster: ports, properties file, logging, Java command."""

import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

HOST = "127.0.0.1"
_PORTS = range(20000, 32000)  # below the ranges that operating systems take client ports from
_JVM_FLAGS = (
    "-XX:TieredStopAtLevel=1",  # starts a third faster; a broker this small does not need the second compiler
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",  # its file in the temp dir would outlive a killed broker
    "-Djava.awt.headless=true",
)
SESSION_MS = "broker.session.timeout.ms"
DEFAULT_SESSION_MS = 9_000
_SINGLE_SESSION_MS = 3_600_000
_LOGGING = """\
status = error
rootLogger.level = warn
rootLogger.appenderRef.out.ref = OUT
appender.out.type = Console
appender.out.name = OUT
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %c{1}: %m%n
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
"""


@dataclass(frozen=True, slots=True)
class SaslSsl:
    """A SASL_SSL listener beside PLAINTEXT, whose `users` (name -> password) log in by PLAIN or SCRAM.

    With `authorizer` they may do only what ACLs allow, `super_users` everything. A negative
    `certificate_valid_for` makes a broker whose certificate has expired. The passwords are seen in the process list
    while the storage is formatted: they are for throw-away clusters.
    """

    users: Mapping[str, str] = field(repr=False)
    authorizer: bool = False
    super_users: tuple[str, ...] = ()
    certificate_valid_for: timedelta = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the authority's certificate, and key with certificate of the broker and of a client."""

    ca: Path
    broker: Path
    client: Path


@dataclass(frozen=True, slots=True)
class Ports:
    """The loopback ports of one broker; `sasl_ssl` is None without that listener."""

    plaintext: int
    controller: int
    sasl_ssl: int | None = None


def free_ports(brokers: int, sasl_ssl: bool) -> dict[int, Ports]:
    """Free ports by node id. Another process may still take one before the broker does."""
    ports = iter(_some_free(brokers * 3))
    return {node: Ports(next(ports), next(ports), next(ports) if sasl_ssl else None) for node in range(1, brokers + 1)}


def _some_free(count: int) -> list[int]:
    found: list[int] = []
    for port in random.sample(_PORTS, len(_PORTS)):
        if _is_free(port):
            found.append(port)
        if len(found) == count:
            break
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def node_properties(node: int, ports: Mapping[int, Ports], data: Path) -> dict[str, str]:
    """Kafka's properties of a node that is broker and controller at once; internal topics are on every broker.

    A single broker has a session timeout of an hour. With Kafka's 9 s it would be fenced after a pause of the machine
    and return metadata without brokers, from which a librdkafka client does not recover (confluentinc/librdkafka#5301).
    """
    own = ports[node]
    copies = str(len(ports))
    in_sync = str(min(2, len(ports)))
    listeners = f"PLAINTEXT://{HOST}:{own.plaintext}"
    if own.sasl_ssl is not None:
        listeners += f",SASL_SSL://{HOST}:{own.sasl_ssl}"
    return {
        "process.roles": "broker,controller",
        "node.id": str(node),
        "controller.quorum.voters": ",".join(f"{n}@{HOST}:{p.controller}" for n, p in ports.items()),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{listeners},CONTROLLER://{HOST}:{own.controller}",
        "advertised.listeners": listeners,
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data),
        "default.replication.factor": copies,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": in_sync,
        "auto.create.topics.enable": "false",
        SESSION_MS: str(DEFAULT_SESSION_MS if len(ports) > 1 else _SINGLE_SESSION_MS),
    }


def security_properties(security: SaslSsl, tls: TlsFiles) -> dict[str, str]:
    """Kafka's properties of the SASL_SSL listener; with an authorizer, PLAINTEXT (ANONYMOUS) keeps every right."""
    jaas = "org.apache.kafka.common.security"
    users = " ".join(f'user_{name}="{password}"' for name, password in security.users.items())
    listener = "listener.name.sasl_ssl"
    properties = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tls.broker),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tls.ca),
        "ssl.client.auth": "requested",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        f"{listener}.plain.sasl.jaas.config": f"{jaas}.plain.PlainLoginModule required {users};",
        f"{listener}.scram-sha-256.sasl.jaas.config": f"{jaas}.scram.ScramLoginModule required;",
        f"{listener}.scram-sha-512.sasl.jaas.config": f"{jaas}.scram.ScramLoginModule required;",
    }
    if security.authorizer:
        properties["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        properties["super.users"] = ";".join(f"User:{name}" for name in ("ANONYMOUS", *security.super_users))
    return properties


def to_file(properties: Mapping[str, str]) -> str:
    """A Java properties file; what its syntax would swallow is escaped."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in properties.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def logging_properties() -> str:
    """Log4j2: warnings to stdout, and the one line that says the server has started."""
    return _LOGGING


def java_command(java: Path, heap_mb: int, classpath: list[Path], folder: Path) -> list[str]:
    """The launcher and its options, to be followed by a main class; everything temporary goes into `folder`."""
    return [
        str(java),
        f"-Xmx{heap_mb}m",
        *_JVM_FLAGS,
        f"-Djava.io.tmpdir={folder}",
        f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
        "-cp",
        ":".join(map(str, classpath)),
    ]
