"""The protocol section: Kafka's defaults, Kafka's refusals, our own assumptions."""

import pytest

from assignors.simulation.classic import Settings as BrokerSettings
from assignors.simulation.settings import Assumptions, ClientSettings, Frozen, Setting, SettingsError, read


def test_without_settings_there_are_kafkas_defaults() -> None:
    settings = read({})
    assert (settings.client, settings.broker, settings.assumed) == (ClientSettings(), BrokerSettings(), Assumptions())
    client = settings.client
    assert (client.session_timeout_ms, client.heartbeat_interval_ms, client.max_poll_interval_ms) == (
        45_000,
        3_000,
        300_000,
    )


def test_settings_are_read_under_kafkas_names_and_others_of_kafka_are_ignored() -> None:
    given: dict[str, Setting] = {
        "session.timeout.ms": 10_000,
        "heartbeat.interval.ms": "2000",
        "group.initial.rebalance.delay.ms": 0,
        "simulated.latency.ms": 25,
        "simulated.freeze": "process",
        "fetch.max.bytes": 1,
        "enable.auto.commit": True,
    }
    settings = read(given)
    assert (settings.client.session_timeout_ms, settings.client.heartbeat_interval_ms) == (10_000, 2_000)
    assert settings.broker.initial_rebalance_delay_ms == 0
    assert (settings.assumed.latency_ms, settings.assumed.freeze) == (25, Frozen.PROCESS)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"session.timeout": 1}, "Kafka has no setting 'session.timeout'. Did you mean 'session.timeout.ms'?"),
        ({"simulated.latncy.ms": 1}, "Did you mean 'simulated.latency.ms'?"),
        ({"session.timeout.ms": 5_999, "heartbeat.interval.ms": 1}, r"INVALID_SESSION_TIMEOUT \(26\)"),
        (
            {"session.timeout.ms": 9_000, "heartbeat.interval.ms": 9_000},
            r"9000 is not below .*\(IllegalArgumentException\)\.$",
        ),
        ({"group.remote.assignor": "uniform"}, r"does not start with it \(ConfigException\)\.$"),
        (
            {"enable.auto.commit": "perhaps"},
            "enable.auto.commit is 'perhaps': Kafka's ConfigException asks for true or",
        ),
        ({"auto.offset.reset": "first"}, "auto.offset.reset is 'first': Kafka's ConfigException asks for latest, earl"),
        ({"simulated.records.per.s": "many"}, "simulated.records.per.s is 'many', not a number"),
        ({"max.poll.interval.ms": 0}, "max.poll.interval.ms is 0: Kafka's ConfigException asks for at least 1"),
        ({"session.timeout.ms": 2**31}, r"'2147483648', not a number of type INT \(ConfigException\)"),
        ({"session.timeout.ms": "soon"}, r"'soon', not a number of type INT \(ConfigException\)"),
        ({"session.timeout.ms": 1.5}, r"'1.5', not a number of type INT"),
        ({"session.timeout.ms": True}, r"'True', not a number of type INT"),
        ({"simulated.latency.ms": -1}, "simulated.latency.ms is -1"),
        ({"group.max.size": 0}, "group.max.size is 0"),
        ({"group.min.session.timeout.ms": 2_000_000}, "INVALID_SESSION_TIMEOUT"),
        ({"group.max.session.timeout.ms": 50_000, "group.min.session.timeout.ms": 60_000}, "SESSION_TIMEOUT"),
        (
            {"group.consumer.session.timeout.ms": 70_000},
            "ConfigException: group.consumer.session.timeout.ms 70000 must",
        ),
        ({"group.consumer.max.size": 0}, "ConfigException: group.consumer.max.size is 0"),
        ({"simulated.freeze": "all"}, "simulated.freeze is 'all'. Write polling or process."),
    ],
)
def test_what_kafka_or_we_refuse(given: dict[str, Setting], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        read(given)


def test_bounds_that_contradict_each_other_are_a_config_exception() -> None:
    given: dict[str, Setting] = {
        "session.timeout.ms": 45_000,
        "group.min.session.timeout.ms": 40_000,
        "group.max.session.timeout.ms": 50_000,
        "simulated.restart.ms": 0,
    }
    assert read(given).broker.min_session_timeout_ms == 40_000


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as refused:
        read({"sesion.timeout.ms": 1, "max.poll.interval.ms": "x", "simulated.freeze": "no"})
    assert len(str(refused.value).splitlines()) == 3
