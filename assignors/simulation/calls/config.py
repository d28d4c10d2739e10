"""The settings that a client story can have (Kafka: ConsumerConfig, AutoOffsetResetStrategy)."""

import re

from assignors.simulation.calls.machine import Refusal

KIB, MIB = 1024, 1024 * 1024
CONFIG: dict[str, str] = {
    "group.id": "billing",
    "enable.auto.commit": "true",
    "auto.commit.interval.ms": "5000",
    "auto.offset.reset": "latest",
    "max.poll.records": "500",
    "fetch.max.bytes": str(50 * MIB),
    "max.partition.fetch.bytes": str(MIB),
    "metadata.max.age.ms": "300000",
    "message.max.bytes": str(MIB + 12),
}
"""What a story can set, with Kafka's defaults; the last one is the broker's. The group.id is ours: Kafka has none."""

RESETS = ("latest", "earliest", "none")
_DURATION = re.compile(
    r"by_duration:(?P<sign>[-+]?)P(?:([-+]?\d+)D)?(?P<time>T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.ASCII | re.IGNORECASE,
)
_SECONDS = (86_400, 3_600, 60, 1)
_MOST_LETTERS = 40


def reset_duration_ms(policy: str) -> int | None:
    """The duration of `by_duration:PT1H` (KIP-1106), as Java's Duration reads it; None: not of that kind."""
    found = _DURATION.fullmatch(policy)
    if found is None or len(policy) > _MOST_LETTERS or found["time"] == "T":
        return None
    parts = found.group(2, 4, 5, 6)
    seconds = sum(float((part or "0").replace(",", ".")) * each for part, each in zip(parts, _SECONDS, strict=True))
    seconds *= -1 if found["sign"] == "-" else 1
    return int(1_000 * seconds) if seconds >= 0 and any(parts) else None


def checked(name: str, value: str) -> str:
    """The value. Raises Refusal where Kafka refuses it."""
    is_whole = value.isascii() and value.isdecimal() and 1 <= len(value) <= 10
    if name == "auto.offset.reset":
        fits = value in RESETS or reset_duration_ms(value) is not None
    elif name == "enable.auto.commit":
        fits = value in ("true", "false")
    else:
        fits = name == "group.id" or (is_whole and int(value) >= 1)
    if not fits:
        raise Refusal("ConfigException", f"invalid value {value[:40]} for configuration {name}")
    return value
