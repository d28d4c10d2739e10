"""Three brokers, each behind a gate of our own for the dashboard, with a direct listener for everybody else."""

import os
import signal
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

from lag.embedded.broker import Broker, EmbeddedKafka
from lag.embedded.config import HOST, Ports, free_ports
from tests.lag.cluster.connection.certificates import Authority
from tests.reliability.proxy import Network
from tests.support.known import known
from tests.support.waiting import wait_until

NODES = (1, 2, 3)
USER, PASSWORD = "dashboard", "dashboard-secret"
OFFSETS = "__consumer_offsets"
_GATED = "GATED"
_PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@dataclass(frozen=True, slots=True)
class Cluster:
    """`servers` are the direct listeners, which have every right; `client_file` is the dashboard's way in."""

    kafka: EmbeddedKafka
    network: Network
    servers: str
    client_file: Path
    certificate: "Certificate"

    def broker(self, node: int) -> Broker:
        """A broker, to be killed or frozen."""
        return self.kafka.broker(node)

    def stop(self, node: int) -> None:
        """Shut a broker down in order: it hands over what it leads."""
        os.kill(known(self.broker(node).pid), signal.SIGTERM)
        wait_until(lambda: not self.broker(node).running(), 60)

    def controller(self) -> int:
        """The node id of the active controller."""
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            quorum = admin.describe_metadata_quorum()
        return int(quorum["topics"][0]["partitions"][0]["leader_id"])

    def move_offsets(self) -> None:
        """Give all partitions of `__consumer_offsets` another leader: every group has another coordinator then."""
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            (topic,) = admin.describe_topics([OFFSETS])
            led = {p["partition_index"]: (p["leader_id"], p["replica_nodes"]) for p in topic["partitions"]}
            order = {TopicPartition(OFFSETS, n): _other_first(leader, nodes) for n, (leader, nodes) in led.items()}
            assert set(admin.alter_partition_reassignments(order).values()) == {None}
            wait_until(lambda: not admin.list_partition_reassignments())
            admin.elect_leaders(0, {OFFSETS: list(led)})

    def allow_groups(self) -> None:
        """Let the dashboard's account see groups."""
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            admin.create_acls([_may(ACLOperation.DESCRIBE, ResourceType.GROUP)])

    def forbid_groups(self) -> None:
        """Take that from it."""
        anything = ResourcePatternFilter(ResourceType.GROUP, None, ACLResourcePatternType.ANY)
        with KafkaAdminClient(bootstrap_servers=self.servers) as admin:
            admin.delete_acls([ACLFilter(f"User:{USER}", None, ACLOperation.ANY, ACLPermissionType.ANY, anything)])


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the gates show of themselves."""

    authority: Authority
    context: ssl.SSLContext
    folder: Path

    def renew(self) -> None:
        """A valid one; it counts for new connections."""
        self._load(timedelta(days=30))

    def expire(self) -> None:
        """One that expired an hour ago."""
        self._load(timedelta(hours=-1))

    def _load(self, until: timedelta) -> None:
        signed = self.authority.sign("broker", "localhost", until=until)
        self.context.load_cert_chain(signed.pem_file(self.folder / "gate.pem"))


@contextmanager
def three_brokers(folder: Path) -> Iterator[Cluster]:
    """They run while the block does. The dashboard logs in over SASL_SSL, and ACLs say what it may see."""
    direct, gated = free_ports(len(NODES)), free_ports(len(NODES))
    certificate = Certificate(Authority(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), folder)
    certificate.renew()
    targets = {node: (HOST, ports.plaintext) for node, ports in gated.items()}
    servers = ",".join(f"{HOST}:{ports.plaintext}" for ports in direct.values())
    with Network(targets, certificate.context) as network:
        own = {node: _properties(direct, node, gated[node].plaintext, network.address(node)) for node in NODES}
        with EmbeddedKafka(brokers=len(NODES), node_properties=own, heap_mb=320, offsets_partitions=6) as kafka:
            cluster = Cluster(kafka, network, servers, _client_file(folder, network, certificate), certificate)
            _grant(cluster)
            yield cluster


def _properties(ports: dict[int, Ports], node: int, gated: int, advertised: str) -> dict[str, str]:
    own = ports[node]
    plain = f"PLAINTEXT://{HOST}:{own.plaintext}"
    return {
        "controller.quorum.voters": ",".join(f"{n}@{HOST}:{p.controller}" for n, p in ports.items()),
        "listeners": f"{plain},{_GATED}://{HOST}:{gated},CONTROLLER://{HOST}:{own.controller}",
        "advertised.listeners": f"{plain},{_GATED}://{advertised}",
        "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{_GATED}:SASL_PLAINTEXT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "sasl.enabled.mechanisms": "PLAIN",
        f"listener.name.{_GATED.lower()}.plain.sasl.jaas.config": f'{_PLAIN_LOGIN} user_{USER}="{PASSWORD}";',
    }


def _client_file(folder: Path, network: Network, certificate: Certificate) -> Path:
    path = folder / "client.properties"
    lines = (
        f"bootstrap.servers={network.addresses}",
        "security.protocol=SASL_SSL",
        "sasl.mechanism=PLAIN",
        f"ssl.truststore.location={certificate.authority.pem_file(folder / 'ca.pem')}",
        f'sasl.jaas.config={_PLAIN_LOGIN} username="{USER}" password="{PASSWORD}";',
    )
    path.write_text("\n".join(lines))
    return path


def _grant(cluster: Cluster) -> None:
    """The least ACLs of docs/configuration.md."""
    with KafkaAdminClient(bootstrap_servers=cluster.servers) as admin:
        admin.create_acls([_may(ACLOperation.READ, ResourceType.TOPIC)])
    cluster.allow_groups()


def _other_first(leader: int, nodes: list[int]) -> list[int]:
    others = [node for node in sorted(nodes) if node != leader]
    return [*others, leader]


def _may(operation: ACLOperation, kind: ResourceType) -> ACL:
    return ACL(f"User:{USER}", "*", operation, ACLPermissionType.ALLOW, ResourcePattern(kind, "*"))
