"""Broker settings for KIP-848 groups."""

from dataclasses import dataclass

from assignors.broker.uniform.assignor import UNIFORM
from assignors.javahash import NEWEST_RULE_JDK

RANGE = "range"
"""Kafka's name of `server-range`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults of Kafka 4.3.1. Whether Kafka takes a value is checked by `assignors.advice`.

    `assignors`: the names that members may request; the first is the default. `jdk`: the Java version of the broker, on
    which assignments depend slightly (see `UniformAssignor`).
    """

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000
    max_size: int = 2**31 - 1
    assignors: tuple[str, ...] = (UNIFORM.name, RANGE)
    regex_refresh_interval_ms: int = 600_000
    offsets_retention_ms: int = 7 * 24 * 3_600_000
    offsets_retention_check_interval_ms: int = 600_000
    jdk: int = NEWEST_RULE_JDK
