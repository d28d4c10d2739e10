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
    ("given", "reported"),
    [
        ({"session.timeout": 1}, "Kafka has no setting 'session.timeout'. Did you mean 'session.timeout.ms'?"),
        ({"simulated.latncy.ms": 1}, "Did you mean 'simulated.latency.ms'?"),
        ({"session.timeout.ms": 5_999, "heartbeat.interval.ms": 1}, r"INVALID_SESSION_TIMEOUT \(26\)"),
        (
            {"session.timeout.ms": 9_000, "heartbeat.interval.ms": 9_000},
            r"9000 is not below session.timeout.ms 9000 \(IllegalArgumentException\)",
        ),
        ({"group.remote.assignor": "uniform"}, r"cannot be set with group.protocol=classic \(ConfigException\)"),
        (
            {"enable.auto.commit": "perhaps"},
            "enable.auto.commit is 'perhaps': Kafka throws ConfigException, expecting true or",
        ),
        (
            {"auto.offset.reset": "first"},
            "auto.offset.reset is 'first': Kafka throws ConfigException, expecting latest, earl",
        ),
        (
            {"simulated.records.per.s": "many"},
            "simulated.records.per.s is 'many': the simulator expects a number of type INT, at least 0.",
        ),
        (
            {"max.poll.interval.ms": 0},
            "max.poll.interval.ms is '0': Kafka throws ConfigException, expecting a number of type INT, at least 1",
        ),
        (
            {"session.timeout.ms": 2**31},
            r"'2147483648': Kafka throws ConfigException, expecting a number of type INT\.$",
        ),
        ({"session.timeout.ms": "soon"}, r"'soon': Kafka throws ConfigException, expecting a number of type INT\.$"),
        ({"session.timeout.ms": 1.5}, r"'1.5': Kafka throws ConfigException"),
        ({"session.timeout.ms": True}, r"'True': Kafka throws ConfigException"),
        (
            {"simulated.latency.ms": -1},
            "simulated.latency.ms is '-1': the simulator expects a number of type INT, at least 0",
        ),
        ({"group.max.size": 0}, "group.max.size is '0': Kafka throws ConfigException"),
        ({"group.min.session.timeout.ms": 2_000_000}, "INVALID_SESSION_TIMEOUT"),
        ({"group.max.session.timeout.ms": 50_000, "group.min.session.timeout.ms": 60_000}, "SESSION_TIMEOUT"),
        (
            {"group.consumer.session.timeout.ms": 70_000},
            r"group.consumer.session.timeout.ms 70000 is outside 45000 to 60000 \(IllegalArgumentException\)",
        ),
        ({"group.consumer.max.size": 0}, "group.consumer.max.size is '0': Kafka throws ConfigException"),
        (
            {"max.poll.records": -5},
            "max.poll.records is '-5': Kafka throws ConfigException, expecting a number of type INT, at",
        ),
        (
            {"group.protocol": "foo"},
            "group.protocol is 'foo': Kafka throws ConfigException, expecting consumer or classic",
        ),
        (
            {"isolation.level": "foo"},
            "isolation.level is 'foo': Kafka throws ConfigException, expecting read_committed or read_",
        ),
        ({"auto.offset.reset": "by_duration:x"}, "auto.offset.reset is 'by_duration:x': Kafka throws ConfigException"),
        ({"fetch.min.bytes": "x"}, "fetch.min.bytes is 'x': Kafka throws ConfigException"),
        ({"offsets.retention.minutes": 0}, "offsets.retention.minutes is '0': Kafka throws ConfigException"),
        (
            {"group.consumer.assignment.interval.ms": 20_000},
            r"20000 is outside 0 to 15000 \(IllegalArgumentException\)",
        ),
        ({"simulated.freeze": "all"}, "simulated.freeze is 'all': the simulator expects polling or process."),
    ],
)
def test_what_kafka_or_we_refuse(given: dict[str, Setting], reported: str) -> None:
    with pytest.raises(SettingsError, match=reported):
        read(given)


def test_bounds_that_contradict_each_other_are_a_config_exception() -> None:
    given: dict[str, Setting] = {
        "session.timeout.ms": 45_000,
        "group.min.session.timeout.ms": 40_000,
        "group.max.session.timeout.ms": 50_000,
        "simulated.restart.ms": 0,
    }
    assert read(given).broker.min_session_timeout_ms == 40_000


def test_what_kafka_takes_is_read() -> None:
    given: dict[str, Setting] = {
        "metadata.max.age.ms": 3_000_000_000,
        "retry.backoff.max.ms": "3000000000",
        "auto.offset.reset": " by_duration:PT1H",
        "enable.auto.commit": "FALSE",
    }
    client = read(given).client
    assert (client.metadata_max_age_ms, client.retry_backoff_max_ms) == (3_000_000_000, 3_000_000_000)
    assert (client.auto_offset_reset, client.enable_auto_commit) == ("by_duration:PT1H", False)


def test_a_heartbeat_without_pause_is_played_as_one_each_millisecond_and_no_delay_is_below_zero() -> None:
    settings = read({"heartbeat.interval.ms": 0, "group.initial.rebalance.delay.ms": -1})
    assert (settings.client.heartbeat_interval_ms, settings.broker.initial_rebalance_delay_ms) == (1, 0)


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(SettingsError) as refused:
        read({"sesion.timeout.ms": 1, "max.poll.interval.ms": "x", "simulated.freeze": "no"})
    assert len(str(refused.value).splitlines()) == 3
