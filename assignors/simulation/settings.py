"""The settings of a simulated group: Kafka's own, and the simulator's assumptions.

Defaults of Kafka 4.3.1 (ConsumerConfig, GroupCoordinatorConfig). Kafka's other settings have no effect.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from assignors.advice import Severity, advise_broker, advise_client
from assignors.advice.config_def import Definition, Type
from assignors.advice.config_table import CONSUMER, COORDINATOR
from assignors.simulation.classic import Settings as BrokerSettings
from assignors.simulation.consumer import Settings as Kip848Settings
from assignors.spelling import shown, suggestion

MOST_INT = 2**31 - 1
Setting = str | int | float | bool


class SettingsError(ValueError):
    """Settings that Kafka or the simulator refuses, one per line."""


class Frozen(StrEnum):
    """What stops when a member freezes: its poll loop (long processing), or its process (GC pause, SIGSTOP)."""

    POLLING = "polling"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of all consumers; times in milliseconds."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    metadata_max_age_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    auto_commit_interval_ms: int = 5_000
    enable_auto_commit: bool = True
    auto_offset_reset: str = "latest"


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What Kafka has no setting for.

    `latency_ms`: a message, one way. `append_ms`: until a record of the coordinator is replicated. `plan_ms`: the
    leader's assignor. `load_ms`: a new coordinator loads its groups. `processing_ms`: from one poll to the next while a
    member has partitions (0: it waits in poll). `restart_ms`: from the end of a process to the start of the next.
    `records_per_s`: into each partition without a rate in the scenario.

    `heartbeat_spread_ms`: a member's first heartbeat after a join or an acknowledgement comes up to this much earlier
    than the heartbeat interval, at random; at most the whole interval. It stands for what separates the heartbeats of
    real members: their starts, the waits of their threads, their pauses.
    """

    latency_ms: int = 1
    append_ms: int = 5
    plan_ms: int = 1
    load_ms: int = 500
    processing_ms: int = 0
    restart_ms: int = 5_000
    records_per_s: int = 10
    heartbeat_spread_ms: int = MOST_INT
    freeze: Frozen = Frozen.POLLING


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a simulation."""

    client: ClientSettings
    broker: BrokerSettings
    kip848: Kip848Settings
    assumed: Assumptions


PREFIX = "simulated."
_FREEZE = f"{PREFIX}freeze"
_ASSUMED = {f"{PREFIX}{field.name.replace('_', '.')}": Definition(Type.INT, least=0) for field in fields(Assumptions)}
_ASSUMED |= {_FREEZE: Definition(Type.STRING, words=tuple(Frozen))}
"""Our own settings."""
_KIP848 = ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms", "max_size")
KNOWN: Mapping[str, Definition] = {**CONSUMER, **COORDINATOR, **_ASSUMED}
_LEAST_SIMULATED = {"heartbeat.interval.ms": 1, "group.initial.rebalance.delay.ms": 0}
"""Kafka accepts less: heartbeats without a pause, or no delay."""


def read(given: Mapping[str, Setting]) -> Settings:
    """The settings of a scenario's `protocol` section.

    Raises SettingsError where Kafka refuses a value, with the name of Kafka's error, and on names that neither Kafka
    nor the simulator knows.
    """
    texts = {name: str(value) for name, value in given.items()}
    problems = [*_unknown(texts), *_wrong(texts)]
    problems += [] if problems else _refused(texts)
    if problems:
        raise SettingsError("\n".join(problems))
    return Settings(
        ClientSettings(**_read(_names(ClientSettings), "", texts)),
        BrokerSettings(**_read(_names(BrokerSettings), "group.", texts)),
        Kip848Settings(**_read(_KIP848, "group.consumer.", texts)),
        Assumptions(**_read(_names(Assumptions), PREFIX, texts)),
    )


def _names(kind: type[ClientSettings | BrokerSettings | Assumptions]) -> list[str]:
    return [field.name for field in fields(kind)]


def _read(names: Iterable[str], prefix: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The fields that are given: `max_size` as `group.max.size`."""
    settings = {name: prefix + name.replace("_", ".") for name in names}
    return {name: _value(setting, texts[setting]) for name, setting in settings.items() if setting in texts}


def _value(name: str, text: str) -> Setting:
    match KNOWN[name].type:
        case Type.BOOLEAN:
            return text.strip().lower() == "true"
        case Type.STRING:
            return Frozen(text.strip()) if name == _FREEZE else text.strip()
    return max(KNOWN[name].whole(text) or 0, _LEAST_SIMULATED.get(name, 0))


def _unknown(given: Iterable[str]) -> list[str]:
    names = sorted(KNOWN)
    return [f"Kafka has no setting {shown(name)!r}.{suggestion(name, names)}" for name in given if name not in KNOWN]


def _wrong(given: Mapping[str, str]) -> list[str]:
    """Values that are wrong on their own."""
    problems = []
    for name, text in given.items():
        if name in KNOWN and not KNOWN[name].takes(text):
            asks = "the simulator expects" if name in _ASSUMED else "Kafka throws ConfigException, expecting"
            problems.append(f"{name} is {text.strip()[:40]!r}: {asks} {KNOWN[name].asked}.")
    return problems


def _refused(given: Mapping[str, str]) -> list[str]:
    """Combinations of valid values that Kafka's classes refuse."""
    broker = {name: text for name, text in given.items() if name in COORDINATOR}
    client = {name: text for name, text in given.items() if name in CONSUMER}
    found = [*advise_broker(broker), *advise_client({"group.id": "simulated"} | client, broker=broker)]
    return [finding.reason for finding in found if finding.severity is Severity.ERROR]
