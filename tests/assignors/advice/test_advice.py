"""Each rule where it begins to speak, and just before."""

import pytest

from assignors.advice import Severity, Workload, advise_broker, advise_client, advise_group

COOPERATIVE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
E, W = Severity.ERROR, Severity.WARNING
Found = list[tuple[str, Severity, str | None]]


@pytest.mark.parametrize(
    ("properties", "workload", "expected"),
    [
        ({}, Workload(), []),
        ({"heartbeat.interval.ms": "15000"}, Workload(), []),
        ({"heartbeat.interval.ms": "15001"}, Workload(), [("heartbeat.interval.ms", W, "15000")]),
        ({"heartbeat.interval.ms": "45000"}, Workload(), [("heartbeat.interval.ms", E, "15000")]),
        ({"session.timeout.ms": "6000", "heartbeat.interval.ms": "2000"}, Workload(), []),
        (
            {"session.timeout.ms": "5999", "heartbeat.interval.ms": "1000"},
            Workload(),
            [("session.timeout.ms", E, "6000")],
        ),
        ({"session.timeout.ms": "300001"}, Workload(), [("session.timeout.ms", W, "45000")]),
        ({"session.timeout.ms": "soon"}, Workload(), [("session.timeout.ms", E, "45000")]),
        ({"group.remote.assignor": "uniform"}, Workload(), [("group.remote.assignor", E, None)]),
        ({"enable.auto.commit": "true"}, Workload(), [("enable.auto.commit", E, "false")]),
        ({"enable.auto.commit": "true", "group.id": "g"}, Workload(), []),
        ({"group.id": "g"}, Workload(async_workers=True), [("enable.auto.commit", W, "false")]),
        ({}, Workload(record_p99_ms=300), []),
        ({}, Workload(record_p99_ms=600), [("max.poll.records", W, "250")]),
        ({"group.instance.id": "pod-1"}, Workload(restart_ms=45_000), []),
        ({"group.instance.id": "pod-1"}, Workload(restart_ms=60_000), [("session.timeout.ms", W, "63000")]),
        ({}, Workload(gc_pause_ms=42_000), [("session.timeout.ms", W, "45000")]),
        ({}, Workload(grows=True), [("auto.offset.reset", W, "earliest")]),
        ({"auto.offset.reset": "earliest"}, Workload(grows=True), []),
        ({"sesion.timeout.ms": "9000"}, Workload(), [("sesion.timeout.ms", W, "session.timeout.ms")]),
        ({"zzz": "1"}, Workload(), [("zzz", W, None)]),
    ],
)
def test_cooperative_consumer_is_advised(properties: dict[str, str], workload: Workload, expected: Found) -> None:
    found = advise_client({**COOPERATIVE, **properties}, workload)
    assert [(finding.key, finding.severity, finding.better) for finding in found] == expected


def test_defaults_list_two_assignors_and_so_stay_eager() -> None:
    (found,) = advise_client({})
    assert (found.key, found.severity) == ("partition.assignment.strategy", W)
    assert found.reason == (
        "RangeAssignor and CooperativeStickyAssignor are listed, so the group stays eager: "
        "every rebalance stops all members."
    )
    assert found.better == COOPERATIVE["partition.assignment.strategy"]


def test_kip_848_consumer_cannot_bring_settings_of_the_classic_protocol() -> None:
    properties = {"group.protocol": "consumer", "session.timeout.ms": "1", "heartbeat.interval.ms": "1", **COOPERATIVE}
    found = advise_client(properties)
    assert [(finding.key, finding.severity) for finding in found] == [
        ("session.timeout.ms", E),
        ("heartbeat.interval.ms", E),
        ("partition.assignment.strategy", E),
    ]


def test_brokers_own_bounds_count_for_the_session() -> None:
    strict = {"group.max.session.timeout.ms": "30000"}
    (found,) = advise_client(COOPERATIVE, broker=strict)
    assert found.reason == (
        "session.timeout.ms 45000 is outside the broker's 6000 to 30000: INVALID_SESSION_TIMEOUT (26), fatal."
    )
    assert found.better == "30000"


@pytest.mark.parametrize(
    ("properties", "members", "expected"),
    [
        ({}, 10, []),
        ({"group.initial.rebalance.delay.ms": "0"}, None, []),
        ({"group.initial.rebalance.delay.ms": "0"}, 2, [("group.initial.rebalance.delay.ms", W, "3000")]),
        ({"offsets.topic.replication.factor": "1"}, None, [("offsets.topic.replication.factor", W, "3")]),
        (
            {"group.consumer.session.timeout.ms": "61000"},
            None,
            [("group.consumer.session.timeout.ms", E, "60000")],
        ),
        (
            {"group.consumer.heartbeat.interval.ms": "45000", "group.consumer.max.heartbeat.interval.ms": "45000"},
            None,
            [("group.consumer.heartbeat.interval.ms", E, "5000")],
        ),
        ({"group.consumer.asignors": "uniform"}, None, [("group.consumer.asignors", W, "group.consumer.assignors")]),
        ({"log.dirs": "/data"}, None, []),
    ],
)
def test_coordinator_is_advised(properties: dict[str, str], members: int | None, expected: Found) -> None:
    found = advise_broker(properties, Workload(members=members))
    assert [(finding.key, finding.severity, finding.better) for finding in found] == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {}, []),
        ({"session.timeout.ms": "9000"}, {}, [("session.timeout.ms", W)]),
        ({"group.instance.id": "pod-1"}, {"group.instance.id": "pod-1"}, [("group.instance.id", E)]),
        ({"group.instance.id": "pod-1"}, {"group.instance.id": "pod-2"}, []),
        (
            {"partition.assignment.strategy": "a"},
            {"partition.assignment.strategy": "b, c"},
            [("partition.assignment.strategy", E), ("partition.assignment.strategy", W)],
        ),
    ],
)
def test_members_that_do_not_go_together(
    one: dict[str, str], other: dict[str, str], expected: list[tuple[str, Severity]]
) -> None:
    found = advise_group({"c1": one, "c2": other}, partitions=2)
    assert [(finding.key, finding.severity) for finding in found] == expected


