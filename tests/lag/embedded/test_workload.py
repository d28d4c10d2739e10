"""The demo workload on a real broker: every standing case with its numbers, every control by what Kafka does then."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jpype
import psutil
import pytest
from kafka import IsolationLevel, KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec

from lag.cluster.connection.connect import open_manager
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import ClusterReader
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.workload import BROKER_PROPERTIES, Controls, Workload, describe
from lag.embedded.workload.admin import Admin
from lag.embedded.workload.controls import ENVIRONMENT
from lag.embedded.workload.faults import trim
from lag.embedded.workload.members import Members
from lag.embedded.workload.plan import GROUPS, HELD_TOPIC, GroupPlan, Protocol, TopicPlan
from lag.embedded.workload.records import burst
from lag.embedded.workload.transactions import HeldPartition
from lag.errors import EmbeddedError
from lag.polling.collector import Collector
from tests.support.demo_groups import PROBLEMS, STATES, TYPES
from tests.support.java import java_admin, start_jvm
from tests.support.known import the
from tests.support.processes import somebody_elses
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker


class Seen:
    """What Kafka says, asked of the broker itself."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap_servers)
        start_jvm()
        self.java = java_admin(bootstrap_servers)

    def close(self) -> None:
        self.admin.close()
        self.java.close()

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        found = self.admin.list_group_offsets(group)[group]
        return {(tp.topic, tp.partition): offset.offset for tp, offset in sorted(found.items())}

    def partitions(self, topic: str) -> int:
        return len(self.admin.describe_topics([topic])[0]["partitions"])

    def offsets(self, topic: str, spec: OffsetSpec, isolation: IsolationLevel) -> list[int]:
        asked = {TopicPartition(topic, p): spec for p in range(self.partitions(topic))}
        answer = self.admin.list_partition_offsets(asked, isolation)
        return [answer[tp].offset for tp in sorted(answer)]

    def start(self, topic: str) -> list[int]:
        return self.offsets(topic, OffsetSpec.EARLIEST, IsolationLevel.READ_UNCOMMITTED)

    def end(self, topic: str) -> list[int]:
        return self.offsets(topic, OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED)

    def stable(self, topic: str) -> list[int]:
        return self.offsets(topic, OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED)

    def lag(self, group: str, topic: str) -> int:
        committed = self.committed(group)
        return sum(self.end(topic)) - sum(committed.values())

    def groups(self) -> dict[str, tuple[str, str]]:
        found = self.java.listGroups().all().get()
        return {str(g.groupId()): (str(g.type().get()).lower(), str(g.groupState().get())) for g in found}

    def members(self, group: str) -> dict[str, set[tuple[str, int]]]:
        """Client id -> partitions."""
        described = self.java.describeConsumerGroups([group]).all().get()[group]
        return {
            str(m.clientId()): {(str(tp.topic()), int(tp.partition())) for tp in m.assignment().topicPartitions()}
            for m in described.members()
        }


@pytest.fixture(scope="module")
def demo_kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(properties=BROKER_PROPERTIES) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def demo(demo_kafka: EmbeddedKafka) -> Iterator[Workload]:
    with Workload(demo_kafka.bootstrap_servers, demo_kafka.folder) as workload:
        workload.wait_ready(60)
        yield workload


@pytest.fixture(scope="module")
def controls(demo: Workload) -> Controls:
    return demo.controls


@pytest.fixture(scope="module")
def collector(demo_kafka: EmbeddedKafka, demo: Workload) -> Iterator[Collector]:
    settings = load_settings(demo_kafka.bootstrap_servers, None, {})
    collector = Collector("demo", lambda: ClusterReader(open_manager(settings), "demo"), interval_s=3.0)
    collector.start()
    yield collector
    collector.stop()


