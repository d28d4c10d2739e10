"""The reader on a real broker: what arrives, what fails and stays local, and what an older broker cannot say."""

import struct
import uuid
from collections.abc import Callable, Iterator

import pytest
from kafka import KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import NoError, RetriableError
from kafka.protocol.broker_version_data import BrokerVersionData
from kafka.protocol.consumer import JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest

from assignors.model import TopicPartition as TP
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader, open_reader
from lag.embedded.broker import EmbeddedKafka
from lag.model import FOREVER, UNDECODED, ClusterSnapshot, GroupSnapshot, GroupType, Scope
from lag.offsets import PartitionProblem
from tests.app.cli.commandline import run
from tests.oracle.consumer_groups import offsets
from tests.support.member import Member
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

AT_MS = 1_700_000_000_000


@pytest.fixture
def reader(kafka: EmbeddedKafka) -> Iterator[ClusterReader]:
    made = open_reader(load_settings(kafka.bootstrap_servers, None, {}), "test")
    yield made
    made.close()


@pytest.fixture
def admin(kafka: EmbeddedKafka) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as client:
        yield client


@pytest.fixture
def topic(kafka: EmbeddedKafka, admin: KafkaAdminClient) -> str:
    """A topic of its own with 4 partitions of 100 records."""
    name = f"reader-{uuid.uuid4().hex[:8]}"
    admin.create_topics([NewTopic(name, 4, 1)], wait_for_metadata=True)
    fill(kafka, name, 4, 100)
    return name


def fill(kafka: EmbeddedKafka, topic: str, partitions: int, records: int) -> None:
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers)
    for number in range(partitions * records):
        producer.send(topic, b"x", partition=number % partitions)
    producer.close()


def commit(admin: KafkaAdminClient, group: str, offsets: dict[tuple[str, int], int]) -> None:
    """As soon as the coordinator takes it: a new broker makes its offsets topic first."""
    plan = {TopicPartition(*tp): OffsetAndMetadata(offset, "", -1) for tp, offset in offsets.items()}

    def committed() -> bool:
        try:
            errors = set(admin.alter_group_offsets(group, plan).values())
        except RetriableError:
            return False
        assert all(error is NoError or issubclass(error, RetriableError) for error in errors), errors
        return errors == {NoError}

    wait_until(committed, within_s=30)


def group_of(snapshot: ClusterSnapshot, group_id: str) -> GroupSnapshot:
    found = snapshot.group(group_id)
    assert found is not None, [group.group_id for group in snapshot.groups]
    return found


def rows_of(group: GroupSnapshot) -> list[tuple[int, int | None, int | None, PartitionProblem | None]]:
    return [(row.tp.partition, row.committed, row.lag_records, row.problem) for row in group.partitions]


def new_group() -> str:
    return f"group-{uuid.uuid4().hex[:8]}"


