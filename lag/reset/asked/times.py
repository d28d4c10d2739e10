"""Times and durations as people write them for a reset, and as `kafka-consumer-groups` wants them."""

import re
from datetime import datetime

from assignors.java_duration import java_duration_ms
from lag.errors import ConfigError
from lag.times import epoch_ms, ms

_UNIT_MS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000}
_SHORT = re.compile(r"(?:\d{1,15}[wdhms]){1,9}", re.ASCII)
_PART = re.compile(r"(\d+)([wdhms])", re.ASCII)
_NUMBER = re.compile(r"\d{1,19}", re.ASCII)
MOST_MS = 100 * 366 * 86_400_000


def timestamp_ms(text: str) -> int:
    """ISO 8601 with a time zone, or milliseconds since 1970; an earlier time counts as 1970. Raises ConfigError.

    >>> timestamp_ms("2026-11-25T11:00:00.500+01:00"), timestamp_ms("1795600800500")
    (1795600800500, 1795600800500)
    """
    if _NUMBER.fullmatch(text):
        return epoch_ms(int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a time", "Write 2026-11-25T10:00:00Z, 2026-11-25T11:00:00+01:00, or ms since 1970"
        ) from None
    if moment.tzinfo is None:
        raise ConfigError(f"The time {text!r} has no time zone", f"Write {text}Z for UTC, or an offset such as +01:00")
    return max(0, ms(moment))  # to Kafka, -1 and -2 are the end and the start of the log


def duration_ms(text: str) -> int:
    """An ISO 8601 duration of days and less, or a short form. Raises ConfigError.

    >>> duration_ms("PT1H30M"), duration_ms("P1DT12H"), duration_ms("90m"), duration_ms("1h30m")
    (5400000, 129600000, 5400000, 5400000)
    """
    total = _short_ms(text) if _SHORT.fullmatch(text) else java_duration_ms(text)
    if total is None or total > MOST_MS:
        raise ConfigError(f"{text!r} is not a duration", "Write for example 90m, 1h30m, 2d, or PT1H30M")
    return total


def _short_ms(text: str) -> int:
    return sum(int(number) * _UNIT_MS[unit] for number, unit in _PART.findall(text))


def iso_duration(ms: int) -> str:
    """The duration as Java's `Duration.parse` reads it.

    >>> iso_duration(5_400_000), iso_duration(1500)
    ('PT5400S', 'PT1.5S')
    """
    return f"PT{ms // 1000}{f'.{ms % 1000:03}'.rstrip('0') if ms % 1000 else ''}S"
