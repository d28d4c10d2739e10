"""A topic is deleted under real groups: what the API, /metrics and `groupscope snapshot` say about each of them."""

import json
import signal
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.structs import OffsetAndMetadata

from lag.embedded.broker import EmbeddedKafka
from tests.app.cli.commandline import run, running
from tests.support.member import Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

TOPIC, OTHER = "gone-orders", "gone-payments"
KIP_848 = {"group.protocol": "consumer", "auto.offset.reset": "earliest"}
CLASSIC = {"auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 1_000}


@pytest.fixture(scope="module")
def admin(kafka: EmbeddedKafka) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as made:
        yield made


def test_groups_whose_topic_is_deleted_have_no_partitions(
    kafka: EmbeddedKafka, admin: KafkaAdminClient, tmp_path: Path
) -> None:
    """Consumers of KIP-848 stay, librdkafka's classic ones leave; one group reads another topic as well."""
    servers = kafka.bootstrap_servers
    admin.create_topics([NewTopic(TOPIC, 3, 1), NewTopic(OTHER, 1, 1)], wait_for_metadata=True)
    members = [
        Member(servers, "gone-kip-848", [TOPIC], KIP_848),
        Member(servers, "gone-classic", [TOPIC], CLASSIC),
        Member(servers, "gone-half", [TOPIC, OTHER], KIP_848),
        Member(servers, "gone-pattern", ["^gone-n.*"], KIP_848),
        Member(servers, "gone-typo", ["gone-ordres"], KIP_848),
    ]
    try:
        args = ["serve", "--json", "--port", "0", "--bootstrap-server", servers, "--interval", "1"]
        with running(tmp_path, *args) as command:
            server = Server(command.first_line()["dashboard"], servers)
            wait_until(lambda: [len(member.held) for member in members[:3]] == [3, 3, 4], within_s=60)
            wait_until(lambda: server.partitions() == [3, 3, 4], within_s=60)
            admin.delete_topics([TOPIC])
            wait_until(lambda: server.group("gone-classic")["state"] == "Empty", within_s=60)
            wait_until(lambda: server.group("gone-half")["lag_partitions"] == 1, within_s=60)
            only = "its only member does not have a partition"
            assert server.finding("gone-kip-848") == ("no_partitions", f"{only}: topic {TOPIC} was deleted")
            assert server.finding("gone-typo") == ("no_partitions", f"{only}: topic gone-ordres does not exist")
            assert server.finding("gone-pattern") == ("no_partitions", f"{only}: no topic matches (^gone-n.*)")
            left = f"topic {TOPIC} was deleted, and its members have left: nothing is left to read"
            assert server.finding("gone-classic") == ("no_partitions", left)
            verdict, evidence = server.finding("gone-half")
            assert (verdict, evidence.rpartition("; ")[2]) == (
                "ok", f"of what its members subscribe to, topic {TOPIC} was deleted"
            )  # fmt: skip
            text = server.text("/metrics")
            for group in ("gone-kip-848", "gone-pattern", "gone-typo", "gone-classic"):
                assert f'group="{group}",verdict="no_partitions"}} 1' in text
                assert server.group(group)["onset"] is not None
            assert 'groupscope_group_lag_records{cluster="kafka",group="gone-kip-848"}' not in text
            document = run("snapshot", "--json", "--bootstrap-server", servers).document
            found = {group["group_id"]: (group["verdict"], group["lag"]) for group in document["groups"]}
            for group in ("gone-kip-848", "gone-pattern", "gone-typo"):
                assert found[group] == ("no_partitions", None)
            admin.create_topics([NewTopic(TOPIC, 3, 1)], wait_for_metadata=True)
            wait_until(lambda: server.group("gone-kip-848")["lag_partitions"] == 3, within_s=60)
            wait_until(lambda: server.group("gone-kip-848")["verdict"] == "ok", within_s=60)
            assert command.ends(signal.SIGINT) == 0
    finally:
        for member in members:
            member.leave()


class Server:
    """A server that runs, with one cluster."""

    def __init__(self, url: str, servers: str) -> None:
        self._url, self._servers = url, servers

    def text(self, path: str) -> str:
        with urllib.request.urlopen(f"{self._url}{path}") as answer:
            return str(answer.read().decode())

    def group(self, group_id: str) -> Any:
        (cluster,) = json.loads(self.text("/api/v1/clusters"))["clusters"]
        return json.loads(self.text(f"/api/v1/clusters/{cluster['cluster']}/groups/{group_id}"))

    def finding(self, group_id: str) -> tuple[str, str]:
        """The verdict and its evidence."""
        found = self.group(group_id)
        return found["verdict"], found["health"]["evidence"]

    def partitions(self) -> list[int]:
        return [self.group(group)["lag_partitions"] for group in ("gone-kip-848", "gone-classic", "gone-half")]


def test_a_topic_that_grew_shows_the_partition_without_a_commit(kafka: EmbeddedKafka, admin: KafkaAdminClient) -> None:
    """Nobody has read it since."""
    admin.create_topics([NewTopic("grown", 2, 1)], wait_for_metadata=True)
    produce(kafka, "grown", 0, 1)
    commits = {TopicPartition("grown", partition): OffsetAndMetadata(1, "", -1) for partition in (0, 1)}
    admin.alter_group_offsets("grown-group", commits)
    admin.create_partitions({"grown": 3})
    produce(kafka, "grown", 2)
    document = run("snapshot", "--json", "--bootstrap-server", kafka.bootstrap_servers).document
    (found,) = (group for group in document["groups"] if group["group_id"] == "grown-group")
    assert (found["lag"], found["lag_known"], found["lag_partitions"], found["verdict"]) == (0, 2, 3, "no_members")
    (row,) = (row for row in found["partitions"] if row["partition"] == 2)
    assert (row["committed"], row["log_end"], row["problem"]) == (None, 1, "no_commit")


def produce(kafka: EmbeddedKafka, topic: str, *partitions: int) -> None:
    """One record to each."""
    with KafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        for partition in partitions:
            wait_until(partial(_knows, producer, topic, partition), within_s=60)
            producer.send(topic, b"x", partition=partition).get(30)


def _knows(producer: KafkaProducer, topic: str, partition: int) -> bool:
    return partition in (producer.partitions_for(topic) or ())
