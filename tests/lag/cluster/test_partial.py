"""One bad broker, group or topic never takes the rest along: three real brokers, and a real authorizer."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from kafka.admin import KafkaAdminClient, NewTopic, ResourceType

from assignors.offsets_partition import OFFSETS_TOPIC, offsets_partition
from benchmarks import fill
from lag.cluster.connection.settings import Settings, load_settings
from lag.cluster.offsets_log import open_offsets_log
from lag.cluster.reader import ClusterReader, open_reader
from lag.cluster.requests import metadata
from lag.embedded.broker import EmbeddedKafka
from lag.generations.tail import REFUSED_S, Tail
from lag.model import ClusterSnapshot, Problem, Scope
from lag.offsets import PartitionProblem
from tests.app.cli.commandline import run
from tests.conftest import USERS
from tests.support.acls import let_describe, may_describe
from tests.support.known import known
from tests.support.member import Member
from tests.support.secure_kafka import SecureKafka
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

DEADLINE_S = 3.0
GROUPS = 60


@pytest.fixture(scope="module")
def filled(kafka3: EmbeddedKafka) -> EmbeddedKafka:
    """Sixty groups over three coordinators, on a topic whose six partitions have one replica each."""
    fill.groups(kafka3.bootstrap_servers, "partial", GROUPS, 6)
    return kafka3


@pytest.fixture
def reader(filled: EmbeddedKafka) -> Iterator[ClusterReader]:
    made = open_reader(load_settings(filled.bootstrap_servers, None, {}), "test", DEADLINE_S)
    yield made
    made.close()


def whole(reader: ClusterReader) -> ClusterSnapshot:
    """A complete snapshot, as soon as the cluster gives one."""
    return known(wait_until(lambda: found if (found := reader.read(1, 0)).complete else None, within_s=60))


def coordinated_by(snapshot: ClusterSnapshot, node: int) -> set[str]:
    return {group.group_id for group in snapshot.groups if group.coordinator == node}


def test_three_brokers_are_each_asked_and_all_is_complete(reader: ClusterReader) -> None:
    snapshot = whole(reader)
    assert len(snapshot.groups) == GROUPS
    assert [broker.node_id for broker in snapshot.brokers] == [1, 2, 3]
    assert all(broker.requests > 0 and broker.error is None for broker in snapshot.brokers)


def test_groups_are_coordinated_where_their_partition_of_the_offsets_topic_is_led(
    filled: EmbeddedKafka, reader: ClusterReader
) -> None:
    snapshot = whole(reader)
    admin = KafkaAdminClient(bootstrap_servers=filled.bootstrap_servers)
    (topic,) = admin.describe_topics([OFFSETS_TOPIC])
    admin.close()
    leaders = {each["partition_index"]: each["leader_id"] for each in topic["partitions"]}
    count = snapshot.topics[OFFSETS_TOPIC].partitions
    assert count == len(leaders)
    found = {group.group_id: leaders[offsets_partition(group.group_id, count)] for group in snapshot.groups}
    assert found == {group.group_id: group.coordinator for group in snapshot.groups}
    assert all(coordinated_by(snapshot, node) for node in (1, 2, 3))


def test_frozen_broker_costs_one_deadline_and_is_named(filled: EmbeddedKafka, reader: ClusterReader) -> None:
    before = whole(reader)
    filled.broker(2).pause()
    try:
        began = time.monotonic()
        found = reader.read(2, 0)
        took_s = time.monotonic() - began
    finally:
        filled.broker(2).resume()
    assert took_s < DEADLINE_S
    assert not found.complete
    assert [(p.kind, p.subject) for p in found.problems if p.scope is Scope.BROKER] == [("timeout", "2")]
    assert "has not answered" in str(found.brokers[1].error)
    assert {g.group_id for g in found.groups} == coordinated_by(before, 1) | coordinated_by(before, 3)
    problems = {row.problem for group in found.groups for row in group.partitions}
    assert problems == {None, PartitionProblem.TIMEOUT}
    known = [row for group in found.groups for row in group.partitions if row.problem is None]
    assert {row.lag_records for row in known} == {0}


def test_strict_snapshot_of_a_frozen_broker_ends_with_its_own_exit_code(
    filled: EmbeddedKafka, reader: ClusterReader
) -> None:
    whole(reader)
    command = ("snapshot", "--bootstrap-server", filled.bootstrap_servers, "--deadline", "3", "--json")
    filled.broker(2).pause()
    try:
        strict, lenient = run(*command, "--strict"), run(*command)
    finally:
        filled.broker(2).resume()
    assert (strict.code, strict.document["complete"], lenient.code) == (3, False, 0)
    whole(reader)
    done = run(*command, "--strict")
    assert (done.code, done.document["complete"]) == (0, True)


def test_frozen_broker_is_read_again_in_the_first_poll_after_it_thaws(
    filled: EmbeddedKafka, reader: ClusterReader
) -> None:
    whole(reader)
    filled.broker(3).pause()
    try:
        assert not reader.read(2, 0).complete
    finally:
        filled.broker(3).resume()
    assert len(whole(reader).groups) == GROUPS


def test_broker_that_was_frozen_lists_its_groups_once_more_and_each_is_shown_once(
    filled: EmbeddedKafka, reader: ClusterReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The poll asks the frozen broker for the metadata, and it answers before it learns that it lost its groups."""
    monkeypatch.setattr(metadata, "HEDGE_S", 30.0)  # otherwise the other brokers are asked as well
    stale = open_reader(load_settings(filled.bootstrap_servers, None, {}), "test", 30.0)
    wait_until(lambda: stale.read(1, 0).complete, within_s=60)
    manager = stale._connection.manager
    frozen = next(iter(manager.cluster.brokers())).node_id  # the first that is asked
    connection = manager._conns[frozen]
    found: list[ClusterSnapshot] = []
    polling = Thread(target=lambda: found.append(stale.read(2, 0)))
    filled.broker(frozen).pause()
    try:
        wait_until(lambda: len(reader.read(2, 0).groups) == GROUPS, within_s=60)
        polling.start()
        wait_until(lambda: connection.in_flight_requests)
    finally:
        filled.broker(frozen).resume()
    polling.join()
    stale.close()
    ids = [group.group_id for group in found[0].groups]
    assert (len(ids), len(set(ids))) == (GROUPS, GROUPS)
    assert frozen not in {group.coordinator for group in found[0].groups}


