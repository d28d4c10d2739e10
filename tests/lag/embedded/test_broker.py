import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic

from lag.embedded import config
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.config import Ports
from lag.errors import EmbeddedError
from tests.conftest import USERS
from tests.support.java import CONSUMER_GROUPS, java_admin, run_tool
from tests.support.secure_kafka import SecureKafka
from tests.support.waiting import wait_until

NODE_PROPERTIES = config.node_properties
JavaClasses = Callable[[str], Any]
API_VERSIONS = bytes.fromhex("0000000a 0012 0000 00000001 ffff")  # ApiVersions v0, no client id

pytestmark = pytest.mark.broker


def admin_of(servers: str, **more: object) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=servers, **more)


def nodes_of(admin: Any) -> set[int]:
    """The brokers that a Java admin client learns of."""
    return {node.id() for node in admin.describeCluster().nodes().get()}


def login(kafka: SecureKafka, user: str, mechanism: str, **more: object) -> dict[str, object]:
    return {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(kafka.ca_file),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": USERS[user],
        **more,
    }


def test_a_record_goes_in_and_comes_out(kafka: EmbeddedKafka) -> None:
    admin = admin_of(kafka.bootstrap_servers)
    admin.create_topics([NewTopic("embedded-echo", 1, 1)], wait_for_metadata=True)
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    producer.send("embedded-echo", b"hello").get(30)
    producer.close()
    consumer = KafkaConsumer("embedded-echo", bootstrap_servers=kafka.bootstrap_servers, auto_offset_reset="earliest")
    assert next(consumer).value == b"hello"
    consumer.close()
    admin.close()


def test_groups_of_every_type_are_supported(kafka: EmbeddedKafka, java_classes: JavaClasses) -> None:
    with java_admin(kafka.bootstrap_servers) as admin:
        features = admin.describeFeatures().featureMetadata().get().finalizedFeatures()
        levels = {str(entry.getKey()): entry.getValue().maxVersionLevel() for entry in features.entrySet()}
    assert {name: levels[f"{name}.version"] for name in ("group", "share", "streams")} == {
        "group": 1,
        "share": 1,
        "streams": 1,
    }


def test_kafkas_own_tools_reach_it(kafka: EmbeddedKafka) -> None:
    assert run_tool(CONSUMER_GROUPS, "--bootstrap-server", kafka.bootstrap_servers, "--list") is not None


def test_only_loopback_is_listened_on(kafka: EmbeddedKafka) -> None:
    assert all(server.startswith("127.0.0.1:") for server in kafka.bootstrap_servers.split(","))
    assert 20000 <= int(kafka.bootstrap_servers.split(":")[1]) < 32000


def test_a_stopped_cluster_leaves_no_process_no_folder_and_its_ports_free() -> None:
    kafka = EmbeddedKafka().start()
    folder, pid, server = kafka.folder, kafka.broker(1).pid, kafka.bootstrap_servers
    assert pid is not None
    assert folder.exists()
    kafka.stop()
    kafka.stop()
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", int(server.split(":")[1])))
    with pytest.raises(EmbeddedError, match="not running"):
        _ = kafka.folder


def test_a_bad_property_is_named_in_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(EmbeddedError, match=r"Invalid value many for configuration num\.io\.threads"):
        EmbeddedKafka(properties={"num.io.threads": "many"}).start()
    assert list(tmp_path.iterdir()) == []


def test_a_broker_that_dies_at_its_start_shows_its_last_log_lines() -> None:
    with pytest.raises(
        EmbeddedError, match=r"Broker 1 ended with exit code 1 before it was ready\. Its last log lines say"
    ):
        EmbeddedKafka(properties={"authorizer.class.name": "no.such.Authorizer"}).start()


def test_one_of_three_that_dies_at_its_start_is_reported_though_the_others_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_a_bad_second(node: int, ports: Mapping[int, Ports], data: Path) -> dict[str, str]:
        bad = {"authorizer.class.name": "no.such.Authorizer"} if node == 2 else {}
        return NODE_PROPERTIES(node, ports, data) | bad

    monkeypatch.setattr(config, "node_properties", with_a_bad_second)
    with pytest.raises(EmbeddedError, match=r"Broker 2 ended with exit code 1"):
        EmbeddedKafka(brokers=3, heap_mb=256).start()


def test_a_heap_that_is_too_small_is_reported() -> None:
    with pytest.raises(EmbeddedError, match=r"OutOfMemoryError|[Tt]oo small"):
        EmbeddedKafka(heap_mb=1, properties={"num.network.threads": "3"}).start()


def test_a_jar_that_is_no_jar_is_reported(tmp_path: Path) -> None:
    (tmp_path / "kafka_2.13-0.jar").write_bytes(b"no jar")
    with pytest.raises(EmbeddedError, match=r"Could not find or load main class"):
        EmbeddedKafka(classpath=[tmp_path / "kafka_2.13-0.jar"]).start()


