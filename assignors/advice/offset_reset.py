"""`auto.offset.reset` with a duration (KIP-1106; Kafka: AutoOffsetResetStrategy)."""

from assignors.java_duration import java_duration_ms

_PREFIX = "by_duration:"


def reset_duration_ms(policy: str) -> int | None:
    """The duration of `by_duration:PT1H`, as Java's Duration reads it; None if it is something else."""
    return java_duration_ms(policy.removeprefix(_PREFIX)) if policy.startswith(_PREFIX) else None
