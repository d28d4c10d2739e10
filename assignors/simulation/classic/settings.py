"""Broker settings for classic groups."""

from dataclasses import dataclass

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""How long the join of a new member may be parked; Kafka has no setting for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults of Kafka 4.3.1. Raises ValueError with Kafka's name of the setting where Kafka's class does."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2**31 - 1
    offsets_retention_ms: int = 7 * 24 * 3_600_000
    offsets_retention_check_interval_ms: int = 600_000

    def __post_init__(self) -> None:
        if self.max_size < 1:
            raise ValueError(f"group.max.size is {self.max_size}: it must be at least 1")
        if self.offsets_retention_ms < 60_000:
            raise ValueError(
                f"offsets.retention.minutes is {self.offsets_retention_ms / 60_000:g}: it must be at least 1"
            )
        if self.offsets_retention_check_interval_ms < 1:
            raise ValueError("offsets.retention.check.interval.ms must be at least 1")