def test_a_port_taken_in_the_meantime_is_exchanged_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    free = config.free_ports
    with socket.create_server(("127.0.0.1", 0)) as thief:
        taken = thief.getsockname()[1]
        offers = [{1: Ports(taken, free(1)[1].controller)}, free(1)]
        monkeypatch.setattr(config, "free_ports", lambda *_: offers.pop(0))
        with EmbeddedKafka() as kafka:
            assert kafka.broker(1).running()
            assert kafka.bootstrap_servers != f"127.0.0.1:{taken}"
    assert offers == []


def test_ports_that_are_always_taken_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    free = config.free_ports(1)
    with socket.create_server(("127.0.0.1", 0)) as thief:
        taken = thief.getsockname()[1]
        monkeypatch.setattr(config, "free_ports", lambda *_: {1: Ports(taken, free[1].controller)})
        monkeypatch.setattr("lag.embedded.broker._PORT_ATTEMPTS", 1)
        with pytest.raises(EmbeddedError, match="port of broker 1 is taken"):
            EmbeddedKafka().start()


def test_one_of_three_brokers_is_killed_and_comes_back(kafka3: EmbeddedKafka, java_classes: JavaClasses) -> None:
    second = kafka3.broker(2)
    before = second.pid
    with java_admin(kafka3.bootstrap_servers) as admin:
        wait_until(lambda: nodes_of(admin) == {1, 2, 3})
        second.kill()
        assert not second.running()
        wait_until(lambda: nodes_of(admin) == {1, 3})
        second.restart()
        wait_until(lambda: nodes_of(admin) == {1, 2, 3})
    assert second.pid != before
    assert any("Kafka Server started" in line for line in second.log_tail(50))


def leader_epoch(kafka: EmbeddedKafka, topic: str) -> int:
    """How often the topic's partition has had a leader elected; a broker that was fenced off and let in adds to it."""
    with admin_of(kafka.bootstrap_servers) as admin:
        return int(admin.describe_topics([topic])[0]["partitions"][0]["leader_epoch"])


def test_a_lone_broker_is_not_fenced_off_by_a_pause_and_let_in_again_after_its_death() -> None:
    with EmbeddedKafka(heap_mb=256) as kafka:
        with admin_of(kafka.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("embedded-pause", 1, 1)], wait_for_metadata=True)
        before = leader_epoch(kafka, "embedded-pause")
        kafka.broker(1).pause()
        time.sleep(10.5)  # longer than the session that Kafka would give it
        kafka.broker(1).resume()
        time.sleep(2)
        assert leader_epoch(kafka, "embedded-pause") == before
        kafka.broker(1).restart()
        assert leader_epoch(kafka, "embedded-pause") > before


def test_internal_topics_are_on_all_three_brokers(kafka3: EmbeddedKafka) -> None:
    admin = admin_of(kafka3.bootstrap_servers)
    admin.create_topics([NewTopic("embedded-three", 3, 3)], wait_for_metadata=True)
    consumer = KafkaConsumer("embedded-three", bootstrap_servers=kafka3.bootstrap_servers, group_id="embedded-three")
    wait_until(lambda: consumer.poll(200) == {} and consumer.assignment())
    consumer.close()
    (offsets,) = admin.describe_topics(["__consumer_offsets"])
    assert {len(partition["replica_nodes"]) for partition in offsets["partitions"]} == {3}
    admin.close()


def test_a_frozen_broker_accepts_but_answers_only_when_it_goes_on(kafka3: EmbeddedKafka) -> None:
    third = kafka3.broker(3)
    port = int(kafka3.bootstrap_servers.split(",")[2].split(":")[1])
    third.pause()
    with socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
        connection.sendall(API_VERSIONS)
        with pytest.raises(TimeoutError):
            connection.recv(4)
        assert third.running()
        third.resume()
        connection.settimeout(30)
        assert len(connection.recv(4)) == 4


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_logs_in_over_tls(secure_kafka: SecureKafka, mechanism: str) -> None:
    admin = admin_of(secure_kafka.sasl_ssl_bootstrap_servers, **login(secure_kafka, "alice", mechanism))
    assert [broker["broker_id"] for broker in admin.describe_cluster()["brokers"]] == [1]
    admin.close()


def test_a_user_without_rights_sees_nothing_of_what_the_super_user_sees(secure_kafka: SecureKafka) -> None:
    root = admin_of(secure_kafka.bootstrap_servers)
    root.create_topics([NewTopic("embedded-secret", 1, 1)], wait_for_metadata=True)
    root.close()
    seen = {}
    for user in USERS:
        admin = admin_of(secure_kafka.sasl_ssl_bootstrap_servers, **login(secure_kafka, user, "SCRAM-SHA-256"))
        seen[user] = "embedded-secret" in admin.list_topics()
        admin.close()
    assert seen == {"alice": True, "bob": False}
