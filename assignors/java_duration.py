"""Durations as `java.time.Duration.parse` reads them: days and less, in ISO 8601."""

import re
from decimal import Decimal

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:([-+]?\d+)D)?(?P<time>T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNIT_MS = (86_400_000, 3_600_000, 60_000, 1_000)
_MOST_LETTERS = 40


def java_duration_ms(text: str) -> int | None:
    """Whole milliseconds, rounded down; None if not a duration, if negative, or if longer than 40 characters.

    >>> java_duration_ms("PT1H30M"), java_duration_ms("p1dt0.0019s"), java_duration_ms("PT"), java_duration_ms("PT-1S")
    (5400000, 86400001, None, None)
    """
    found = _DURATION.fullmatch(text) if len(text) <= _MOST_LETTERS else None
    if found is None or found["time"] in ("T", "t"):
        return None
    parts = found.group(2, 4, 5, 6)
    terms = (Decimal((part or "0").replace(",", ".")) * unit for part, unit in zip(parts, _UNIT_MS, strict=True))
    total = sum(terms, Decimal()) * (-1 if found["sign"] == "-" else 1)
    return int(total) if total >= 0 and any(parts) else None
