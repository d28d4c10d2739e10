"""Broker settings for KIP-848 groups."""

from dataclasses import dataclass

from assignors.broker.uniform.assignor import UNIFORM
from assignors.javahash import NEWEST_RULE_JDK

RANGE = "range"
"""Kafka's name of `server-range`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults of Kafka 4.3.1. Raises ValueError with Kafka's name of the setting where Kafka's class does.

    `assignors`: the names that members may request; the first is the default. `jdk`: the Java version of the broker, on
    which assignments depend slightly (see `UniformAssignor`).
    """

    session_timeout_ms: int = 45_000
    min_session_timeout_ms: int = 45_000
    max_session_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 5_000
    min_heartbeat_interval_ms: int = 5_000
    max_heartbeat_interval_ms: int = 15_000
    assignment_interval_ms: int = 1_000
    min_assignment_interval_ms: int = 0
    max_assignment_interval_ms: int = 15_000
    max_size: int = 2**31 - 1
    assignors: tuple[str, ...] = (UNIFORM.name, RANGE)
    regex_refresh_interval_ms: int = 600_000
    offsets_retention_ms: int = 7 * 24 * 3_600_000
    offsets_retention_check_interval_ms: int = 600_000
    jdk: int = NEWEST_RULE_JDK

    def __post_init__(self) -> None:
        self._check_least()
        for name in ("session.timeout", "heartbeat.interval", "assignment.interval"):
            self._check_bounds(name)
        if self.heartbeat_interval_ms >= self.session_timeout_ms:
            raise ValueError(
                f"group.consumer.heartbeat.interval.ms {self.heartbeat_interval_ms} must be less than "
                f"group.consumer.session.timeout.ms {self.session_timeout_ms}"
            )
        unknown = set(self.assignors) - {UNIFORM.name, RANGE}
        if unknown or not self.assignors or len(set(self.assignors)) < len(self.assignors):
            raise ValueError(f"group.consumer.assignors is {self.assignors}: list uniform, range or both, each once")

    def _check_least(self) -> None:
        for name, value, least in (
            ("group.consumer.min.session.timeout.ms", self.min_session_timeout_ms, 1),
            ("group.consumer.min.heartbeat.interval.ms", self.min_heartbeat_interval_ms, 1),
            ("group.consumer.min.assignment.interval.ms", self.min_assignment_interval_ms, 0),
            ("group.consumer.max.size", self.max_size, 1),
            ("group.consumer.regex.refresh.interval.ms", self.regex_refresh_interval_ms, 10_000),
            ("offsets.retention.minutes", self.offsets_retention_ms // 60_000, 1),
            ("offsets.retention.check.interval.ms", self.offsets_retention_check_interval_ms, 1),
        ):
            if value < least:
                raise ValueError(f"{name} is {value}: it must be at least {least}")

    def _check_bounds(self, name: str) -> None:
        field = name.replace(".", "_") + "_ms"
        value, low, high = (int(getattr(self, prefix + field)) for prefix in ("", "min_", "max_"))
        if not low <= value <= high:
            raise ValueError(
                f"group.consumer.{name}.ms {value} must lie between group.consumer.min.{name}.ms {low} and "
                f"group.consumer.max.{name}.ms {high}"
            )
