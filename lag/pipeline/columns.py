"""Samples and commits as sorted columns of numbers, from the rows of a worker's share of the roll-up."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from lag.history.resume.rollup_progress import LAST_COMMITS
from lag.history.schemas import BYTES, TEXT, TIME
from lag.offsets import UNKNOWN, Flags, Ints, committed_offsets
from lag.verdict.columns import concatenate, in_order, no_rows, take

TOPIC_BITS, PARTITION_BITS = 20, 24
"""A place is one int64: cluster number, topic number and partition, from high to low bits."""

PARTS = 16
_SPREAD = np.uint64(0x9E37_79B9_7F4A_7C15)
"""2**64 / golden ratio (Fibonacci hashing): adjacent places go to different parts."""

PLACE = ("cluster", "topic", "partition")
SERIES = (*PLACE, "group_id")
END_COLUMNS = (*PLACE, "poll_ts", "log_start", "log_end", "last_stable", "topic_id")
COMMIT_COLUMNS = (*SERIES, "commit_ts", "src_ts", "src_offset", "committed", "topic_id", "bootstrap")

Text = str | bytes


class Numbers:
    """Assigns numbers to texts, from 0 in order of appearance; null is -1."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self._of: dict[Text, int] = {}

    def of(self, column: pa.Array) -> Ints:
        """int64[n]: the number of each text in a column, which may be dictionary-encoded."""
        coded = column.dictionary_encode()
        known = np.array([*map(self._number, coded.dictionary.to_pylist()), UNKNOWN], np.int64)
        numbers: Ints = known[coded.indices.fill_null(-1).to_numpy()]
        return numbers

    def _number(self, text: Text) -> int:
        if text not in self._of:
            self._of[text] = len(self.texts)
            self.texts.append(text)
        return self._of[text]

    def column(self, numbers: Ints, kind: pa.DataType) -> pa.Array:
        """The texts of these numbers."""
        return pa.array(self.texts, kind).take(pa.array(numbers, mask=numbers == UNKNOWN))


@dataclass(frozen=True, slots=True)
class Names:
    """The numbers of all names that a worker has read."""

    clusters: Numbers = field(default_factory=Numbers)
    topics: Numbers = field(default_factory=Numbers)
    groups: Numbers = field(default_factory=Numbers)
    ids: Numbers = field(default_factory=Numbers)
    _topic_of: dict[int, int] = field(default_factory=dict)

    def topics_with(self, ids: Ints) -> Ints:
        """int64[n]: the topic with each of these ids, if a sample has both; -1 = unknown."""
        known = np.full(len(self.ids.texts) + 1, UNKNOWN)
        known[list(self._topic_of)] = list(self._topic_of.values())
        return known[ids]  # the last one is that of no id

    def learn(self, ids: Ints, topics: Ints) -> None:
        """Store which topic has which id; int64[n] each, -1 = no id."""
        named = np.full(len(self.ids.texts) + 1, UNKNOWN)
        named[ids] = topics
        self._topic_of.update((id_, int(named[id_])) for id_ in np.flatnonzero(named[:-1] != UNKNOWN).tolist())

    def places(self, rows: pa.RecordBatch) -> Ints:
        """int64[n]: the place of each row."""
        cluster, topic = self.clusters.of(rows["cluster"]), self.topics.of(rows["topic"])
        return place(cluster, topic, rows["partition"].to_numpy())


def place(cluster: Ints, topic: Ints, partition: Ints) -> Ints:
    """int64[n]: the numbers as one; places ascend with (cluster, topic, partition)."""
    return (cluster << TOPIC_BITS | topic) << PARTITION_BITS | partition.astype(np.int64)


class EndRows(NamedTuple):
    """Samples of log offsets, sorted by place and time: int64[n] each, -1 = unknown."""

    place: Ints
    at_us: Ints
    log_start: Ints
    log_end: Ints
    last_stable: Ints
    topic_id: Ints


class CommitRows(NamedTuple):
    """Commits, sorted by place, group, time and `src_offset`: int64[n], bool[n]; `offset` -1: no commit any more."""

    place: Ints
    group: Ints
    at_us: Ints
    src_offset: Ints
    offset: Ints
    topic_id: Ints
    bootstrap: Flags


Placed = TypeVar("Placed", EndRows, CommitRows)


