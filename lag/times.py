"""Times with a zone, and the same times in whole milliseconds and microseconds since 1970."""

import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND, MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)


def wall_clock_ms() -> int:
    """Now, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def ms(at: datetime) -> int:
    """Milliseconds since 1970, rounded down."""
    return (at - EPOCH) // MILLISECOND


def from_ms(at_ms: int) -> datetime:
    """The time in UTC. Raises OverflowError outside the years that datetime knows."""
    return EPOCH + timedelta(milliseconds=int(at_ms))  # timedelta takes no integers of NumPy


def micros(at: datetime) -> int:
    """Microseconds since 1970."""
    return (at - EPOCH) // MICROSECOND


def from_micros(at_us: int) -> datetime:
    """The time in UTC."""
    return EPOCH + at_us * MICROSECOND


def iso_time(at_ms: int) -> str:
    """In UTC with milliseconds, as Kafka's tools read it.

    >>> iso_time(1_795_600_800_500)
    '2026-11-25T10:00:00.500Z'
    """
    return from_ms(at_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")
