"""Broker settings for classic groups."""

from dataclasses import dataclass

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""How long the join of a new member may be parked; Kafka has no setting for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults of Kafka 4.3.1. Whether Kafka takes a value is checked by `assignors.advice`."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 2**31 - 1
    offsets_retention_ms: int = 7 * 24 * 3_600_000
    offsets_retention_check_interval_ms: int = 600_000
