"""Names and defaults equal those of Kafka's own classes."""

from typing import Any

import jpype  # type: ignore[import-untyped]
import pytest

from assignors.simulation.advice import Severity, broker, client, names
from tests.support.java import start_jvm


@pytest.fixture(scope="module", autouse=True)
def _jvm() -> None:
    start_jvm()


def test_consumer_settings_are_those_of_consumer_config() -> None:
    config = jpype.JClass("org.apache.kafka.clients.consumer.ConsumerConfig")
    assert {str(name) for name in config.configNames()} == names.CONSUMER
    defaults = config.configDef().defaultValues()
    assert {key: int(defaults[key]) for key in client.DEFAULTS} == client.DEFAULTS


def test_coordinator_settings_are_those_of_group_coordinator_config() -> None:
    config = jpype.JClass("org.apache.kafka.coordinator.group.GroupCoordinatorConfig").CONFIG_DEF
    assert {str(name) for name in config.names()} == names.COORDINATOR
    defaults = config.defaultValues()
    assert {key: int(defaults[key]) for key in broker.DEFAULTS} == broker.DEFAULTS


def refused(properties: dict[str, str]) -> str | None:
    """What Kafka's own consumer says to the properties when it is made; None: it starts."""
    types = jpype.JClass("org.apache.kafka.common.serialization.StringDeserializer")
    settings: Any = jpype.JClass("java.util.Properties")()
    for key, value in {"bootstrap.servers": "127.0.0.1:1", **properties}.items():
        settings.put(key, value)
    try:
        jpype.JClass("org.apache.kafka.clients.consumer.KafkaConsumer")(settings, types(), types()).close()
    except jpype.JException as error:
        return f"{error.getMessage()} {error.getCause()}"
    return None


@pytest.mark.parametrize(
    "properties",
    [
        {"heartbeat.interval.ms": "45000"},
        {"session.timeout.ms": "soon"},
        {"group.remote.assignor": "uniform"},
        {"group.protocol": "consumer", "session.timeout.ms": "50000"},
        {"group.protocol": "consumer", "heartbeat.interval.ms": "1000"},
        {"group.protocol": "consumer", "partition.assignment.strategy": "range"},
    ],
)
def test_what_is_called_an_error_stops_kafkas_own_consumer(properties: dict[str, str]) -> None:
    own = {"group.id": "g", **properties}
    key = list(properties)[-1]
    assert [finding.key for finding in client.advise_client(own) if finding.severity is Severity.ERROR] == [key]
    assert refused(own) is not None


def test_auto_commit_without_a_group_stops_kafkas_own_consumer() -> None:
    assert refused({"enable.auto.commit": "true"}) is not None
    assert refused({"enable.auto.commit": "false"}) is None


def test_warnings_do_not_stop_kafkas_own_consumer() -> None:
    assert refused({"group.id": "g", "heartbeat.interval.ms": "44999", "zzz": "1"}) is None
