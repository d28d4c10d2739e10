"""Counts per record: how often it was delivered, processed and committed; which are lost or processed twice."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assignors.labs.delivery.model import Event, Kind, Lab, Offsets, Record

COMMITS = frozenset({Kind.COMMIT, Kind.COMMIT_ASYNC, Kind.STORE})
PROCESSES = frozenset({Kind.PROCESS, Kind.STORE})


@dataclass(frozen=True, slots=True)
class Ledger:
    """A run's events in order, and its counts per record.

    `committed` says how often the committed offset moved past the record (more than once only after a rewind),
    `offsets` where it stands at the end. `dropped` left on purpose: by the interceptor, or as poison that was skipped.
    """

    events: tuple[Event, ...]
    records: tuple[Record, ...]
    delivered: Mapping[Record, int]
    processed: Mapping[Record, int]
    committed: Mapping[Record, int]
    offsets: Offsets
    dropped: frozenset[Record]

    @property
    def duplicated(self) -> tuple[Record, ...]:
        """Records processed more than once."""
        return tuple(record for record in self.records if self.processed[record] > 1)

    @property
    def lost(self) -> tuple[Record, ...]:
        """Records that were never processed and will not be read again: the committed offset is past them."""
        unread = (record for record in self.records if not self.processed[record] and record not in self.dropped)
        return tuple(record for record in unread if record.offset < self.offsets[record.partition])

    @property
    def waiting(self) -> tuple[Record, ...]:
        """Records never processed that are still to be read: the group is stuck, or has not come so far."""
        unread = (record for record in self.records if not self.processed[record] and record not in self.dropped)
        return tuple(record for record in unread if record.offset >= self.offsets[record.partition])

    @property
    def out_of_order(self) -> tuple[Record, ...]:
        """Records that a consumer processed after a later one of the same partition."""
        latest: dict[tuple[str, int], int] = {}
        late = set[Record]()
        for consumer, record in _processings(self.events):
            key = (consumer, record.partition)
            if record.offset < latest.get(key, -1):
                late.add(record)
            latest[key] = max(latest.get(key, -1), record.offset)
        return tuple(sorted(late))


def ledger(lab: Lab, events: Iterable[Event]) -> Ledger:
    """Count what the events did to the records from the lab's start to its end."""
    course = tuple(events)
    records = tuple(
        Record(partition, offset)
        for partition, end in enumerate(lab.end)
        for offset in range(lab.start[partition], end)
    )
    delivered = Counter(record for event in course if event.kind is Kind.POLL for record in event.records)
    processed = Counter(record for _, record in _processings(course))
    gone = (event.records for event in course if event.kind in (Kind.DROP, Kind.SKIP))
    dropped = frozenset(record for taken in gone for record in taken)
    return Ledger(
        course, records, delivered, processed, _passed(lab, course), committed_offsets(lab.start, course), dropped
    )


def committed_offsets(start: Offsets, events: Iterable[Event]) -> Offsets:
    """Where the committed offsets (the external store's, when it holds them) stand after the events."""
    standing = list(start)
    for event in events:
        if event.kind in COMMITS:
            for partition, offset in event.offsets:
                standing[partition] = offset
    return tuple(standing)


def _processings(events: Iterable[Event]) -> list[tuple[str, Record]]:
    return [(event.consumer, record) for event in events if event.kind in PROCESSES for record in event.records]


def _passed(lab: Lab, events: Iterable[Event]) -> Counter[Record]:
    counts = Counter[Record]()
    standing = list(lab.start)
    for event in events:
        for partition, offset in event.offsets if event.kind in COMMITS else ():
            counts.update(Record(partition, passed) for passed in range(standing[partition], offset))
            standing[partition] = offset
    return counts