@pytest.mark.parametrize("node", [1, 2, 3])
def test_settings_of_topics_come_from_the_brokers_that_answer(
    filled: EmbeddedKafka, reader: ClusterReader, node: int
) -> None:
    whole(reader)
    second = open_reader(load_settings(filled.bootstrap_servers, None, {}), "test", DEADLINE_S)
    second.read(1, 0)  # settings are read in the second poll
    filled.broker(node).pause()
    try:
        found = second.read(2, 0)
    finally:
        filled.broker(node).resume()
        second.close()
    assert not found.complete
    assert found.topics["partial-topic"].retention_ms == 604_800_000


def test_connecting_does_not_wait_for_a_frozen_bootstrap_broker(filled: EmbeddedKafka) -> None:
    first, others = filled.broker(1), filled.bootstrap_servers.split(",", 1)
    first.pause()
    try:
        began = time.monotonic()
        reader = open_reader(load_settings(",".join(others), None, {}), "test", DEADLINE_S)
        connected_s = time.monotonic() - began
        reader.close()
    finally:
        first.resume()
    assert connected_s < DEADLINE_S


def test_killed_broker_leaves_its_partitions_leaderless_and_the_rest_readable(
    filled: EmbeddedKafka, reader: ClusterReader
) -> None:
    whole(reader)
    filled.broker(3).kill()
    try:
        found = wait_until(lambda: s if (s := reader.read(2, 0)).topics["partial-topic"].leaderless else None, 60)
    finally:
        filled.broker(3).restart()
    lost = set(known(found).topics["partial-topic"].leaderless)
    assert len(lost) == 2
    assert not known(found).complete
    assert ("leaderless", "partial-topic") in {(problem.kind, problem.subject) for problem in known(found).problems}
    for group in known(found).groups:
        verdicts = {row.tp.partition: row.problem for row in group.partitions}
        assert verdicts == {p: PartitionProblem.LEADERLESS if p in lost else None for p in range(6)}
    assert len(whole(reader).groups) == GROUPS


# -- what may not be seen ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(secure_kafka: SecureKafka) -> SecureKafka:
    """Groups open-* and shut-* on topics open-topic and shut-topic; bob may describe the cluster and open things."""
    with KafkaAdminClient(bootstrap_servers=secure_kafka.bootstrap_servers) as admin:
        for prefix in ("open", "shut"):
            fill.groups(secure_kafka.bootstrap_servers, prefix, 2, 3)
        admin.create_topics([NewTopic("mixed-topic", 1, 1)], wait_for_metadata=True)
        let_describe(admin, "bob", ALLOWED)
    return secure_kafka