def test_empty_group_with_commits_below_at_and_beyond_the_end(
    reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    group_id = new_group()
    commit(admin, group_id, {(topic, 0): 40, (topic, 1): 100, (topic, 3): 250})
    snapshot = reader.read(1, AT_MS)
    group = group_of(snapshot, group_id)
    assert (group.type, group.state, group.members, group.coordinator) == (GroupType.CLASSIC, "Empty", (), 1)
    assert rows_of(group) == [(0, 40, 60, None), (1, 100, 0, None), (3, 250, None, PartitionProblem.BEYOND_END)]
    assert (snapshot.at_ms, snapshot.number, snapshot.complete, snapshot.problems) == (AT_MS, 1, True, ())


def test_records_deleted_before_they_were_read_are_lost_not_lag(
    reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    group_id = new_group()
    commit(admin, group_id, {(topic, 3): 10})
    admin.delete_records({TopicPartition(topic, 3): 70})
    (row,) = group_of(reader.read(1, AT_MS), group_id).partitions
    assert (row.log_start, row.lag_records, row.lost_records) == (70, 30, 60)
    assert row.problem is PartitionProblem.BELOW_LOG_START


def test_topic_without_groups_has_its_end_offsets_and_leaders(reader: ClusterReader, topic: str) -> None:
    snapshot = reader.read(1, AT_MS)
    ends = snapshot.offsets.ends
    mine = [row for row in range(len(ends)) if ends.tp(row).topic == topic]
    assert [(int(ends.log_start[r]), int(ends.log_end[r]), int(ends.leader[r])) for r in mine] == [(0, 100, 1)] * 4
    assert ends.leader_epoch[mine].tolist() == [0] * 4
    assert (snapshot.topics[topic].partitions, snapshot.topics[topic].internal) == (4, False)
    assert (snapshot.topics[topic].replicas, snapshot.topics[topic].in_sync) == (((1,),) * 4, ((1,),) * 4)
    assert snapshot.topics[topic].topic_id is not None


def test_retention_is_read_from_the_second_poll_on(reader: ClusterReader, topic: str) -> None:
    first, second = reader.read(1, AT_MS), reader.read(2, AT_MS)
    assert (first.topics[topic].retention_ms, second.topics[topic].retention_ms) == (None, 604_800_000)


@pytest.mark.parametrize(
    ("config", "kept_ms", "policy"),
    [
        ({"retention.ms": "60000"}, 60_000, "delete"),
        ({"retention.ms": "-1"}, FOREVER, "delete"),
        ({"cleanup.policy": "compact"}, FOREVER, "compact"),
        ({"cleanup.policy": "compact,delete", "retention.ms": "60000"}, 60_000, "compact,delete"),
    ],
)
def test_retention_of_a_topic(
    reader: ClusterReader, admin: KafkaAdminClient, config: dict[str, str], kept_ms: int, policy: str
) -> None:
    name = f"kept-{uuid.uuid4().hex[:8]}"
    admin.create_topics([NewTopic(name, 1, 1, topic_configs=config)], wait_for_metadata=True)
    reader.read(1, AT_MS)
    found = reader.read(2, AT_MS).topics[name]
    assert (found.retention_ms, found.cleanup_policy) == (kept_ms, policy)


def test_retention_that_no_broker_reports_any_more_stays_as_it_was(
    monkeypatch: pytest.MonkeyPatch, reader: ClusterReader, topic: str
) -> None:
    monkeypatch.setattr("lag.cluster.reader.RETENTION_EVERY", 2)
    reported = [reader.read(number, AT_MS).topics[topic].retention_ms for number in (1, 2)]
    pretend_version(reader, (0, 10, 2))  # the settings of topics can be asked for since 0.11
    reported += [reader.read(number, AT_MS).topics[topic].retention_ms for number in (3, 4)]
    assert reported == [None, 604_800_000, 604_800_000, 604_800_000]


def test_broker_says_its_version_by_its_apis(reader: ClusterReader) -> None:
    (broker,) = reader.read(1, AT_MS).brokers
    assert broker.version == "4.3"


@pytest.fixture
def let_join(kafka: EmbeddedKafka) -> Iterator[Callable[..., Member]]:
    """Makes real members; all leave at the end."""
    made: list[Member] = []

    def make(group_id: str, topic: str, **settings: object) -> Member:
        made.append(Member(kafka.bootstrap_servers, group_id, [topic], {"enable.auto.commit": False, **settings}))
        return made[-1]

    yield make
    for one in made:
        one.ask_to_leave()
    for one in made:
        one.leave()


def test_classic_member_with_subscription_instance_rack_and_assignment(
    reader: ClusterReader, let_join: Callable[..., Member], topic: str
) -> None:
    group_id = new_group()
    one = let_join(group_id, topic, **{"group.instance.id": "pod-1", "client.id": "app", "client.rack": "r1"})
    wait_until(lambda: len(one.held) == 4, within_s=60)
    group = group_of(reader.read(1, AT_MS), group_id)
    (member,) = group.members
    assert (group.state, group.assignor, group.epoch) == ("Stable", "range", None)
    assert (member.client_id, member.instance_id, member.host) == ("app", "pod-1", "127.0.0.1")
    assert (member.topics, member.assigned) == ((topic,), tuple(TP(topic, p) for p in range(4)))
    assert (member.epoch, member.target, member.problem) == (None, None, None)
    assert [row.member_id for row in group.partitions] == [member.member_id] * 4
    assert rows_of(group) == [(p, None, None, PartitionProblem.NO_COMMIT) for p in range(4)]


def test_member_of_a_kip_848_group_has_epochs_current_and_target(
    reader: ClusterReader, let_join: Callable[..., Member], topic: str
) -> None:
    group_id = new_group()
    one = let_join(group_id, topic, **{"group.protocol": "consumer", "client.id": "modern", "client.rack": "r2"})
    wait_until(lambda: len(one.held) == 4, within_s=60)
    group = group_of(reader.read(1, AT_MS), group_id)
    (member,) = group.members
    every = tuple(TP(topic, p) for p in range(4))
    assert (group.type, group.state, group.assignor) == (GroupType.CONSUMER, "Stable", "uniform")
    assert (group.epoch, group.assignment_epoch, member.epoch) == (2, 2, 2)
    assert (member.topics, member.assigned, member.target, member.rack) == ((topic,), every, every, "r2")


def test_more_members_than_partitions_leaves_members_without_any(
    reader: ClusterReader, let_join: Callable[..., Member], admin: KafkaAdminClient
) -> None:
    name, group_id = f"narrow-{uuid.uuid4().hex[:8]}", new_group()
    admin.create_topics([NewTopic(name, 1, 1)], wait_for_metadata=True)
    for _ in range(3):
        let_join(group_id, name)

    def settled() -> bool:
        group = reader.read(1, AT_MS).group(group_id)
        return group is not None and group.state == "Stable" and len(group.members) == 3

    wait_until(settled, within_s=60, every_s=0.05)
    group = group_of(reader.read(2, AT_MS), group_id)
    assert sorted(len(member.assigned) for member in group.members) == [0, 0, 1]


def join(admin: KafkaAdminClient, group_id: str, protocol_type: str, metadata: bytes, assignment: bytes) -> str:
    """Become the only member of a group with whatever bytes; the member id."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="odd", metadata=metadata)
    node = admin._manager.run(admin._find_coordinator_id, group_id)
    member_id = ""
    while True:
        request = JoinGroupRequest(
            group_id=group_id, session_timeout_ms=30_000, rebalance_timeout_ms=30_000, member_id=member_id,
            group_instance_id=None, protocol_type=protocol_type, protocols=[protocol], reason=None,
        )  # fmt: skip
        joined = admin._manager.run(admin._manager.send, request, node)
        member_id = joined.member_id
        if joined.error_code == 0:
            break
    assign = SyncGroupRequest.SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
    sync = SyncGroupRequest(
        group_id=group_id, generation_id=joined.generation_id, member_id=member_id, group_instance_id=None,
        protocol_type=protocol_type, protocol_name="odd", assignments=[assign],
    )  # fmt: skip
    assert admin._manager.run(admin._manager.send, sync, node).error_code == 0
    return str(member_id)


def leave(admin: KafkaAdminClient, group_id: str, member_id: str) -> None:
    who = LeaveGroupRequest.MemberIdentity(member_id=member_id, group_instance_id=None, reason=None)
    node = admin._manager.run(admin._find_coordinator_id, group_id)
    admin._manager.run(admin._manager.send, LeaveGroupRequest(group_id=group_id, members=[who], member_id=""), node)


JUNK = {
    "short": b"\x00",
    "null list": b"\x00\x01\xff\xff\xff\xff",
    "huge list": b"\x00\x03\x7f\xff\xff\xff",
    "noise": b"\xde\xad" * 40,
}
SHORT_METADATA = b"\x00"
"""Brokers keep this; on other junk in a subscription Kafka 4.3 never ends the join."""


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_member_whose_bytes_are_junk_is_shown_with_a_problem(
    reader: ClusterReader, admin: KafkaAdminClient, topic: str, junk: bytes
) -> None:
    group_id = new_group()
    commit(admin, group_id, {(topic, 0): 1})
    member_id = join(admin, group_id, "consumer", SHORT_METADATA, junk)
    group = group_of(reader.read(1, AT_MS), group_id)
    leave(admin, group_id, member_id)
    (member,) = group.members
    assert member.member_id == member_id
    assert member.problem is not None
    assert "cannot be decoded" in member.problem
    assert rows_of(group) == [(0, 1, 99, None)]


def wire_text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def from_kafka_go(topic: str) -> bytes:
    """A subscription as kafka-go writes it: version 1 without its owned partitions (segmentio/kafka-go#1156)."""
    return struct.pack(">hi", 1, 1) + wire_text(topic) + struct.pack(">i", 0)


def assigned_by_kafka_go(topic: str, *partitions: int) -> bytes:
    numbers = struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    return struct.pack(">hi", 1, 1) + wire_text(topic) + numbers + struct.pack(">i", 0)


@pytest.mark.usefixtures("java_classes")
def test_member_of_kafka_go_has_its_topics_and_the_partitions_that_kafkas_own_tool_shows(
    kafka: EmbeddedKafka, reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    group_id = new_group()
    member_id = join(admin, group_id, "consumer", from_kafka_go(topic), assigned_by_kafka_go(topic, 0, 2))
    group, tool = group_of(reader.read(1, AT_MS), group_id), offsets(kafka.bootstrap_servers, [group_id])
    leave(admin, group_id, member_id)
    (member,) = group.members
    assert sorted((row.partition, row.member_id) for row in tool) == [(0, member_id), (2, member_id)]
    assert (member.topics, member.assigned, member.problem) == ((topic,), (TP(topic, 0), TP(topic, 2)), None)
    assert (group.complete, group.problems) == (True, ())
    owners = [(row.tp.partition, row.member_id) for row in group.partitions]
    assert owners == [(0, member_id), (1, None), (2, member_id), (3, None)]


def test_assignment_cut_off_in_the_middle_is_a_problem_of_the_group_and_the_subscription_stays(
    kafka: EmbeddedKafka, reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    group_id = new_group()
    commit(admin, group_id, {(topic, number): 100 for number in range(4)})
    cut = assigned_by_kafka_go(topic, 0, 1, 2, 3)[:-8]
    member_id = join(admin, group_id, "consumer", from_kafka_go(topic), cut)
    snapshot = reader.read(1, AT_MS)
    done = run("snapshot", "--bootstrap-server", kafka.bootstrap_servers, "--group", group_id, "--strict")
    leave(admin, group_id, member_id)
    group = group_of(snapshot, group_id)
    assert [(member.topics, member.assigned) for member in group.members] == [((topic,), ())]
    (problem,) = group.problems
    assert (problem.kind, problem.scope, problem.subject) == (UNDECODED, Scope.GROUP, group_id)
    assert problem.cause.startswith(f"member {member_id}: its assignment cannot be decoded (partitions.partitions: ")
    assert (group.complete, snapshot.complete) == (False, False)
    assert group_id in [named.subject for named in snapshot.problems]
    assert done.code == 3
    assert f"problem: group {group_id}: {problem.cause}" in done.err


@pytest.mark.usefixtures("java_classes")
@pytest.mark.parametrize("offset", [-2, -1001])
def test_negative_committed_offset_is_no_commit_as_for_kafkas_own_tool(
    kafka: EmbeddedKafka, reader: ClusterReader, admin: KafkaAdminClient, topic: str, offset: int
) -> None:
    """-2 is "earliest", -1001 librdkafka's "invalid": clients commit them by mistake, and brokers store them."""
    group_id = new_group()
    commit(admin, group_id, {(topic, 0): offset, (topic, 2): 60})
    group, tool = group_of(reader.read(1, AT_MS), group_id), offsets(kafka.bootstrap_servers, [group_id])
    assert {row.partition: row.committed for row in tool if row.committed is not None} == {2: 60}
    assert rows_of(group) == [(0, None, None, PartitionProblem.NO_COMMIT), (2, 60, 40, None)]
    assert [row.lost_records for row in group.partitions] == [None, 0]


def test_group_of_another_protocol_keeps_its_bytes_to_itself(
    reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    group_id = new_group()
    commit(admin, group_id, {(topic, 0): 1})
    admin.delete_groups([group_id])
    member_id = join(admin, group_id, "connect", b"\xff\xff", b"\xff\xff")
    (member,) = group_of(reader.read(1, AT_MS), group_id).members
    leave(admin, group_id, member_id)
    assert (member.problem, member.assigned, member.topics) == (None, (), ())


def test_broker_without_batched_fetch_and_group_types_gives_the_same_offsets(
    reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    first, second = new_group(), new_group()
    commit(admin, first, {(topic, 0): 40})
    commit(admin, second, {(topic, 1): 50})
    pretend_version(reader, (2, 4))
    snapshot = reader.read(1, AT_MS)
    assert rows_of(group_of(snapshot, first)) == [(0, 40, 60, None)]
    assert rows_of(group_of(snapshot, second)) == [(1, 50, 50, None)]
    assert (group_of(snapshot, first).type, group_of(snapshot, first).state) == (GroupType.CLASSIC, "Empty")


def pretend_version(reader: ClusterReader, version: tuple[int, ...]) -> None:
    """Speak to the broker as to one of that version."""
    manager = reader._connection.manager
    manager.broker_version_data = BrokerVersionData(version)
    for connection in manager._conns.values():
        connection.broker_version_data = manager.broker_version_data


def test_open_transaction_shows_as_a_gap_below_the_log_end(
    kafka: EmbeddedKafka, reader: ClusterReader, admin: KafkaAdminClient, topic: str
) -> None:
    group_id = new_group()
    commit(admin, group_id, {(topic, 0): 100})
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=f"tx-{group_id}")
    producer.init_transactions()
    producer.begin_transaction()
    for _ in range(5):
        producer.send(topic, b"x", partition=0)
    producer.flush()
    (held,) = group_of(reader.read(1, AT_MS), group_id).partitions
    producer.commit_transaction()  # the broker writes the marker a little later
    wait_until(lambda: group_of(reader.read(2, AT_MS), group_id).partitions[0].last_stable == 106)
    (freed,) = group_of(reader.read(3, AT_MS), group_id).partitions
    producer.close()
    assert (held.log_end, held.last_stable, held.lag_records, held.held_records) == (105, 100, 5, 5)
    assert (freed.log_end, freed.last_stable, freed.lag_records, freed.held_records) == (106, 106, 6, 0)


def test_five_snapshots_in_a_row_ask_the_same_number_of_requests(reader: ClusterReader, topic: str) -> None:
    reader.read(1, AT_MS)
    reader.read(2, AT_MS)  # also reads the topics' settings
    counts = [reader.read(number, AT_MS).brokers[0].requests for number in range(3, 6)]
    assert len(set(counts)) == 1