@pytest.fixture(scope="module")
def seen(demo: Workload, demo_kafka: EmbeddedKafka, collector: Collector) -> Iterator[Seen]:
    """The collector polls from the beginning, so its window is full when the verdicts are asked for."""
    seen = Seen(demo_kafka.bootstrap_servers)
    yield seen
    seen.close()


@pytest.fixture(scope="module")
def expected_groups() -> dict[str, tuple[str, str]]:
    return {group_id: (str(TYPES[group_id]), STATES[group_id]) for group_id in TYPES}


# Standing cases


def test_every_planned_group_is_there_with_its_type_and_state(
    seen: Seen, expected_groups: dict[str, tuple[str, str]]
) -> None:
    wait_until(lambda: seen.groups() == expected_groups)
    assert seen.groups() == expected_groups


def test_every_planned_group_is_described() -> None:
    assert {case.group_id for case in describe()} == {group.group_id for group in GROUPS}


def test_every_planned_topic_exists_but_the_deleted_one(seen: Seen) -> None:
    planned = {topic for group in GROUPS for topic in group.topics}
    assert planned - set(seen.admin.list_topics()) == {"crm-contacts"}


def test_empty_group_keeps_its_commits(seen: Seen) -> None:
    assert list(seen.committed("nightly-reconciliation").values()) == [60, 100, 80]
    assert seen.end("bank-statements") == [100, 100, 100]


def test_commits_outlive_their_topic(seen: Seen) -> None:
    assert seen.committed("legacy-crm-sync") == {("crm-contacts", 0): 40, ("crm-contacts", 1): 60}
    assert "crm-contacts" not in seen.admin.list_topics()


def test_commits_of_a_recreated_topic_lie_beyond_its_end(seen: Seen) -> None:
    assert seen.committed("coupon-redemption") == {("coupons", 0): 80, ("coupons", 1): 80}
    assert seen.end("coupons") == [30, 30]


def test_commits_lie_below_the_log_start(seen: Seen) -> None:
    assert seen.committed("audit-archive") == {("audit-log", 0): 100, ("audit-log", 1): 200}
    assert seen.start("audit-log") == [300, 250]
    assert seen.end("audit-log") == [500, 500]


def test_open_transaction_holds_the_reader(seen: Seen) -> None:
    wait_until(lambda: seen.committed("transfer-posting") == {("card-transfers", 0): 100})
    assert seen.stable("card-transfers") == [100]
    assert seen.end("card-transfers") == [125]


def test_only_the_transaction_marker_is_left(seen: Seen) -> None:
    wait_until(lambda: len(seen.committed("settlement-reporting")) == 2)
    assert list(seen.committed("settlement-reporting").values()) == [50, 50]
    assert seen.end("settlement-batches") == seen.stable("settlement-batches") == [51, 51]


def test_stopped_group_has_a_member_and_fixed_commits(seen: Seen) -> None:
    before = sum(seen.end("loyalty-events"))
    wait_until(lambda: sum(seen.end("loyalty-events")) >= before + 4)
    assert list(seen.committed("loyalty-points").values()) == [50, 50, 50]
    assert seen.members("loyalty-points") == {"loyalty-points-1": {("loyalty-events", p) for p in range(3)}}


def test_one_partition_is_stalled_while_the_others_move(seen: Seen) -> None:
    others = [0, 1, 3]
    before = seen.end("shipments")
    wait_until(lambda: all(seen.committed("shipment-tracking")["shipments", p] > before[p] for p in others))
    assert seen.committed("shipment-tracking")["shipments", 2] == 10


@pytest.mark.long
def test_rewinding_group_commits_smaller_offsets(seen: Seen) -> None:
    highest = 0

    def fell() -> bool:
        nonlocal highest
        committed = seen.committed("ad-attribution")["ad-clicks", 0]
        highest = max(highest, committed)
        return committed <= highest - 100

    wait_until(fell, 60)


