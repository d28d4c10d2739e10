"""Brokers that die, freeze, or hand over what they lead."""

import pytest
from kafka import KafkaAdminClient

from tests.lag.pipeline.broker_side import commit
from tests.reliability.bench import WELL_WITHIN_S, Bench, Fault, anything, incomplete, nothing
from tests.reliability.brokers import NODES
from tests.reliability.dashboard import Look
from tests.reliability.workload import LONELY_NODE, MOVED, STUCK, create, fill
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]


def coordinator(bench: Bench) -> int:
    """The broker that the dashboard asks about `stuck`."""
    return int(bench.dashboard.looks[-1].groups[STUCK]["coordinator"])


def test_broker_killed(bench: Bench) -> None:
    bench.settled()
    one = bench.cluster.broker(coordinator(bench))
    bench.row(
        Fault(
            "Broker killed", "SIGKILL of a group's coordinator; later started again", one.kill, one.restart, incomplete
        )
    )


def test_broker_frozen(bench: Bench) -> None:
    bench.settled()
    one = bench.cluster.broker(coordinator(bench))
    bench.row(
        Fault("Broker frozen", "SIGSTOP of a group's coordinator, later SIGCONT", one.pause, one.resume, incomplete)
    )


def test_controller_killed(bench: Bench) -> None:
    bench.settled()
    one = bench.cluster.broker(bench.cluster.controller())
    made = "SIGKILL of the active controller; later started again"
    bench.row(Fault("Controller killed", made, one.kill, one.restart, incomplete))


def test_coordinator_moved(bench: Bench) -> None:
    before = bench.settled() and coordinator(bench)

    def moved(look: Look) -> bool:
        return STUCK in look.groups and look.groups[STUCK]["coordinator"] != before

    made = "another leader for every partition of `__consumer_offsets`"
    bench.row(Fault("Coordinator moved", made, bench.cluster.move_offsets, nothing, moved))


def test_rolling_restart(bench: Bench) -> None:
    def restart_all() -> None:
        for node in NODES:
            bench.cluster.stop(node)
            bench.cluster.broker(node).restart()
            wait_until(bench.truth.groups, WELL_WITHIN_S)

    made = "each broker in turn: controlled shutdown, start, until all groups are well"
    bench.row(Fault("Rolling restart", made, restart_all, nothing, anything, 1))


def test_topic_deleted_and_created_again(bench: Bench) -> None:
    cluster = bench.cluster

    def delete() -> None:
        with KafkaAdminClient(bootstrap_servers=cluster.servers) as admin:
            admin.delete_topics(["recreated"])

    def create_again() -> None:
        create(cluster.servers, "recreated", 1)
        fill(cluster.servers, "recreated", 1, 20)
        commit(cluster.servers, MOVED, {("recreated", 0): 5})

    def gone(look: Look) -> bool:
        return MOVED in look.groups and look.groups[MOVED]["lag"] != 20

    made = "with a group's offsets in it; created again, and the group commits"
    bench.row(Fault("Topic deleted and created again", made, delete, create_again, gone))


def test_partition_without_leader(bench: Bench) -> None:
    one = bench.cluster.broker(LONELY_NODE)

    def leaderless(look: Look) -> bool:
        return any("leader" in cause for cause in look.problems)

    made = "its only replica is on a broker that is killed"
    bench.row(Fault("Partition without leader", made, one.kill, one.restart, leaderless))
