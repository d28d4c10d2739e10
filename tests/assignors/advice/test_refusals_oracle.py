"""What is called an error, and only that, stops Kafka's own consumer or coordinator with the error that is named."""

from collections.abc import Mapping
from typing import Any

import jpype
import pytest

from assignors.advice import Finding, Severity, advise_broker, advise_client
from assignors.advice.config_def import Definition, Type
from assignors.advice.config_table import REPLICATION
from tests.support.java import start_jvm

CONSUMER = {"group.protocol": "consumer"}


@pytest.fixture(scope="module", autouse=True)
def _jvm() -> None:
    start_jvm()


def java_properties(properties: Mapping[str, str]) -> Any:
    made: Any = jpype.JClass("java.util.Properties")()
    for key, value in properties.items():
        made.put(key, value)
    return made


def thrown_by(error: Any) -> str:
    """Its class; that of its cause where Kafka wraps it."""
    inner = error.getCause() if error.getClass().getSimpleName() == "KafkaException" else None
    return str((inner or error).getClass().getSimpleName())


def refused_by_consumer(properties: Mapping[str, str]) -> str | None:
    """The class of what Kafka's own consumer throws when it is made; None: it starts."""
    types = jpype.JClass("org.apache.kafka.common.serialization.StringDeserializer")
    settings = java_properties({"bootstrap.servers": "127.0.0.1:1", **properties})
    try:
        jpype.JClass("org.apache.kafka.clients.consumer.KafkaConsumer")(settings, types(), types()).close()
    except jpype.JException as error:
        return thrown_by(error)
    return None


def refused_by_coordinator(properties: Mapping[str, str]) -> str | None:
    config = jpype.JClass("org.apache.kafka.coordinator.group.GroupCoordinatorConfig")
    parsed = jpype.JClass("org.apache.kafka.common.config.AbstractConfig")
    try:
        config(parsed(config.CONFIG_DEF, java_properties(properties), False))
    except jpype.JException as error:
        return thrown_by(error)
    return None


def errors(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"max.poll.records": "0"}, "ConfigException"),
        ({"max.poll.records": "-5"}, "ConfigException"),
        ({"auto.offset.reset": "foo"}, "ConfigException"),
        ({"auto.offset.reset": "by_duration:x"}, "ConfigException"),
        ({"enable.auto.commit": "maybe"}, "ConfigException"),
        ({"group.protocol": "kip848"}, "ConfigException"),
        ({"isolation.level": "foo"}, "ConfigException"),
        ({"auto.commit.interval.ms": "-1"}, "ConfigException"),
        ({"retry.backoff.ms": "-4"}, "ConfigException"),
        ({"fetch.min.bytes": "lots"}, "ConfigException"),
        ({"max.poll.interval.ms": "0"}, "ConfigException"),
        ({"session.timeout.ms": "soon"}, "ConfigException"),
        ({"session.timeout.ms": "2147483648"}, "ConfigException"),
        ({"group.instance.id": ""}, "ConfigException"),
        ({"group.instance.id": "pod 1"}, "InvalidConfigurationException"),
        ({"group.instance.id": ".."}, "InvalidConfigurationException"),
        ({"group.instance.id": "x" * 250}, "InvalidConfigurationException"),
        ({"group.id": ""}, "InvalidGroupIdException"),
        ({"enable.auto.commit": "true", "group.id": " "}, "InvalidGroupIdException"),
        ({"heartbeat.interval.ms": "45000"}, "IllegalArgumentException"),
        ({"heartbeat.interval.ms": "-1"}, "IllegalArgumentException"),
        ({"group.remote.assignor": "uniform"}, "ConfigException"),
        ({"share.acquire.mode": "record_limit"}, "ConfigException"),
        ({**CONSUMER, "share.acknowledgement.mode": "explicit"}, "ConfigException"),
        ({**CONSUMER, "session.timeout.ms": "50000"}, "ConfigException"),
        ({**CONSUMER, "heartbeat.interval.ms": "1000"}, "ConfigException"),
        ({**CONSUMER, "partition.assignment.strategy": "range"}, "ConfigException"),
    ],
)
def test_what_is_called_an_error_stops_kafkas_own_consumer(properties: dict[str, str], error: str) -> None:
    own = {"group.id": "g", **properties}
    (found,) = errors(advise_client(own))
    assert (found.key, error in found.reason) == (list(properties)[-1], True)
    assert refused_by_consumer(own) == error


