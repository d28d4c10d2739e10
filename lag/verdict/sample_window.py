"""The last few polls, kept as columns: what every group had committed and where every log began and ended.

`SampleRing` is the ring that the collector's thread fills; `Window` is the immutable view of it that a poll's judgement
reads. Rows follow the newest snapshot: a row that goes is forgotten, one that comes starts with unknown samples. The
ring has a budget of cells, so a large cluster keeps fewer polls, and its size does not grow with time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lag.model import ClusterSnapshot, GroupType, Topic
from lag.offsets import UNKNOWN, Codes, EndOffsets, Ints, OffsetTable
from lag.verdict import row_index

MAX_SAMPLES = 60
MIN_SAMPLES = 12
MAX_CELLS = 24_000_000
"""192 MB of 64-bit offsets: 500,000 group partitions on few topics keep about 47 polls."""

BLOCK_CELLS = 250_000
"""Rows times samples computed in one go: they fit the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class RowWindow:
    """Some rows over time: `times_ms` (samples,), the offsets (samples, rows), oldest first, -1 where unknown."""

    times_ms: Ints
    committed: Ints
    log_start: Ints
    log_end: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The kept samples of one cluster, oldest first; the last one is the snapshot that it was made for.

    One column per sample: `committed` over the rows of that snapshot's `OffsetTable`, `log_start` and `log_end` over
    those of its `EndOffsets`; `end` leads from the former to the latter. -1 is "not known at that time".
    """

    times_ms: Ints
    end: Codes
    committed: tuple[Ints, ...]
    log_start: tuple[Ints, ...]
    log_end: tuple[Ints, ...]

    def blocks(self, rows: int) -> Iterator[slice]:
        """Cuts of so many rows, with at most BLOCK_CELLS cells each; one empty cut if there are no rows."""
        size = max(1, BLOCK_CELLS // len(self.times_ms))
        return (slice(first, first + size) for first in range(0, max(1, rows), size))

    def rows(self, rows: slice | Ints) -> RowWindow:
        """Those rows of the offset table, with the log of each beside it."""
        end = self.end[rows]
        return RowWindow(
            self.times_ms,
            np.stack([column[rows] for column in self.committed]),
            np.stack([column[end] for column in self.log_start]),
            np.stack([column[end] for column in self.log_end]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    at_ms: int
    committed: Ints
    log_start: Ints
    log_end: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """What the rows stand for: (group, end row) and (topic, partition), both ascending as the tables have them."""

    groups: tuple[str, ...]
    bounds: Ints
    end: Codes
    ends: EndOffsets

    def same(self, other: "_Keys") -> bool:
        mine, its = self.ends, other.ends
        return (
            mine.topics == its.topics
            and self.groups == other.groups
            and np.array_equal(mine.topic, its.topic)
            and np.array_equal(mine.partition, its.partition)
            and np.array_equal(self.bounds, other.bounds)
            and np.array_equal(self.end, other.end)
        )


class SampleRing:
    """The ring of one cluster's last samples. Not thread safe: one thread fills it, the windows go anywhere."""

    def __init__(
        self, max_samples: int = MAX_SAMPLES, min_samples: int = MIN_SAMPLES, max_cells: int = MAX_CELLS
    ) -> None:
        self._max_samples, self._min_samples, self._max_cells = max_samples, min_samples, max_cells
        self._samples: list[_Sample] = []
        self._keys: _Keys | None = None
        self._topic_ids: dict[str, str] = {}

    def append(self, snapshot: ClusterSnapshot) -> Window:
        """Take in one poll and return the window that ends with it. A clock that went backwards starts a new ring."""
        table, ends = snapshot.offsets, snapshot.offsets.ends
        if self._samples and snapshot.at_ms <= self._samples[-1].at_ms:
            self._samples = []
        groups = tuple(group.group_id for group in snapshot.groups)
        self._rekey(_Keys(groups, table.bounds, table.end, ends))
        self._forget(self._reborn(ends, snapshot.topics), table)
        self._samples.append(
            _Sample(snapshot.at_ms, _kept(_positions(snapshot)), _kept(ends.log_start), _kept(ends.log_end))
        )
        del self._samples[: -self.capacity(len(table), len(ends))]
        return self._window(table)

    def capacity(self, rows: int, ends: int) -> int:
        """How many samples of that many rows the budget allows."""
        fit = self._max_cells // max(1, rows + 2 * ends)
        return max(self._min_samples, min(self._max_samples, fit))

    def _rekey(self, keys: _Keys) -> None:
        """Lay the kept samples out for the rows of the new poll; nothing to do when they are the same."""
        old, self._keys = self._keys, keys
        if old is None or old.same(keys):
            return
        ends = row_index.partition_indexer(old.ends, keys.ends)
        rows = _row_moves(old, keys, ends)
        self._samples = [
            _Sample(s.at_ms, _moved(s.committed, rows), _moved(s.log_start, ends), _moved(s.log_end, ends))
            for s in self._samples
        ]

    def _reborn(self, ends: EndOffsets, topics: Mapping[str, Topic]) -> NDArray[np.bool_]:
        """The end rows whose past is another log's: a new topic id, or a log end or start that went backwards."""
        fresh = np.array([self._has_new_id(name, topics) for name in ends.topics], np.bool_)
        self._topic_ids = {name: known for name in ends.topics if (known := self._topic_id(name, topics)) is not None}
        shrunk = _went_back([s.log_end for s in self._samples], ends.log_end)
        return fresh[ends.topic] | shrunk | _went_back([s.log_start for s in self._samples], ends.log_start)

    def _topic_id(self, name: str, topics: Mapping[str, Topic]) -> str | None:
        topic = topics.get(name)
        return topic.topic_id if topic and topic.topic_id else self._topic_ids.get(name)

    def _has_new_id(self, name: str, topics: Mapping[str, Topic]) -> bool:
        return name in self._topic_ids and self._topic_id(name, topics) != self._topic_ids[name]

    def _forget(self, reborn: NDArray[np.bool_], table: OffsetTable) -> None:
        if not reborn.any():
            return
        rows = reborn[table.end]
        self._samples = [
            _Sample(s.at_ms, _blank(s.committed, rows), _blank(s.log_start, reborn), _blank(s.log_end, reborn))
            for s in self._samples
        ]

    def _window(self, table: OffsetTable) -> Window:
        return Window(
            times_ms=_kept(np.array([s.at_ms for s in self._samples], np.int64)),
            end=table.end,
            committed=tuple(s.committed for s in self._samples),
            log_start=tuple(s.log_start for s in self._samples),
            log_end=tuple(s.log_end for s in self._samples),
        )