ALLOWED = (
    (ResourceType.CLUSTER, "kafka-cluster"),
    (ResourceType.GROUP, "open-00000"),
    (ResourceType.GROUP, "open-00001"),
    (ResourceType.GROUP, "shut-00001"),
    (ResourceType.TOPIC, "open-topic"),
)


@pytest.fixture
def bobs(guarded: SecureKafka, tmp_path: Path) -> Settings:
    config = tmp_path / "bob.properties"
    config.write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
        f"ssl.ca.location={guarded.ca_file}\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="bob" password="{USERS["bob"]}";\n'
    )
    return load_settings(guarded.sasl_ssl_bootstrap_servers, config, {})


@pytest.fixture
def bob(bobs: Settings) -> Iterator[ClusterReader]:
    made = open_reader(bobs, "test", DEADLINE_S)
    yield made
    made.close()


def test_group_that_may_not_be_described_is_listed_with_the_fix(bob: ClusterReader) -> None:
    snapshot = bob.read(1, 0)
    denied = snapshot.group("shut-00000")
    assert denied is not None
    assert (denied.complete, len(denied.partitions)) == (False, 0)
    assert {(p.kind, p.hint) for p in denied.problems} == {("unauthorized", "Grant DESCRIBE on group shut-00000")}
    allowed = snapshot.group("open-00000")
    assert allowed is not None
    assert allowed.complete
    assert [(row.tp.partition, row.lag_records) for row in allowed.partitions] == [(0, 0), (1, 0), (2, 0)]
    assert not snapshot.complete
    (problem,) = snapshot.problems  # of all such groups at once: other tests have made some
    assert (problem.kind, "shut-00000" in problem.subject) == ("unauthorized", True)
    assert problem.hint.startswith("Grant DESCRIBE on ")


def test_groups_that_are_no_longer_listed_for_want_of_an_acl_are_named(
    guarded: SecureKafka, bob: ClusterReader
) -> None:
    """Kafka leaves them out without an error: all of them vanished, and the snapshot was complete."""

    def of_shut(number: int) -> list[Problem]:
        snapshot = bob.read(number, 0)
        listed = snapshot.group("shut-00000") is not None
        return [] if listed else [p for p in snapshot.problems if "shut-00000" in p.subject]

    bob.read(1, 0)
    with KafkaAdminClient(bootstrap_servers=guarded.bootstrap_servers) as admin:
        admin.delete_acls([may_describe("bob", ALLOWED[0])])
        try:
            (problem,) = wait_until(lambda: of_shut(2))
            assert (problem.kind, problem.cause) == ("unauthorized", "not authorised to describe it")
            assert of_shut(3) == [problem]
        finally:
            let_describe(admin, "bob", ALLOWED[:1])
    wait_until(lambda: bob.read(4, 0).group("shut-00000"))


def test_topic_that_may_not_be_described_is_unauthorised_not_deleted(guarded: SecureKafka, bob: ClusterReader) -> None:
    """Kafka leaves hidden topics out of a group's commits; a member's assignment still names them."""
    member = Member(guarded.bootstrap_servers, "open-00001", ["shut-topic"], {})
    try:
        wait_until(lambda: len(member.held) == 3, within_s=60)
        snapshot = bob.read(1, 0)
    finally:
        member.leave()
    found = snapshot.group("open-00001")
    assert found is not None
    seen = {(row.tp.topic, row.problem) for row in found.partitions}
    assert seen == {("open-topic", None), ("shut-topic", PartitionProblem.UNAUTHORIZED)}
    assert not snapshot.complete
    reported = {(p.scope, p.subject): (p.kind, p.hint) for p in snapshot.problems}
    assert reported[Scope.TOPIC, "shut-topic"] == ("unauthorized", "Grant DESCRIBE on topic shut-topic")


@pytest.mark.parametrize("describe", [False, True], ids=["may not see it", "may not read it"])
def test_groups_records_that_may_not_be_read_are_reported_with_the_fix(
    guarded: SecureKafka, bobs: Settings, describe: bool
) -> None:
    resources = [(ResourceType.TOPIC, OFFSETS_TOPIC)] if describe else []
    with KafkaAdminClient(bootstrap_servers=guarded.bootstrap_servers) as admin:
        let_describe(admin, "bob", resources)
        tail = Tail("test", lambda: open_offsets_log(bobs, DEADLINE_S))
        pause_s = tail.round()
        reported = tail.problem("open-00000")
        tail.stop()
        admin.delete_acls([may_describe("bob", resource) for resource in resources])
    assert reported is not None
    assert (reported.kind, reported.hint) == ("unauthorized", f"Grant READ on {OFFSETS_TOPIC} to see every rebalance")
    assert pause_s == REFUSED_S
