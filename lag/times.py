"""Times with a zone, and the same times in whole milliseconds and microseconds since 1970."""

import re
import time
from datetime import UTC, datetime, timedelta

from lag.errors import ConfigError

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


_FIRST_MS, _END_MS = 10**11, 10**13
"""From 1973 to 2286: a number of milliseconds in between is in no other unit a time of these years."""
_MISTAKEN = (("seconds", 1000, 1), ("microseconds", 1, 1000), ("nanoseconds", 1, 1_000_000))
"""Other units, with what turns them into milliseconds: a factor and a divisor."""


def epoch_ms(number: int) -> int:
    """The milliseconds since 1970 that somebody wrote as a plain number; 0 is 1970 in every unit.

    Raises ConfigError, which asks for the unit, for a number that as milliseconds is before 1973 or after 2286:
    `date +%s` prints seconds, and to take them for milliseconds would be to go back to the start of every log.

    >>> epoch_ms(1_795_600_800_500)
    1795600800500
    """
    if number == 0 or _FIRST_MS <= number < _END_MS:
        return number
    read = iso_time(number) if number <= _LAST_MS else "after the year 9999"
    for unit, factor, divisor in _MISTAKEN:
        at_ms = number * factor // divisor
        if _FIRST_MS <= at_ms < _END_MS:
            raise ConfigError(
                f"Is {number} in {unit}? In milliseconds it is {read}",
                f"Write {iso_time(at_ms)} or {at_ms} if it is in {unit}{_or_else(read)}",
            )
    raise ConfigError(
        f"{number} in milliseconds is {read}", f"Write a time such as 2026-11-25T10:00:00Z{_or_else(read)}"
    )


def _or_else(read: str) -> str:
    return f", or {read} if it is in milliseconds" if read.endswith("Z") else ""


def _within_64_bits(at_ms: int) -> int:
    if not -_MOST <= at_ms < _MOST:
        raise ValueError("the time has more than 64 bits")
    return at_ms