def _positions(snapshot: ClusterSnapshot) -> Ints:
    """The committed offsets; of share groups, whose members acknowledge out of order, log end - the broker's lag."""
    table = snapshot.offsets
    shared = [number for number, group in enumerate(snapshot.groups) if group.type is GroupType.SHARE]
    if not shared:
        return table.committed
    positions = table.committed.copy()
    for number in shared:
        rows = table.rows(number)
        log_end = table.ends.log_end[table.end[rows]]
        known = (table.lag[rows] != UNKNOWN) & (log_end != UNKNOWN)
        positions[rows][known] = (log_end - table.lag[rows])[known]
    return positions


def _row_moves(old: _Keys, new: _Keys, end_moves: Ints) -> Ints:
    """For each new table row the old one of the same group and partition, or -1."""
    width = len(old.ends)
    group = row_index.name_indexer(old.groups, new.groups)[row_index.group_of_row(new.bounds)]
    end = end_moves[new.end]
    wanted = np.where((group < 0) | (end < 0), -1, group * width + end)
    return row_index.sorted_indexer(row_index.group_of_row(old.bounds) * width + old.end, wanted)


def _moved(column: Ints, moves: Ints) -> Ints:
    if not len(column):
        return _kept(np.full(len(moves), UNKNOWN, np.int64))
    return _frozen(np.where(moves < 0, UNKNOWN, column[moves]))


def _blank(column: Ints, where: NDArray[np.bool_]) -> Ints:
    return _frozen(np.where(where, UNKNOWN, column))


def _went_back(columns: Sequence[Ints], now: Ints) -> NDArray[np.bool_]:
    """Where `now` is known and lower than the last value that was known before."""
    back = np.zeros(len(now), np.bool_)
    open_rows = np.flatnonzero(now != UNKNOWN)
    for column in reversed(columns):
        last = column[open_rows]
        seen = last != UNKNOWN
        back[open_rows[seen]] = now[open_rows[seen]] < last[seen]
        open_rows = open_rows[~seen]
        if not len(open_rows):
            break
    return back


def _kept(column: Ints) -> Ints:
    """A copy of our own that nobody can write to: the reader may reuse or slice what it handed over."""
    return _frozen(np.array(column, np.int64))


def _frozen(column: Ints) -> Ints:
    column.flags.writeable = False
    return column
