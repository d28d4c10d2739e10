"""The logs of a client script: records with time and size, and the log start."""

from dataclasses import dataclass, field

from assignors.model import TopicPartition

MOST_RECORDS = 5_000
MARKER_BYTES = 78
"""A batch with one control record."""


@dataclass(frozen=True, slots=True)
class Record:
    """The time of the append, in milliseconds since the start of the script, and the size. Each is its own batch."""

    at_ms: int
    size_bytes: int


@dataclass(slots=True)
class PartitionLog:
    """The records of a partition; offsets begin with 0, those before `start` are deleted.

    `open_since`: the first offset of the open transaction; None without one. `markers`: the offsets of the markers that
    end transactions; poll never returns them.
    """

    records: list[Record] = field(default_factory=list)
    start: int = 0
    open_since: int | None = None
    markers: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The offset that the next record gets."""
        return len(self.records)

    @property
    def last_stable(self) -> int:
        """The offset up to which no transaction is open: read_committed consumers read below it."""
        return self.end if self.open_since is None else self.open_since

    def append(self, record: Record, count: int, is_open: bool) -> None:
        """Append it `count` times; with `is_open` in a transaction that stays open."""
        if is_open and self.open_since is None:
            self.open_since = self.end
        self.records += [record] * count

    def end_transaction(self, at_ms: int) -> None:
        """Commit the open transaction: its marker takes an offset."""
        self.markers = (*self.markers, self.end)
        self.records.append(Record(at_ms, MARKER_BYTES))
        self.open_since = None

    def first_since(self, at_ms: int) -> int | None:
        """The first offset of that time or later; None = there is none."""
        return next((at for at in range(self.start, self.end) if self.records[at].at_ms >= at_ms), None)


Logs = dict[TopicPartition, PartitionLog]
