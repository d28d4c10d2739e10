"""The settings of a client script (Kafka: ConsumerConfig, AutoOffsetResetStrategy)."""

from assignors.advice.offset_reset import reset_duration_ms
from assignors.labs.calls.script_machine import Refusal

KIB, MIB = 1024, 1024 * 1024
CONFIG: dict[str, str] = {
    "group.id": "billing",
    "enable.auto.commit": "true",
    "auto.commit.interval.ms": "5000",
    "auto.offset.reset": "latest",
    "max.poll.records": "500",
    "fetch.max.bytes": str(50 * MIB),
    "max.partition.fetch.bytes": str(MIB),
    "isolation.level": "read_uncommitted",
    "metadata.max.age.ms": "300000",
    "message.max.bytes": str(MIB + 12),
}
"""Settings with Kafka's defaults; the last one is the broker's. Kafka has no default for group.id."""

RESETS = ("latest", "earliest", "none")
ISOLATION_LEVELS = ("read_uncommitted", "read_committed")


def checked(name: str, value: str) -> str:
    """The value. Raises Refusal where Kafka refuses it."""
    is_whole = value.isascii() and value.isdecimal() and 1 <= len(value) <= 10
    if name == "auto.offset.reset":
        fits = value in RESETS or reset_duration_ms(value) is not None
    elif name == "isolation.level":
        fits = value in ISOLATION_LEVELS
    elif name == "enable.auto.commit":
        fits = value in ("true", "false")
    else:
        fits = name == "group.id" or (is_whole and int(value) >= 1)
    if not fits:
        raise Refusal("ConfigException", f"invalid value {value[:40]} for configuration {name}")
    return value
