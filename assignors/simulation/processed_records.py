"""What becomes of a partition's records: how many are processed, how many of these again, how many never.

It follows from the tables of a timeline. Records come at a steady rate; a poll gives all that are there, and a record
counts as processed when a poll gives it. Consumers commit what earlier polls gave (Kafka: enable.auto.commit): in the
first poll after each auto.commit.interval.ms, before they give partitions up, and when they close. A new owner begins
where the last commit that was accepted ends; what somebody processed beyond that is processed again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from assignors.model import TopicPartition
from assignors.simulation.polling import Reader, readers
from assignors.simulation.timeline import Commit, Holding, Records, Timeline

EARLIEST, LATEST = "earliest", "latest"
_MILLI_MS = 1_000_000
"""A thousandth of a record a second gives one record in so many milliseconds."""


@dataclass(frozen=True, slots=True)
class Processed:
    """Records of one partition: how often one was processed, how many of these again, and how many nobody got.

    `lost` counts below the highest position that anybody had; what the first reader of a partition skips that is as old
    as the story is not the story's matter.
    """

    partition: TopicPartition
    processed: int
    duplicated: int
    lost: int


def processed(timeline: Timeline) -> tuple[Processed, ...] | None:
    """Of each partition, in the order of the ownership table.

    None when nobody knows: the application commits by itself, or auto.offset.reset is neither latest nor earliest.
    """
    said = timeline.records
    if said.commit_interval_ms is None or said.reset not in (EARLIEST, LATEST):
        return None
    who, committed = readers(timeline), _committed(timeline)
    held = groupby(timeline.ownership, attrgetter("partition"))
    return tuple(_of(tp, list(rows), who, committed[tp], said) for tp, rows in held)


def _committed(timeline: Timeline) -> dict[TopicPartition, list[Commit]]:
    """The commits that were accepted, by partition."""
    found: dict[TopicPartition, list[Commit]] = defaultdict(list)
    for commit in timeline.commits:
        for partition in () if commit.error else commit.partitions:
            found[partition].append(commit)
    return found


def _of(
    tp: TopicPartition,
    rows: Sequence[Holding],
    who: Mapping[str, Reader],
    committed: Sequence[Commit],
    records: Records,
) -> Processed:
    counts = []
    for life in lives(rows):
        log = _Log(life[0].start_ms, records.per_s_milli.get(tp, records.usual_per_s_milli), committed)
        counts.append(_count(_read(life, log, who, records.reset), log))
    return Processed(tp, *map(sum, zip(*counts, strict=True)))


def lives(rows: Iterable[Holding]) -> Iterator[list[Holding]]:
    """The rows of each time that a partition existed: a topic may be deleted and created again."""
    life: list[Holding] = []
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
    """A partition since it was made, and what was committed of it beside the commits that were due."""

    born_ms: int
    per_s_milli: int
    committed: Sequence[Commit]

    def end(self, at_ms: int) -> int:
        """The offset of the next record."""
        return (at_ms - self.born_ms) * self.per_s_milli // _MILLI_MS


@dataclass(frozen=True, slots=True)
class _Turn:
    """A partition in one member's hands, from `offset` on, whether as an owner or as a zombie."""

    member: str
    reader: Reader
    log: _Log
    start_ms: int
    end_ms: int
    offset: int

    def position(self, at_ms: int) -> int:
        """What is read next, as of the last poll before that time."""
        polled_ms = self.reader.polled_ms(at_ms)
        return self.offset if polled_ms < self.start_ms else max(self.offset, self.log.end(polled_ms))

    def committed(self, until_ms: int) -> tuple[int, int] | None:
        """When it committed last until then, and what; None when it never did."""
        until_ms = min(until_ms, self.end_ms)
        own = (commit.at_ms for commit in self.log.committed if commit.member == self.member)
        said_ms = max((at_ms for at_ms in own if at_ms <= until_ms), default=self.start_ms - 1)
        at_ms = max(said_ms, self.reader.committed_ms(until_ms))
        return None if at_ms < self.start_ms else (at_ms, self.position(at_ms))


def _read(life: Iterable[Holding], log: _Log, who: Mapping[str, Reader], reset: str) -> list[tuple[int, int]]:
    """The offsets that each turn read, from and to."""
    turns: list[_Turn] = []
    for member, start_ms, end_ms in _hands(life):
        known = [found for turn in turns if (found := turn.committed(start_ms)) is not None]
        fresh = log.end(start_ms) if reset == LATEST else 0
        turns.append(_Turn(member, who[member], log, start_ms, end_ms, max(known)[1] if known else fresh))
    return [(turn.offset, turn.position(turn.end_ms)) for turn in turns]


def _hands(life: Iterable[Holding]) -> list[tuple[str, int, int]]:
    """Who held the partition from when to when, in order of time, however it was held."""
    rows: dict[str, list[Holding]] = defaultdict(list)
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
    return sorted(found, key=lambda hand: hand[1:])


def _count(read: Sequence[tuple[int, int]], log: _Log) -> tuple[int, int, int]:
    """Records processed, of these again, and lost."""
    if not read:
        return 0, 0, 0
    total, covered = sum(end - start for start, end in read), 0
    until = first = min(start for start, _ in read) if log.born_ms == 0 else 0
    for start, end in sorted(read):
        covered += max(0, end - max(start, until))
        until = max(until, end)
    return total, total - covered, until - first - covered
