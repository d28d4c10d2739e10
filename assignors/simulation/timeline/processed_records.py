"""How many records of a partition are processed, processed again, and lost, from the tables of a timeline.

Records are produced at a constant rate. A poll returns all of them, and a record counts as processed when a poll
returns it. Consumers commit what earlier polls returned (Kafka: enable.auto.commit): in the first poll after each
auto.commit.interval.ms, before they revoke partitions, and when they close. A new owner starts at the last committed
offset, so records that were processed beyond it are processed again.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from assignors.model import TopicPartition
from assignors.simulation.timeline.polling import NEVER_MS, Reader, readers
from assignors.simulation.timeline.tables import OwnershipSpan, RecordSettings, Timeline

EARLIEST, LATEST = "earliest", "latest"
CommitTimes = Mapping[str, Sequence[int]]
"""When each member committed successfully, other than by auto commit; ascending."""

_MILLI_MS = 1_000_000
"""Milliseconds until one record at a thousandth of a record per second."""


@dataclass(frozen=True, slots=True)
class Processed:
    """Records of one partition: processed in all, of these processed again, and lost.

    `lost` counts records below the highest position of any reader that no reader got. In a partition that exists from
    the start, records that its first reader skips do not count.
    """

    partition: TopicPartition
    processed: int
    duplicated: int
    lost: int


def processed(timeline: Timeline) -> tuple[Processed, ...] | None:
    """For each partition, in the order of the ownership table.

    None when it is unknown: enable.auto.commit is false, or auto.offset.reset is neither latest nor earliest.
    """
    records = timeline.records
    if records.commit_interval_ms is None or records.reset not in (EARLIEST, LATEST):
        return None
    who, committed = readers(timeline), _committed(timeline)
    held = groupby(timeline.ownership, attrgetter("partition"))
    return tuple(_of(tp, list(rows), who, committed.get(tp, {}), records) for tp, rows in held)


def _committed(timeline: Timeline) -> dict[TopicPartition, CommitTimes]:
    """The successful commits, by partition."""
    found: dict[TopicPartition, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for commit in timeline.commits:
        for partition in () if commit.error else commit.partitions:
            found[partition][commit.member].append(commit.at_ms)
    return {partition: dict(by_member) for partition, by_member in found.items()}


def _of(
    tp: TopicPartition,
    rows: Sequence[OwnershipSpan],
    who: Mapping[str, Reader],
    committed: CommitTimes,
    records: RecordSettings,
) -> Processed:
    counts = []
    for life in lives(rows):
        log = _Log(life[0].start_ms, records.per_s_milli.get(tp, records.usual_per_s_milli), committed)
        counts.append(_count(_read(life, log, who, records.reset), log))
    return Processed(tp, *map(sum, zip(*counts, strict=True)))


def lives(rows: Iterable[OwnershipSpan]) -> Iterator[list[OwnershipSpan]]:
    """The rows of each lifetime of a partition: a topic may be deleted and created again."""
    life: list[OwnershipSpan] = []
    until_ms = 0
    for row in rows:
        if life and row.start_ms > until_ms:
            yield life
            life = []
        life.append(row)
        until_ms = max(until_ms, row.end_ms)
    yield life


@dataclass(frozen=True, slots=True)
class _Log:
    """A partition since its creation, and its commits other than auto commits."""

    created_ms: int
    per_s_milli: int
    committed: CommitTimes

    def end(self, at_ms: int) -> int:
        """The offset of the next record."""
        return (at_ms - self.created_ms) * self.per_s_milli // _MILLI_MS


@dataclass(frozen=True, slots=True)
class _Turn:
    """One member reads a partition from `offset` on, as its owner or as a zombie."""

    member: str
    reader: Reader
    log: _Log
    start_ms: int
    end_ms: int
    offset: int

    def position(self, at_ms: int) -> int:
        """The position after the last poll before that time."""
        polled_ms = self.reader.polled_ms(at_ms)
        return self.offset if polled_ms < self.start_ms else max(self.offset, self.log.end(polled_ms))

    def committed(self, until_ms: int) -> tuple[int, int] | None:
        """Time and offset of the last commit until that time; None if there is none."""
        until_ms = min(until_ms, self.end_ms)
        own = self.log.committed.get(self.member, ())
        said = bisect_right(own, until_ms)
        at_ms = max(own[said - 1] if said else NEVER_MS, self.reader.committed_ms(until_ms))
        return None if at_ms < self.start_ms else (at_ms, self.position(at_ms))


def _read(life: Iterable[OwnershipSpan], log: _Log, who: Mapping[str, Reader], reset: str) -> list[tuple[int, int]]:
    """The first offset and the end offset that each turn read."""
    turns: list[_Turn] = []
    going_on: list[_Turn] = []
    last: tuple[int, int] | None = None  # the last commit of the turns that have ended
    for member, start_ms, end_ms in _turns(life):
        last = _last_commit((turn for turn in going_on if turn.end_ms <= start_ms), start_ms, last)
        going_on = [turn for turn in going_on if turn.end_ms > start_ms]
        found = _last_commit(going_on, start_ms, last)
        fresh = log.end(start_ms) if reset == LATEST else 0
        going_on.append(_Turn(member, who[member], log, start_ms, end_ms, fresh if found is None else found[1]))
        turns.append(going_on[-1])
    return [(turn.offset, turn.position(turn.end_ms)) for turn in turns]


def _last_commit(turns: Iterable[_Turn], until_ms: int, other: tuple[int, int] | None) -> tuple[int, int] | None:
    """Time and offset of the last commit of these turns and the other one; None if there is none."""
    return max((found for found in (other, *(turn.committed(until_ms) for turn in turns)) if found), default=None)


def _turns(life: Iterable[OwnershipSpan]) -> list[tuple[str, int, int]]:
    """Member, start and end of each turn, in order of time."""
    rows: dict[str, list[OwnershipSpan]] = defaultdict(list)
    for row in life:
        if row.member is not None:
            rows[row.member].append(row)
    found: list[tuple[str, int, int]] = []
    for member, its in rows.items():
        start_ms = its[0].start_ms
        for row, after in zip(its, [*its[1:], None], strict=True):
            if after is None or after.start_ms > row.end_ms:
                found.append((member, start_ms, row.end_ms))
                start_ms = row.end_ms if after is None else after.start_ms
    return sorted(found, key=lambda turn: turn[1:])


def _count(read: Sequence[tuple[int, int]], log: _Log) -> tuple[int, int, int]:
    """Records processed, processed again, and lost."""
    if not read:
        return 0, 0, 0
    total, covered = sum(end - start for start, end in read), 0
    until = first = min(start for start, _ in read) if log.created_ms == 0 else 0
    for start, end in sorted(read):
        covered += max(0, end - max(start, until))
        until = max(until, end)
    return total, total - covered, until - first - covered