def test_polling_member_commits_nothing(seen: Seen) -> None:
    assert seen.members("recommendation-training") == {
        "recommendation-training-1": {("product-views", p) for p in range(3)}
    }
    assert seen.committed("recommendation-training") == {}


def test_one_partition_is_never_committed(seen: Seen) -> None:
    wait_until(lambda: len(seen.committed("price-sync")) == 2)
    assert set(seen.committed("price-sync")) == {("price-changes", 0), ("price-changes", 1)}
    assert seen.end("price-changes")[2] == 25


def test_falling_group_commits_and_still_loses_ground(seen: Seen) -> None:
    before, lag = seen.committed("warehouse-loader"), seen.lag("warehouse-loader", "page-views")
    wait_until(lambda: seen.lag("warehouse-loader", "page-views") >= lag + 15)
    after = seen.committed("warehouse-loader")
    assert all(after[tp] > before[tp] for tp in before)


def test_catching_up_group_gains_ground_everywhere(seen: Seen) -> None:
    before, lag = seen.committed("receipt-archive"), seen.lag("receipt-archive", "receipts")
    wait_until(lambda: seen.lag("receipt-archive", "receipts") <= lag - 100)
    after = seen.committed("receipt-archive")
    assert all(after[tp] > before[tp] for tp in before)


def test_two_of_four_members_have_nothing(seen: Seen) -> None:
    assert sorted(len(owned) for owned in seen.members("invoice-rendering").values()) == [0, 0, 1, 1]


def test_simple_consumer_commits_without_members(seen: Seen) -> None:
    before = seen.committed("ledger-export")
    wait_until(lambda: all(seen.committed("ledger-export")[tp] > before[tp] for tp in before))
    assert seen.members("ledger-export") == {}


def test_share_group_began_at_the_earliest_record(seen: Seen) -> None:
    described = seen.java.describeShareGroups(["email-dispatch"]).all().get()["email-dispatch"]
    assert sorted(str(m.clientId()) for m in described.members()) == ["email-dispatch-1", "email-dispatch-2"]
    assert share_start(seen) >= 80


def share_start(seen: Seen) -> int:
    """The sum of the share group's start offsets, once it has taken all seeded records."""
    spec_class = "org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec"
    asked = {"email-dispatch": jpype.JClass(spec_class)()}

    def total() -> int:
        answer = seen.java.listShareGroupOffsets(asked).partitionsToOffsetInfo("email-dispatch").get()
        return sum(int(info.startOffset()) for info in answer.values())

    return wait_until(lambda: total() if total() >= 80 else 0)


def test_every_verdict_is_the_described_one(collector: Collector) -> None:
    expected = {case.group_id: (case.status, PROBLEMS[case.group_id]) for case in describe()}

    def differing() -> dict[str, Any]:
        report = collector.latest()
        assert report is not None
        found = {}
        for group, health in zip(report.snapshot.groups, report.health.groups, strict=True):
            problems = {row.problem for row in group.partitions} - {None}
            found[group.group_id] = (health.finding.status, problems.pop() if len(problems) == 1 else None)
        return {name: (found.get(name), want) for name, want in expected.items() if found.get(name) != want}

    wait_until(lambda: differing() == {}, 180)


def test_product_reads_each_partition_of_a_deleted_topic_once(collector: Collector) -> None:
    report = collector.latest()
    assert report is not None
    for group_id in ("legacy-crm-sync", "coupon-redemption"):
        group = report.snapshot.group(group_id)
        assert group is not None
        assert [row.tp.partition for row in group.partitions] == [0, 1]


def test_trimming_deletes_what_is_read_and_nothing_else(demo_kafka: EmbeddedKafka, seen: Seen) -> None:
    wait_until(lambda: len(seen.committed("price-sync")) == 2)
    read = seen.committed("warehouse-loader")
    with Admin(demo_kafka.bootstrap_servers) as admin:
        trim(admin)
    assert all(start >= offset for start, offset in zip(seen.start("page-views"), read.values(), strict=True))
    assert seen.start("shipments")[2] == 10
    assert seen.start("price-changes")[2] == 0
    committed = seen.committed("warehouse-loader").values()
    assert all(offset >= start for start, offset in zip(seen.start("page-views"), committed, strict=True))