def test_auto_commit_without_a_group_stops_kafkas_own_consumer() -> None:
    (found,) = errors(advise_client({"enable.auto.commit": "true"}))
    assert "InvalidConfigurationException" in found.reason
    assert refused_by_consumer({"enable.auto.commit": "true"}) == "InvalidConfigurationException"
    assert refused_by_consumer({"enable.auto.commit": "false"}) is None


@pytest.mark.parametrize(
    "properties",
    [
        {"heartbeat.interval.ms": "44999", "zzz": "1"},
        {"heartbeat.interval.ms": "0"},
        {"metadata.max.age.ms": "3000000000"},
        {"retry.backoff.ms": "3000000000"},
        {"auto.offset.reset": " by_duration:PT1H"},
        {"enable.auto.commit": " TRUE "},
        {"group.protocol": "Classic"},
        {"group.remote.assignor": " "},
        {"group.instance.id": "x" * 249},
        {"group.instance.id": "..."},
        {**CONSUMER, "group.remote.assignor": "uniform"},
    ],
)
def test_what_kafkas_own_consumer_takes_is_no_error(properties: dict[str, str]) -> None:
    own = {"group.id": "g", **properties}
    assert (errors(advise_client(own)), refused_by_consumer(own)) == ([], None)


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"group.max.size": "0"}, "ConfigException"),
        ({"offsets.retention.minutes": "0"}, "ConfigException"),
        ({"offsets.topic.replication.factor": "40000"}, "ConfigException"),
        ({"group.consumer.migration.policy": "x"}, "ConfigException"),
        ({"group.coordinator.rebalance.protocols": "classic,"}, "ConfigException"),
        ({"group.consumer.assignors": ""}, "ConfigException"),
        ({"group.consumer.assignment.interval.ms": "20000"}, "IllegalArgumentException"),
        ({"group.consumer.session.timeout.ms": "70000"}, "IllegalArgumentException"),
        ({"group.share.session.timeout.ms": "44999"}, "IllegalArgumentException"),
        ({"group.streams.heartbeat.interval.ms": "20000"}, "IllegalArgumentException"),
        ({"group.consumer.max.session.timeout.ms": "30000"}, "IllegalArgumentException"),
        (
            {"group.share.max.heartbeat.interval.ms": "60000", "group.share.heartbeat.interval.ms": "45000"},
            "IllegalArgumentException",
        ),
        ({"group.streams.num.standby.replicas": "3"}, "IllegalArgumentException"),
        (
            {"group.share.assignors": "simple,org.apache.kafka.coordinator.group.assignor.SimpleAssignor"},
            "IllegalArgumentException",
        ),
        ({"offsets.topic.compression.codec": "5"}, "IllegalArgumentException"),
    ],
)
def test_what_is_called_an_error_stops_kafkas_own_coordinator(properties: dict[str, str], error: str) -> None:
    (found,) = errors(advise_broker(properties))
    assert (found.key, error in found.reason) == (list(properties)[-1], True)
    assert refused_by_coordinator(properties) == error


@pytest.mark.parametrize(
    "properties",
    [
        {"group.min.session.timeout.ms": "9000", "group.max.session.timeout.ms": "8000"},
        {"group.initial.rebalance.delay.ms": "-1"},
        {"group.consumer.assignment.interval.ms": "15000"},
        {"offsets.topic.compression.codec": "4"},
        {"group.share.max.size": "1000"},
    ],
)
def test_what_kafkas_own_coordinator_takes_is_no_error(properties: dict[str, str]) -> None:
    assert (errors(advise_broker(properties)), refused_by_coordinator(properties)) == ([], None)


def test_in_sync_replicas_are_defined_as_kafka_defines_them() -> None:
    key = jpype.JClass("org.apache.kafka.server.config.AbstractKafkaConfig").CONFIG_DEF.configKeys()[
        "min.insync.replicas"
    ]
    assert (str(key.type()), str(key.validator)) == ("INT", "[1,...]")
    expected = Definition(Type.INT, int(key.defaultValue), least=1)
    assert expected == REPLICATION["min.insync.replicas"]
