"""`auto.offset.reset` with a duration (KIP-1106; Kafka: AutoOffsetResetStrategy)."""

import re

_DURATION = re.compile(
    r"by_duration:(?i:(?P<sign>[-+]?)P(?:([-+]?\d+)D)?(?P<time>T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:[.,]\d{0,9})?)S)?)?)",
    re.ASCII,
)
_SECONDS = (86_400, 3_600, 60, 1)
_MOST_LETTERS = 40


def reset_duration_ms(policy: str) -> int | None:
    """The duration of `by_duration:PT1H`, as Java's Duration reads it; None if it is something else."""
    found = _DURATION.fullmatch(policy)
    if found is None or len(policy) > _MOST_LETTERS or found["time"] in ("T", "t"):
        return None
    parts = found.group(2, 4, 5, 6)
    seconds = sum(float((part or "0").replace(",", ".")) * each for part, each in zip(parts, _SECONDS, strict=True))
    seconds *= -1 if found["sign"] == "-" else 1
    return int(1_000 * seconds) if seconds >= 0 and any(parts) else None