class Parts(Generic[Placed]):
    """Rows split by place into PARTS parts, each of which is sorted in the processor's cache.

    Rows of the same place are in the part with the same number, for samples and for commits.
    """

    def __init__(self, kind: type[Placed], *order: str) -> None:
        self._kind: type[Placed] = kind
        self._order = order
        self._dealt: list[list[Placed]] = [[] for _ in range(PARTS)]

    def add(self, rows: Placed) -> None:
        """Add rows to their parts."""
        part = ((rows.place.astype(np.uint64) * _SPREAD >> np.uint64(32)) % np.uint64(PARTS)).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(PARTS + 1))
        for mine, run in zip(self._dealt, pairwise(bounds.tolist()), strict=True):
            mine.append(take(rows, order[slice(*run)]))

    def __iter__(self) -> Iterator[Placed]:
        """Each part, sorted; a part is dropped once it was returned."""
        for part in self._dealt:
            yield in_order(concatenate(part) if part else no_rows(self._kind), *self._order)
            part.clear()


def ends(rows: pa.RecordBatch, names: Names) -> EndRows:
    """Samples from rows with END_COLUMNS."""
    start, end, stable = (offsets(rows[name]) for name in ("log_start", "log_end", "last_stable"))
    places, ids = names.places(rows), names.ids.of(rows["topic_id"])
    names.learn(ids, unplaced(places)[1])
    return EndRows(places, times(rows["poll_ts"]), start, end, stable, ids)


def commits(rows: pa.RecordBatch, names: Names) -> CommitRows:
    """Commits from rows with COMMIT_COLUMNS or LAST_COMMITS."""
    return CommitRows(
        names.places(rows),
        names.groups.of(rows["group_id"]),
        commit_times(rows),
        rows["src_offset"].to_numpy(),
        committed_offsets(offsets(rows["committed"])),
        names.ids.of(rows["topic_id"]),
        rows["bootstrap"].to_numpy(zero_copy_only=False),
    )


def commit_times(rows: pa.RecordBatch) -> Ints:
    """int64[n]: microseconds since 1970 of each commit, else of its record; LAST_COMMITS have it as `at`."""
    if "at" in rows.schema.names:
        return times(rows["at"])
    own = offsets(rows["commit_ts"].cast(pa.int64()))
    return np.where(own == UNKNOWN, times(rows["src_ts"]), own)


def times(column: pa.Array) -> Ints:
    """int64[n]: microseconds since 1970."""
    return np.asarray(column.cast(pa.int64()))


def offsets(column: pa.Array) -> Ints:
    """int64[n]: the values, -1 for null."""
    return np.asarray(column.fill_null(UNKNOWN))


def starts(*columns: Ints) -> Ints:
    """int64[n_runs]: the first row of each run of rows with equal values in these columns."""
    changes = np.zeros(max(len(columns[0]) - 1, 0), bool)
    for column in columns:
        changes |= column[1:] != column[:-1]
    return np.append(np.zeros(min(len(columns[0]), 1), np.int64), np.flatnonzero(changes) + 1)


def runs(*columns: Ints) -> list[slice]:
    """The rows of each run of rows with equal values in these columns."""
    bounds = [*starts(*columns).tolist(), len(columns[0])]
    return [slice(since, until) for since, until in pairwise(bounds)]


def last_commits(rows: CommitRows, before_us: int, names: Names) -> pa.Table:
    """The last commit of each series before that time (`LAST_COMMITS`); a row without a commit ends a series."""
    early = np.flatnonzero(rows.at_us < before_us)
    last = early[[run.stop - 1 for run in runs(rows.place[early], rows.group[early])]]
    last = last[rows.offset[last] != UNKNOWN]
    cluster, topic, partition = unplaced(rows.place[last])
    columns = [
        names.clusters.column(cluster, TEXT),
        names.topics.column(topic, TEXT),
        partition,
        names.groups.column(rows.group[last], TEXT),
        pa.array(rows.at_us[last]).cast(TIME),
        rows.src_offset[last],
        rows.offset[last],
        names.ids.column(rows.topic_id[last], BYTES),
        rows.bootstrap[last].astype(bool),
    ]
    return pa.table(columns, LAST_COMMITS.names).cast(LAST_COMMITS)


def unplaced(places: Ints) -> tuple[Ints, Ints, Ints]:
    """int64[n] each: cluster number, topic number and partition of each place."""
    both = places >> PARTITION_BITS
    return both >> TOPIC_BITS, both & (1 << TOPIC_BITS) - 1, places & (1 << PARTITION_BITS) - 1
