"""The last polls as arrays: committed offset, log start and log end of every row, and whether it is held.

The collector's thread fills a `SampleRing`; a verdict reads a `Window`, an immutable view of it. Rows follow the newest
snapshot: rows that disappear are dropped, new rows start with unknown samples. The ring has a budget of cells, so that
a large cluster keeps fewer polls and memory does not grow with time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lag.model import ClusterSnapshot, GroupType, Topic, Unread, is_created_again
from lag.offsets import UNKNOWN, Codes, EndOffsets, Flags, Ints, OffsetTable
from lag.verdict import row_index
from lag.verdict.onset import RowCommits
from lag.verdict.waiting import Waiting

_T = TypeVar("_T", bound=np.generic)

MAX_SAMPLES = 60
MIN_SAMPLES = 12
MAX_CELLS = 24_000_000
"""192 MB of int64: 500,000 group partitions on few topics keep about 47 polls."""

BLOCK_CELLS = 250_000
"""Rows times samples that are computed at once: they fit the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class RowWindow:
    """Rows over time: `times_ms` int64[n_samples]; offsets int64[n_samples, n_rows], oldest first, -1 = unknown.

    `held` is bool[n_samples, n_rows]: the row waits for an open transaction, see `Waiting.is_held`. `held` and
    `waiting` are None where only the samples are known.
    """

    times_ms: Ints
    committed: Ints
    log_start: Ints
    log_end: Ints
    held: Flags | None = None
    waiting: Waiting | None = None

    def passed(self) -> Ints:
        """int64[n_rows]: the newest committed offset, or what checks of the log found to be the next one to read."""
        newest: Ints = self.committed[-1]
        return newest if self.waiting is None else np.maximum(newest, self.waiting.passed)

    def positions(self) -> Ints:
        """int64[n_samples, n_rows]: the committed offsets, without what checks found to be nothing to read."""
        newest = self.committed[-1]
        if self.waiting is None or not (self.waiting.passed > newest).any():
            return self.committed
        return np.where((self.committed == newest) & (newest != UNKNOWN), self.passed(), self.committed)


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The samples of one cluster, oldest first; the last one is the newest snapshot.

    One int64 array per sample, -1 = unknown: `committed` [n_rows of the snapshot's OffsetTable], `log_start` and
    `log_end` [n_rows of its EndOffsets]. `held`: bool[n_rows of the OffsetTable] per sample; empty where it is not
    known. `end` int32[n_rows of OffsetTable] is the row in EndOffsets. `times_ms` is
    int64[n_samples].
    """

    times_ms: Ints
    end: Codes
    committed: tuple[Ints, ...]
    log_start: tuple[Ints, ...]
    log_end: tuple[Ints, ...]
    held: tuple[Flags, ...] = ()
    waiting: Waiting | None = None

    def blocks(self, rows: int) -> Iterator[slice]:
        """Slices of `rows` rows, with at most BLOCK_CELLS cells each; one empty slice for 0 rows."""
        size = max(1, BLOCK_CELLS // len(self.times_ms))
        return (slice(first, first + size) for first in range(0, max(1, rows), size))

    def passed(self, rows: Ints) -> Ints:
        """int64[len(rows)]: as `RowWindow.passed`, for these rows of the offset table."""
        newest: Ints = self.committed[-1][rows]
        return newest if self.waiting is None else np.maximum(newest, self.waiting.passed[rows])

    def rows(self, rows: slice | Ints) -> RowWindow:
        """These rows of the offset table, each with the log of its partition."""
        end = self.end[rows]
        return RowWindow(
            self.times_ms,
            np.stack([column[rows] for column in self.committed]),
            np.stack([column[end] for column in self.log_start]),
            np.stack([column[end] for column in self.log_end]),
            np.stack([column[rows] for column in self.held]) if self.held else None,
            None if self.waiting is None else self.waiting.of_rows(rows),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    at_ms: int
    committed: Ints
    log_start: Ints
    log_end: Ints
    held: Flags

    def map(self, of_rows: Callable[[NDArray[Any]], NDArray[Any]], of_ends: Callable[[Ints], Ints]) -> "_Sample":
        """The sample with its columns of group rows and its columns of logs changed."""
        log_start, log_end = of_ends(self.log_start), of_ends(self.log_end)
        return _Sample(self.at_ms, of_rows(self.committed), log_start, log_end, of_rows(self.held))


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    """What the rows stand for: (group, end row) and (topic, partition), both ascending as in the tables."""

    groups: tuple[str, ...]
    bounds: Ints
    end: Codes
    ends: EndOffsets

    def equals(self, other: "_Keys") -> bool:
        ends, others = self.ends, other.ends
        return (
            ends.topics == others.topics
            and self.groups == other.groups
            and np.array_equal(ends.topic, others.topic)
            and np.array_equal(ends.partition, others.partition)
            and np.array_equal(self.bounds, other.bounds)
            and np.array_equal(self.end, other.end)
        )


class SampleRing:
    """The last samples of one cluster. Not thread safe: one thread fills it; the windows may go to any thread."""

    def __init__(
        self, max_samples: int = MAX_SAMPLES, min_samples: int = MIN_SAMPLES, max_cells: int = MAX_CELLS
    ) -> None:
        self._max_samples, self._min_samples, self._max_cells = max_samples, min_samples, max_cells
        self._samples: list[_Sample] = []
        self._keys: _Keys | None = None
        self._topic_ids: dict[str, str] = {}
        self._waiting = Waiting.none(0)

    @property
    def waiting(self) -> Waiting:
        """What the polls, and checks of the logs, tell about the rows of the newest snapshot."""
        return self._waiting

    def append(self, snapshot: ClusterSnapshot, commits: RowCommits | None = None) -> Window:
        """Add one poll; returns the window that ends with it. A clock that went backwards drops earlier samples.

        `commits` is what records tell about the rows of the snapshot; None: no records are read.
        """
        table, ends = snapshot.offsets, snapshot.offsets.ends
        if self._samples and snapshot.at_ms <= self._samples[-1].at_ms:
            self._samples, self._waiting = [], Waiting.none(len(self._waiting.committed))
        groups = tuple(group.group_id for group in snapshot.groups)
        self._rekey(_Keys(groups, table.bounds, table.end, ends))
        self._forget(self._recreated(ends, snapshot.topics), table)
        committed, log_start, log_end = map(_frozen_copy, (_positions(snapshot), ends.log_start, ends.log_end))
        stable, high = ends.last_stable[table.end], log_end[table.end]
        self._waiting = self._waiting.after(snapshot.at_ms, committed, stable, high, commits)
        held = _frozen(self._waiting.is_held == 1)
        self._samples.append(_Sample(snapshot.at_ms, committed, log_start, log_end, held))
        del self._samples[: -self.capacity(len(table), len(ends))]
        return self._window(table)

    def checked(self, window: Window, rows: Ints, found: Sequence[Unread]) -> Window:
        """The newest window with what checks of the logs of these rows (int64[n]) found; later ones have it too."""
        self._waiting = self._waiting.checked(int(window.times_ms[-1]), rows, found)
        return replace(window, waiting=self._waiting)

    def capacity(self, rows: int, ends: int) -> int:
        """How many samples of this many rows the budget allows."""
        fit = self._max_cells // max(1, rows + 2 * ends)
        return max(self._min_samples, min(self._max_samples, fit))

    def _rekey(self, keys: _Keys) -> None:
        """Rearrange the samples for the rows of the new poll, if these differ."""
        old, self._keys = self._keys, keys
        if old is None:
            self._waiting = Waiting.none(len(keys.end))
        if old is None or old.equals(keys):
            return
        ends = row_index.partition_indexer(old.ends, keys.ends)
        rows = _row_indexer(old, keys, ends)
        self._waiting = self._waiting.reindexed(rows)
        of_rows, of_ends = partial(_reindexed, indexer=rows), partial(_reindexed, indexer=ends)
        self._samples = [s.map(of_rows, of_ends) for s in self._samples]

    def _recreated(self, ends: EndOffsets, topics: Mapping[str, Topic]) -> NDArray[np.bool_]:
        """bool[n_ends]: earlier samples are of another log: new topic id, or a lower log end or log start."""
        new_id = np.array([self._has_new_id(name, topics) for name in ends.topics], np.bool_)
        self._topic_ids = {name: known for name in ends.topics if (known := self._topic_id(name, topics)) is not None}
        lower_end = _decreased([s.log_end for s in self._samples], ends.log_end)
        return new_id[ends.topic] | lower_end | _decreased([s.log_start for s in self._samples], ends.log_start)

    def _topic_id(self, name: str, topics: Mapping[str, Topic]) -> str | None:
        topic = topics.get(name)
        return topic.topic_id if topic and topic.topic_id else self._topic_ids.get(name)

    def _has_new_id(self, name: str, topics: Mapping[str, Topic]) -> bool:
        return is_created_again(self._topic_ids.get(name), self._topic_id(name, topics))

    def _forget(self, recreated: NDArray[np.bool_], table: OffsetTable) -> None:
        if not recreated.any():
            return
        rows = recreated[table.end]
        self._waiting = self._waiting.forgotten(rows)
        of_rows, of_ends = partial(_blank, where=rows), partial(_blank, where=recreated)
        self._samples = [s.map(of_rows, of_ends) for s in self._samples]

    def _window(self, table: OffsetTable) -> Window:
        return Window(
            times_ms=_frozen_copy(np.array([s.at_ms for s in self._samples], np.int64)),
            end=table.end,
            committed=tuple(s.committed for s in self._samples),
            log_start=tuple(s.log_start for s in self._samples),
            log_end=tuple(s.log_end for s in self._samples),
            held=tuple(s.held for s in self._samples),
            waiting=self._waiting,
        )


def _positions(snapshot: ClusterSnapshot) -> Ints:
    """Committed offsets; for share groups, which acknowledge out of order, log end minus the broker's lag."""
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


def _row_indexer(old: _Keys, new: _Keys, ends: Ints) -> Ints:
    """int64[n_new_rows]: the old row of the same group and partition; -1 = none. `ends` is that of the end rows."""
    width = len(old.ends)
    group = row_index.name_indexer(old.groups, new.groups)[row_index.group_of_row(new.bounds)]
    end = ends[new.end]
    wanted = np.where((group < 0) | (end < 0), -1, group * width + end)
    return row_index.sorted_indexer(row_index.group_of_row(old.bounds) * width + old.end, wanted)


def _reindexed(column: NDArray[_T], indexer: Ints) -> NDArray[_T]:
    if not len(column):
        return _frozen(np.full(len(indexer), _none(column), column.dtype))
    return _frozen(np.where(indexer < 0, _none(column), column[indexer]))


def _blank(column: NDArray[_T], where: Flags) -> NDArray[_T]:
    return _frozen(np.where(where, _none(column), column))


def _none(column: NDArray[Any]) -> int | bool:
    """What a row has that no poll has seen."""
    return False if column.dtype == np.bool_ else UNKNOWN


def _decreased(columns: Sequence[Ints], now: Ints) -> NDArray[np.bool_]:
    """bool[len(now)]: `now` is known and lower than the last known value before."""
    lower = np.zeros(len(now), np.bool_)
    open_rows = np.flatnonzero(now != UNKNOWN)
    for column in reversed(columns):
        last = column[open_rows]
        seen = last != UNKNOWN
        lower[open_rows[seen]] = now[open_rows[seen]] < last[seen]
        open_rows = open_rows[~seen]
        if not len(open_rows):
            break
    return lower


def _frozen_copy(column: Ints) -> Ints:
    """A read-only copy: the reader may reuse its arrays."""
    return _frozen(np.array(column, np.int64))


def _frozen(column: NDArray[_T]) -> NDArray[_T]:
    column.flags.writeable = False
    return column
