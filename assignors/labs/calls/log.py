"""The logs of a client script: records with time and size, and the log start."""

from dataclasses import dataclass, field

from assignors.model import TopicPartition

MOST_RECORDS = 5_000


@dataclass(frozen=True, slots=True)
class Record:
    """The time of the append, in milliseconds since the start of the script, and the size. Each is its own batch."""

    at_ms: int
    size_bytes: int


@dataclass(slots=True)
class PartitionLog:
    """The records of a partition; offsets begin with 0, those before `start` are deleted."""

    records: list[Record] = field(default_factory=list)
    start: int = 0

    @property
    def end(self) -> int:
        """The offset that the next record gets."""
        return len(self.records)

    def first_since(self, at_ms: int) -> int | None:
        """The first offset of that time or later; None = there is none."""
        return next((at for at in range(self.start, self.end) if self.records[at].at_ms >= at_ms), None)


Logs = dict[TopicPartition, PartitionLog]
