"""The settings of a simulated group: Kafka's own, under Kafka's names, and what the simulator has to assume.

Defaults of Kafka 4.3.1 (ConsumerConfig, GroupCoordinatorConfig). Kafka's settings that play no part here are ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from assignors.simulation.advice import Finding, Severity, advise_client, names
from assignors.simulation.classic import Settings as BrokerSettings
from assignors.simulation.consumer import Settings as Kip848Settings

Setting = str | int | float | bool

MOST_INT = 2**31 - 1


class SettingsError(ValueError):
    """Settings that Kafka, or the simulator, refuses; a line for each."""


class Frozen(StrEnum):
    """What stops when a member freezes: its poll loop (work that takes too long), or all of it (GC pause, SIGSTOP)."""

    POLLING = "polling"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Of every consumer; times in milliseconds."""

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
    """What no setting of Kafka says, in milliseconds.

    `latency_ms` of a message, one way; `append_ms` until a record of the coordinator is replicated; `plan_ms` for the
    leader to plan; `load_ms` for a coordinator to load its groups; `processing_ms` from one poll to the next while a
    member has partitions (0: it waits in poll); `restart_ms` from the end of a process to the start of the next;
    `records_per_s` come into each partition whose rate the scenario does not say.
    """

    latency_ms: int = 1
    append_ms: int = 5
    plan_ms: int = 1
    load_ms: int = 500
    processing_ms: int = 0
    restart_ms: int = 5_000
    records_per_s: int = 10
    freeze: Frozen = Frozen.POLLING


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a run needs beside its scenario."""

    client: ClientSettings
    broker: BrokerSettings
    kip848: Kip848Settings
    assumed: Assumptions


_CLIENT = {
    "session.timeout.ms": "session_timeout_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
    "retry.backoff.ms": "retry_backoff_ms",
    "retry.backoff.max.ms": "retry_backoff_max_ms",
    "auto.commit.interval.ms": "auto_commit_interval_ms",
}
_AUTO_COMMIT, _RESET = "enable.auto.commit", "auto.offset.reset"
_BROKER = {
    "group.min.session.timeout.ms": "min_session_timeout_ms",
    "group.max.session.timeout.ms": "max_session_timeout_ms",
    "group.initial.rebalance.delay.ms": "initial_rebalance_delay_ms",
    "group.max.size": "max_size",
}
_KIP848 = {
    f"group.consumer.{side}{name}.ms": f"{side}{name}_ms".replace(".", "_")
    for side in ("", "min.", "max.")
    for name in ("session.timeout", "heartbeat.interval", "assignment.interval")
} | {"group.consumer.max.size": "max_size"}
_WORDS = {_AUTO_COMMIT: "true", _RESET: "latest"}
_RESETS = ("latest", "earliest", "none", "by_duration:<ISO-8601>")
PREFIX = "simulated."
_ASSUMED = {
    f"{PREFIX}{name}": name.replace(".", "_")
    for name in ("latency.ms", "append.ms", "plan.ms", "load.ms", "processing.ms", "restart.ms", "records.per.s")
}
_FREEZE = f"{PREFIX}freeze"
SIMULATED = (*_ASSUMED, _FREEZE)
"""The names of our own settings."""
_AT_LEAST_ONE = ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "group.max.size")


def read(given: Mapping[str, Setting]) -> Settings:
    """The settings of a scenario's `protocol` section.

    Raises SettingsError where Kafka refuses a value, with the name of Kafka's error, and on names that neither Kafka
    nor the simulator knows.
    """
    problems = [*_unknown(given)]
    numbers = {name: _number(name, given[name], problems) for name in _numeric() if name in given}
    problems += [] if problems else _refused(given)
    freeze = str(given.get(_FREEZE, Frozen.POLLING))
    if freeze not in tuple(Frozen):
        problems.append(f"{_FREEZE} is {freeze!r}. Write {' or '.join(Frozen)}.")
    commits, reset = (str(given.get(name, usual)).strip().lower() for name, usual in _WORDS.items())
    if commits not in ("true", "false"):
        problems.append(f"{_AUTO_COMMIT} is {commits[:40]!r}: Kafka's ConfigException asks for true or false.")
    if reset not in _RESETS and not reset.startswith("by_duration:"):
        problems.append(f"{_RESET} is {reset[:40]!r}: Kafka's ConfigException asks for {', '.join(_RESETS)}.")
    if problems:
        raise SettingsError("\n".join(problems))
    try:
        broker = BrokerSettings(**_fields(_BROKER, numbers))
        kip848 = _kip848(numbers)
    except ValueError as error:
        raise SettingsError(f"ConfigException: {error}.") from None
    said: dict[str, Any] = {**_fields(_CLIENT, numbers), "enable_auto_commit": commits == "true"}
    client = ClientSettings(**said, auto_offset_reset=reset)
    return Settings(client, broker, kip848, Assumptions(**_fields(_ASSUMED, numbers), freeze=Frozen(freeze)))


def _kip848(numbers: Mapping[str, int]) -> Kip848Settings:
    given: dict[str, Any] = {**_fields(_KIP848, numbers)}
    return Kip848Settings(**given)


def _numeric() -> dict[str, str]:
    return _CLIENT | _BROKER | _KIP848 | _ASSUMED


def _fields(names_of: Mapping[str, str], numbers: Mapping[str, int]) -> dict[str, int]:
    return {field: numbers[name] for name, field in names_of.items() if name in numbers}


def _unknown(given: Mapping[str, Setting]) -> list[str]:
    known = names.CONSUMER | names.COORDINATOR | set(SIMULATED)
    return [f"Kafka has no setting {name!r}.{_hint(name, known)}" for name in given if name not in known]


def _hint(name: str, known: frozenset[str] | set[str]) -> str:
    close = get_close_matches(name, sorted(known), 1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _number(name: str, value: Setting, problems: list[str]) -> int:
    text = str(value).strip()
    number = int(text) if text.removeprefix("-").isdecimal() and len(text) <= len(str(-MOST_INT)) else None
    least = 1 if name in _AT_LEAST_ONE else 0
    if number is None or number > MOST_INT:
        problems.append(f"{name} is {text[:40]!r}, not a number of type INT (ConfigException).")
    elif number < least:
        problems.append(f"{name} is {number}: Kafka's ConfigException asks for at least {least}.")
    return number or 0


def _refused(given: Mapping[str, Setting]) -> list[str]:
    """What Kafka's own classes throw on values that are fine each by itself."""
    properties = {name: str(value) for name, value in given.items() if not name.startswith(PREFIX)}
    found = advise_client({"group.id": "simulated"} | properties, broker=properties)
    return [_with_name(finding) for finding in found if finding.severity is Severity.ERROR]


def _with_name(finding: Finding) -> str:
    """The reason with the name of Kafka's error, where it does not have it yet."""
    if "Exception" in finding.reason or "INVALID_" in finding.reason:
        return finding.reason
    return f"{finding.reason.rstrip('.')} ({_THROWN.get(finding.source, 'ConfigException')})."


_THROWN = {"Heartbeat (constructor)": "IllegalArgumentException"}