# What takes longer than a test, on a broker of its own


@pytest.fixture(scope="module")
def bare_kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(properties=BROKER_PROPERTIES) as kafka:
        yield kafka


def test_partition_is_held_before_and_after_each_renewal(bare_kafka: EmbeddedKafka) -> None:
    seen = Seen(bare_kafka.bootstrap_servers)
    with Admin(bare_kafka.bootstrap_servers) as admin:
        admin.create([TopicPlan(HELD_TOPIC, 1)])
    held = HeldPartition(bare_kafka.bootstrap_servers)
    for stable, end in ((0, 25), (25, 51), (51, 77)):
        held.renew()
        wait_until(partial(lambda offset: seen.stable(HELD_TOPIC) == [offset], stable))
        assert seen.end(HELD_TOPIC) == [end]
    seen.close()


def test_reader_asks_for_more_when_little_is_left(bare_kafka: EmbeddedKafka) -> None:
    servers = bare_kafka.bootstrap_servers
    with Admin(servers) as admin:
        admin.create([TopicPlan("slow-topic", 1)])
    burst(servers, "test", [("slow-topic", 0, 20)])
    asked: list[tuple[str, str, int]] = []
    members = Members(servers, lambda group, topic, partition: asked.append((group.group_id, topic, partition)))
    stop = threading.Event()
    listener = threading.Thread(target=members.listen, args=(stop,))
    listener.start()
    members.add(GroupPlan("slow-group", ("slow-topic",), Protocol.RANGE, pace_per_s=10, refill=20, refill_below=5))
    wait_until(lambda: asked)
    stop.set()
    listener.join()
    members.stop()
    assert asked == [("slow-group", "slow-topic", 0)]


def test_member_that_joins_no_group_is_ready_when_the_group_exists(bare_kafka: EmbeddedKafka) -> None:
    """A group without members exists from its first commit on."""
    servers, topic = bare_kafka.bootstrap_servers, "ledger-entries"
    seen, members, stop = Seen(servers), Members(servers, lambda *_: None), threading.Event()
    with Admin(servers) as admin:
        admin.create([TopicPlan(topic, 2)])
    burst(servers, "test", [(topic, 0, 20)])
    listener = threading.Thread(target=members.listen, args=(stop,))
    listener.start()
    members.add(GroupPlan("ledger-group", (topic,), Protocol.ASSIGN))
    wait_until(lambda: not members.waiting(), every_s=0.01)
    committed = seen.committed("ledger-group")
    stop.set()
    listener.join()
    members.stop()
    seen.close()
    assert committed == {(topic, 0): 20}


# Controls


def pid_of(controls: Controls, member: str) -> int:
    return next(m.pid for m in controls.running().members if m.name == member)


def test_killed_member_is_missed_and_replaced(controls: Controls, seen: Seen) -> None:
    pid = pid_of(controls, "order-fulfilment-2")
    assert controls.kill_member("order-fulfilment-2").startswith("order-fulfilment-2 was killed")
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    wait_until(lambda: sorted(map(len, seen.members("order-fulfilment").values())) == [3, 3])
    assert controls.add_member("order-fulfilment").startswith("order-fulfilment-2 is starting")
    wait_until(lambda: sorted(map(len, seen.members("order-fulfilment").values())) == [2, 2, 2])


def test_static_member_that_returns_keeps_its_partitions(controls: Controls, seen: Seen) -> None:
    wait_until(lambda: sorted(map(len, seen.members("payment-settlement").values())) == [2, 2, 2])
    before = seen.members("payment-settlement")
    controls.kill_member("payment-settlement-3")
    controls.add_member("payment-settlement")
    states = {m.name: m.state for m in controls.running().members}
    assert "payment-settlement-3" in states
    wait_until(lambda: "joining" not in {m.state for m in controls.running().members})
    assert seen.members("payment-settlement") == before


