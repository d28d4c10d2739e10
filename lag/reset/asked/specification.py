"""What is asked of a reset: where the committed offsets should go.

Source of the rules: Kafka's `kafka-consumer-groups --reset-offsets` (`org.apache.kafka.tools.OffsetsUtils`, KIP-122).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assignors.durations import duration
from assignors.model import TopicPartition
from lag.errors import ConfigError
from lag.reset.asked.times import iso_duration
from lag.times import iso_time


@dataclass(frozen=True, slots=True)
class Earliest:
    """The log start."""

    text = "to earliest"
    flags = ("--to-earliest",)


@dataclass(frozen=True, slots=True)
class Latest:
    """The log end (high watermark)."""

    text = "to latest"
    flags = ("--to-latest",)


@dataclass(frozen=True, slots=True)
class Current:
    """The committed offset; where there is none, the log end."""

    text = "to current"
    flags = ("--to-current",)


@dataclass(frozen=True, slots=True)
class Time:
    """The first record with this timestamp or a later one; where there is none, the log end.

    `back_ms` is set if a duration before the present was asked for.
    """

    timestamp_ms: int
    back_ms: int | None = None

    @property
    def text(self) -> str:
        """The specification in words."""
        back = "" if self.back_ms is None else f", {duration(self.back_ms / 1000)} back"
        return f"to {iso_time(self.timestamp_ms)}{back}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `kafka-consumer-groups`."""
        if self.back_ms is not None:
            return ("--by-duration", iso_duration(self.back_ms))
        return ("--to-datetime", iso_time(self.timestamp_ms))


@dataclass(frozen=True, slots=True)
class Shift:
    """The committed offset plus `by`, which may be negative."""

    by: int

    @property
    def text(self) -> str:
        """The specification in words."""
        return f"shift by {self.by:+,}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `kafka-consumer-groups`."""
        return ("--shift-by", str(self.by))


@dataclass(frozen=True, slots=True)
class Exact:
    """The same offset in every partition."""

    offset: int

    @property
    def text(self) -> str:
        """The specification in words."""
        return f"to offset {self.offset:,}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `kafka-consumer-groups`."""
        return ("--to-offset", str(self.offset))


@dataclass(frozen=True, slots=True)
class Listed:
    """An offset for each partition, from a file or another group: `source` says which, in words."""

    offsets: Mapping[TopicPartition, int]
    source: str

    @property
    def text(self) -> str:
        """The specification in words."""
        return f"to the offsets of {self.source}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `kafka-consumer-groups`: none, as it needs a file."""
        return ()


@dataclass(frozen=True, slots=True)
class FromGroup:
    """The committed offsets of another group of the cluster."""

    group_id: str

    @property
    def text(self) -> str:
        """The specification in words."""
        return f"to the offsets of group {self.group_id}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `kafka-consumer-groups`: none, as it needs a file."""
        return ()


@dataclass(frozen=True, slots=True)
class SkippedRecords:
    """The records of a partition from offset `first` to `last`, both included."""

    tp: TopicPartition
    first: int
    last: int

    def __str__(self) -> str:
        offsets = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.tp.topic}:{self.tp.partition}:{offsets}"


@dataclass(frozen=True, slots=True)
class Skip:
    """Skip exactly these records: the next ones that the group would read."""

    records: tuple[SkippedRecords, ...]

    @property
    def text(self) -> str:
        """The specification in words."""
        return f"skip {', '.join(map(str, self.records))}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags of `kafka-consumer-groups`: none, as it needs a file."""
        return ()


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the committed offsets."""

    text = "delete the committed offsets"
    flags = ()


Specification = Earliest | Latest | Current | Time | Shift | Exact | Listed | FromGroup | Skip | Delete

_SKIP = re.compile(r"(?P<topic>[A-Za-z0-9._-]+):(?P<partition>\d{1,9}):(?P<first>\d{1,18})(?:-(?P<last>\d{1,18}))?")


def parse_skip(texts: list[str]) -> Skip:
    """`TOPIC:PARTITION:OFFSET` or `TOPIC:PARTITION:FIRST-LAST`, each partition once. Raises ConfigError.

    >>> [str(one) for one in parse_skip(["orders:3:1234", "pay:0:7-9"]).records]
    ['orders:3:1234', 'pay:0:7-9']
    """
    records = tuple(map(_skipped, texts))
    if len({each.tp for each in records}) < len(records):
        raise ConfigError("A partition is named more than once", "Name each partition once, with FIRST-LAST")
    return Skip(records)


def _skipped(text: str) -> SkippedRecords:
    found = _SKIP.fullmatch(text)
    first, last = (int(found["first"]), int(found["last"] or found["first"])) if found else (1, 0)
    if not found or last < first:
        raise ConfigError(
            f"{text!r} names no record", "Write TOPIC:PARTITION:OFFSET, or TOPIC:PARTITION:FIRST-LAST for several"
        )
    return SkippedRecords(TopicPartition(found["topic"], int(found["partition"])), first, last)
