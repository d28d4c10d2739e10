"""The cluster of a client story: topics, their records by time and size, and which log start they have."""

from dataclasses import dataclass, field

from assignors.model import TopicPartition

MOST_RECORDS = 5_000


@dataclass(frozen=True, slots=True)
class Record:
    """When it was appended, in milliseconds since the story began, and its size. Each is a batch of its own."""

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
        """The first offset of that time or later; None: no record is that young."""
        return next((at for at in range(self.start, self.end) if self.records[at].at_ms >= at_ms), None)


Logs = dict[TopicPartition, PartitionLog]