@pytest.mark.long
def test_frozen_member_is_put_out_and_returns_when_thawed(controls: Controls, seen: Seen) -> None:
    name = "clickstream-sessions-1"
    controls.freeze_member(name)
    assert psutil.Process(pid_of(controls, name)).status() == psutil.STATUS_STOPPED
    assert {m.name: m.state for m in controls.running().members}[name] == "frozen"
    wait_until(
        lambda: set(seen.members("clickstream-sessions")) == {"clickstream-sessions-2", "clickstream-sessions-3"}
    )
    controls.thaw_member(name)
    wait_until(lambda: name in seen.members("clickstream-sessions"))


@pytest.mark.long
def test_group_that_stops_consuming_stays_and_reads_on_when_resumed(controls: Controls, seen: Seen) -> None:
    group, topic = "order-fulfilment", "orders"
    wait_until(lambda: len(seen.members(group)) == 3)
    controls.stop_consuming(group)
    wait_until(lambda: seen.lag(group, topic) > 100)
    assert len(seen.members(group)) == 3
    controls.resume_consuming(group)
    wait_until(lambda: seen.lag(group, topic) < 60)


def test_burst_lands_in_the_topic(controls: Controls, seen: Seen) -> None:
    before = sum(seen.end("notifications"))
    stated = controls.burst("notifications", 5_000)
    assert stated == "5,000 records were produced to notifications, spread over 4 partitions."
    assert 5_000 <= sum(seen.end("notifications")) - before < 5_200


@pytest.mark.parametrize("end", [Controls.commit_transaction, Controls.abort_transaction])
def test_transaction_holds_the_stable_offset_until_it_ends(
    controls: Controls, seen: Seen, end: Callable[[Controls, str], str]
) -> None:
    controls.open_transaction("payments")
    held = seen.stable("payments")
    wait_until(lambda: all(last > stable for last, stable in zip(seen.end("payments"), held, strict=True)))
    assert seen.stable("payments") == held
    assert controls.running().transactions == ("payments",)
    end(controls, "payments")
    wait_until(lambda: all(now > then for now, then in zip(seen.stable("payments"), held, strict=True)))
    assert controls.running().transactions == ()


def test_deleted_topic_is_gone_and_is_no_longer_fed(controls: Controls, seen: Seen) -> None:
    assert controls.delete_topic("inventory").startswith("inventory is deleted")
    assert "inventory" not in seen.admin.list_topics()
    assert "inventory" not in {topic.name for topic in controls.running().topics}
    with pytest.raises(EmbeddedError, match="no topic inventory"):
        controls.delete_topic("inventory")


def test_new_partitions_are_assigned_and_fed(controls: Controls, seen: Seen) -> None:
    assert controls.add_partitions("product-updates", 2).startswith("product-updates has 6 partitions now")
    wait_until(lambda: all(seen.end("product-updates")))
    new = {("product-updates", 4), ("product-updates", 5)}
    wait_until(lambda: new <= set().union(*seen.members("search-indexer").values()))


@pytest.mark.parametrize(
    ("wish", "stated"),
    [
        (lambda c: c.add_member("transfer-posting"), "no group transfer-posting"),
        (lambda c: c.kill_member("invoice-rendering-1"), "no member invoice-rendering-1"),
        (lambda c: c.thaw_member("email-dispatch-1"), "email-dispatch-1 is not frozen"),
        (lambda c: c.burst("audit-log", 5), "no topic audit-log"),
        (lambda c: c.burst("orders", 0), "A burst has 1 to 200,000 records, not 0"),
        (lambda c: c.commit_transaction("orders"), "The panel has no open transaction on orders"),
        (lambda c: c.add_partitions("orders", 1_000), "orders cannot have 1006 partitions here"),
    ],
)
def test_request_that_makes_no_sense_is_refused(
    controls: Controls, wish: Callable[[Controls], str], stated: str
) -> None:
    with pytest.raises(EmbeddedError, match=stated):
        wish(controls)


