"""The configuration of the brokers of an embedded cluster: ports, properties file, logging, Java command."""

import random
import socket
from collections.abc import Mapping
from dataclasses import dataclass
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
LOGGING = """\
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
"""Log4j2: warnings to stdout, and the one line that says the server has started."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The loopback ports of one broker."""

    plaintext: int
    controller: int


def free_ports(brokers: int) -> dict[int, Ports]:
    """Free ports by node id. Another process may still take one before the broker does."""
    free = filter(_is_free, random.sample(_PORTS, len(_PORTS)))
    return {node: Ports(next(free), next(free)) for node in range(1, brokers + 1)}


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
    listener = f"PLAINTEXT://{HOST}:{own.plaintext}"
    return {
        "process.roles": "broker,controller",
        "node.id": str(node),
        "controller.quorum.voters": ",".join(f"{n}@{HOST}:{p.controller}" for n, p in ports.items()),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{listener},CONTROLLER://{HOST}:{own.controller}",
        "advertised.listeners": listener,
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
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


def to_file(properties: Mapping[str, str]) -> str:
    """A Java properties file; what its syntax would swallow is escaped."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in properties.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


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
