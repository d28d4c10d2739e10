"""Times with a zone, and the same times in whole milliseconds and microseconds since 1970."""

import re
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


_LAST_MS = ms(datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC))
_MILLISECONDS = re.compile(r"(-?\d{1,19}) ms", re.ASCII)
_MOST = 2**63


def iso_time(at_ms: int) -> str:
    """The time in UTC with milliseconds, as Kafka's tools read it.

    A producer can give a record any time of 64 bits. One before 1970 or after 9999 stays a number.

    >>> iso_time(1_795_600_800_500), iso_time(-1)
    ('2026-11-25T10:00:00.500Z', '-1 ms')
    """
    if not 0 <= at_ms <= _LAST_MS:
        return f"{at_ms} ms"
    return from_ms(at_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso_time(text: object) -> int:
    """The milliseconds of a time as `iso_time` writes it, or of another in ISO 8601 with a zone. Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError("a time is a text")
    if found := _MILLISECONDS.fullmatch(text):
        return _within_64_bits(int(found[1]))
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("this is not a time such as 2026-11-25T10:00:00Z") from None
    if at.tzinfo is None:
        raise ValueError("the time has no time zone")
    return ms(at)


def _within_64_bits(at_ms: int) -> int:
    if not -_MOST <= at_ms < _MOST:
        raise ValueError("the time has more than 64 bits")
    return at_ms