def test_controls_travel_through_the_environment(controls: Controls) -> None:
    assert Controls.from_environment(controls.environment) == controls
    assert Controls.from_environment({}) is None
    assert set(controls.environment) == {ENVIRONMENT}


def test_caller_without_the_key_is_turned_away(controls: Controls) -> None:
    with pytest.raises(EmbeddedError, match="does not accept our key"):
        Controls(controls.port, b"guess").running()


# Beginning and end


def test_kafka_with_topics_of_others_is_refused(kafka: EmbeddedKafka) -> None:
    admin = KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)
    admin.create_topics(["somebodys-topic"])
    admin.close()
    with (
        Workload(kafka.bootstrap_servers, kafka.folder) as workload,
        pytest.raises(EmbeddedError, match="needs an empty Kafka"),
    ):
        workload.wait_ready(60)


def test_stop_spares_a_process_that_now_has_the_id_of_a_workload_that_ended_by_itself(tmp_path: Path) -> None:
    with somebody_elses("sleep", "600") as other:
        with Workload("127.0.0.1:1", tmp_path) as workload:
            process = the(subprocess.Popen, workload._process)
            process.kill()
            process.wait()
            process.pid = other.pid
        assert other.poll() is None


def test_workload_without_a_broker_says_so(tmp_path: Path) -> None:
    with Workload("127.0.0.1:1", tmp_path) as workload, pytest.raises(EmbeddedError, match="No broker answers"):
        workload.wait_ready(60)
    assert workload.pid is None


@pytest.mark.long
def test_stopped_workload_leaves_no_process(fresh_kafka: EmbeddedKafka) -> None:
    with Workload(fresh_kafka.bootstrap_servers, fresh_kafka.folder) as workload:
        workload.wait_ready(60)
        workload.controls.freeze_member("email-dispatch-1")
        pids = family(workload.pid)
    assert len(pids) >= 12
    assert alive(pids) == []


def test_workload_dies_with_its_parent(fresh_kafka: EmbeddedKafka) -> None:
    command = [sys.executable, "-c", PARENT, fresh_kafka.bootstrap_servers, str(fresh_kafka.folder)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        assert parent.stdout.readline() == "ready\n"
        pids = family(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(10)
    wait_until(lambda: alive(pids) == [])


@pytest.mark.long
def test_members_die_with_the_workload(fresh_kafka: EmbeddedKafka) -> None:
    with Workload(fresh_kafka.bootstrap_servers, fresh_kafka.folder) as workload:
        workload.wait_ready(60)
        workload.controls.freeze_member("email-dispatch-1")
        pids = family(workload.pid)
        os.kill(pids[0], signal.SIGKILL)
        wait_until(lambda: alive(pids) == [])
        with pytest.raises(EmbeddedError, match="has exited unexpectedly"):
            workload.wait_ready(5)


PARENT = """
import sys, time
from pathlib import Path
from lag.embedded.workload import Workload
workload = Workload(sys.argv[1], Path(sys.argv[2]))
workload.start()
workload.wait_ready(60)
workload.controls.freeze_member("order-fulfilment-1")
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def fresh_kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(properties=BROKER_PROPERTIES) as kafka:
        yield kafka


def family(pid: int | None) -> list[int]:
    leader = psutil.Process(pid)
    return [leader.pid, *(child.pid for child in leader.children(recursive=True))]


def alive(pids: list[int]) -> list[Any]:
    """Those that still run; what has ended but not been reaped does not."""
    found = []
    for pid in pids:
        try:
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