def test_more_members_than_partitions_stay_idle() -> None:
    (found,) = advise_group({"c1": {}, "c2": {}, "c3": {}}, partitions=2)
    assert (found.reason, found.better) == ("3 members share 2 partitions: 1 stay idle.", "2")


STATIC = {"group.instance.id": "pod-1"}
LATEST = {"auto.offset.reset": "latest"}
RETENTION_MS = 10_080 * 60_000


@pytest.mark.parametrize(
    ("properties", "workload", "expected"),
    [
        ({"group.id": "g"}, Workload(closes_in_finally=True), [("enable.auto.commit", W, "false")]),
        ({"group.id": "g", "enable.auto.commit": "false"}, Workload(closes_in_finally=True), []),
        (STATIC, Workload(tolerated_outage_ms=45_000), []),
        (STATIC, Workload(tolerated_outage_ms=44_999), [("session.timeout.ms", W, "44999")]),
        ({}, Workload(tolerated_outage_ms=1), []),
        (LATEST, Workload(planned_outage_ms=RETENTION_MS), []),
        (LATEST, Workload(planned_outage_ms=RETENTION_MS + 1), [("auto.offset.reset", W, "earliest")]),
        ({}, Workload(planned_outage_ms=RETENTION_MS + 1), [("auto.offset.reset", W, "earliest")]),
        ({"auto.offset.reset": "earliest"}, Workload(planned_outage_ms=RETENTION_MS + 1), []),
        ({}, Workload(batch_ms=150_000), []),
        ({}, Workload(batch_ms=150_001), [("max.poll.interval.ms", W, "300002")]),
        ({"max.poll.interval.ms": "0"}, Workload(), [("max.poll.interval.ms", E, "300000")]),
        ({"auto.offset.reset": "foo"}, Workload(), [("auto.offset.reset", E, "latest")]),
        ({"group.protocol": "kip848"}, Workload(), [("group.protocol", E, "classic")]),
    ],
)
def test_what_is_known_of_the_work_is_held_against_the_settings(
    properties: dict[str, str], workload: Workload, expected: Found
) -> None:
    found = advise_client({**COOPERATIVE, **properties}, workload)
    assert [(finding.key, finding.severity, finding.better) for finding in found] == expected


def test_brokers_retention_counts_for_a_planned_outage() -> None:
    (found,) = advise_client(COOPERATIVE, Workload(planned_outage_ms=60_001), {"offsets.retention.minutes": "1"})
    assert found.reason == (
        "An outage of 60001 ms outlives the group's offsets (offsets.retention.minutes 1): records written meanwhile "
        "are skipped."
    )


def test_under_kip_848_the_brokers_session_counts_for_static_members() -> None:
    workload = Workload(restart_ms=60_000, tolerated_outage_ms=30_000)
    found = advise_client({"group.protocol": "consumer", **STATIC}, workload)
    assert [(its.key, its.severity, its.better) for its in found] == [
        ("group.consumer.session.timeout.ms", W, "63000"),
        ("group.consumer.session.timeout.ms", W, "30000"),
    ]


def test_a_number_is_repeated_with_the_allowed_range_and_a_word_is_not() -> None:
    found = advise_client({**COOPERATIVE, "max.poll.records": "-5", "isolation.level": "hunter2"})
    assert [its.reason for its in found] == [
        "max.poll.records is -5: Kafka throws ConfigException, expecting a number of type INT, at least 1.",
        "The value of isolation.level is refused: Kafka throws ConfigException, expecting read_committed or "
        "read_uncommitted.",
    ]


@pytest.mark.parametrize(
    ("properties", "workload", "expected"),
    [
        ({}, Workload(acks_all=True), [("min.insync.replicas", W, "2")]),
        ({"min.insync.replicas": "1"}, Workload(acks_all=True), [("min.insync.replicas", W, "2")]),
        ({"min.insync.replicas": "2"}, Workload(acks_all=True), []),
        ({"min.insync.replicas": "1"}, Workload(), []),
        ({"min.insync.replicas": "0"}, Workload(), [("min.insync.replicas", E, "1")]),
        (
            {"group.min.session.timeout.ms": "9000", "group.max.session.timeout.ms": "8000"},
            Workload(),
            [("group.max.session.timeout.ms", W, "1800000")],
        ),
        (
            {"group.initial.rebalance.delay.ms": "-1"},
            Workload(members=2),
            [("group.initial.rebalance.delay.ms", W, "3000")],
        ),
        (
            {"group.consumer.max.session.timeout.ms": "30000"},
            Workload(),
            [("group.consumer.max.session.timeout.ms", E, "45000")],
        ),
    ],
)
def test_what_stands_behind_a_broker_is_held_against_its_settings(
    properties: dict[str, str], workload: Workload, expected: Found
) -> None:
    found = advise_broker(properties, workload)
    assert [(finding.key, finding.severity, finding.better) for finding in found] == expected
