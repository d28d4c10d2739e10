"""What a worker of the roll-up does with its share of partitions: lag by the minute and by the hour, into files.

`lag.minutes` is computed for one series after the other; a group is never a Spark group of its own (1.3 ms each,
spec/offsets-pipeline.md §4).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lag.history.schemas import LAG_1H, LAG_1M, TEXT, TIME
from lag.minutes import MINUTE_US, Commits, Ends, Minutes, minutes
from lag.offsets import UNKNOWN, Ints
from lag.pipeline.hours import hours
from lag.pipeline.made import told, written
from lag.pipeline.reading import (
    COMMIT_COLUMNS,
    END_COLUMNS,
    CommitRows,
    EndRows,
    Files,
    Names,
    Share,
    commit_times,
    commits,
    ends,
    kept,
    last_commits,
    place,
    runs,
    times,
    unplaced,
)
from lag.rates import Flags

CARRIED = "last commits"

_SIGNED = ("lag_raw_min", "lead_min")
"""Columns that may be below 0: `has_raw` says where they are known."""

Series = Mapping[tuple[int, int], Minutes]
"""By place and group."""


@dataclass(frozen=True, slots=True)
class LagJob:
    """The minutes of [since, until) for all series, in `shares` parts. Times in microseconds since 1970.

    `ends` are the files that may have a sample from `look_back_us` on; of a cluster in `read_until_us` only samples
    before that time count. `commits` are the files that may have a commit from `known_us` on; `known` has of each
    series the last one before. `owners` are changes of owner (`lag.pipeline.groups.OWNERS`). `carry_us`: the last
    commits before it are to be told.
    """

    shares: int
    since_us: int
    until_us: int
    look_back_us: int
    ends: Files
    read_until_us: Mapping[str, int]
    commits: Files
    known_us: int
    known: pa.Table
    carry_us: int
    owners: pa.Table

    def compute(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the shares with these numbers: what was written (`MADE`). Raises OSError when a file cannot be."""
        for batch in numbers:
            for number in batch["id"].to_pylist():
                yield from self._share(Share(number, self.shares))

    def _share(self, share: Share) -> Iterator[pa.RecordBatch]:
        names = Names()
        mine = self._commits(share, names)
        yield told(CARRIED, last_commits(mine, self.carry_us, names))
        made = lag_minutes(self._ends(share, names), mine, self.owners, names, self.since_us, self.until_us)
        yield written(self.ends.root, LAG_1M, made)
        yield written(self.ends.root, LAG_1H, hours(made))

    def _ends(self, share: Share, names: Names) -> EndRows:
        def keep(rows: pa.RecordBatch) -> Flags:
            at_us = times(rows["poll_ts"])
            return share.has(rows) & (at_us >= self.look_back_us) & (at_us < self._limits_us(rows))

        return ends(kept(self.ends.batches(END_COLUMNS), keep), names)

    def _limits_us(self, rows: pa.RecordBatch) -> Ints:
        clusters, until_us = rows["cluster"], self.until_us
        least = [min(until_us, self.read_until_us.get(one, until_us)) for one in clusters.dictionary.to_pylist()]
        limits: Ints = np.array(least, np.int64)[clusters.indices.to_numpy()]
        return limits

    def _commits(self, share: Share, names: Names) -> CommitRows:
        def keep(rows: pa.RecordBatch) -> Flags:
            at_us = commit_times(rows)
            return share.has(rows) & (at_us >= self.known_us) & (at_us < self.until_us)

        new = kept(self.commits.batches(COMMIT_COLUMNS), keep)
        return commits(chain(kept(self.known.to_batches(), share.has), new), names)


def lag_minutes(
    samples: EndRows, made: CommitRows, owners: pa.Table, names: Names, since_us: int, until_us: int
) -> pa.Table:
    """Rows of `lag_1m` for every series of these commits."""
    sampled = {samples.place[run.start]: run for run in runs(samples.place)}
    found = {
        (made.place[run.start], made.group[run.start]): minutes(
            _ends(samples, sampled.get(made.place[run.start], slice(0, 0))), _commits(made, run), since_us, until_us
        )
        for run in runs(made.place, made.group)
    }
    return (
        _table(found, _owners(found, _owned(owners, samples, names)), names)
        if found
        else LAG_1M.file_schema.empty_table()
    )


def _ends(rows: EndRows, run: slice) -> Ends:
    return Ends(rows.at_us[run], rows.log_start[run], rows.log_end[run], rows.last_stable[run], rows.topic_id[run])


def _commits(rows: CommitRows, run: slice) -> Commits:
    return Commits(rows.at_us[run], rows.offset[run], rows.topic_id[run], rows.bootstrap[run])


@dataclass(frozen=True, slots=True, eq=False)
class _Owned:
    """Changes of owner in the order of their series and time; `runs` are the rows of each place and group."""

    at_us: Ints
    owner: pa.Array
    runs: Mapping[tuple[int, int], slice]


def _owned(owners: pa.Table, samples: EndRows, names: Names) -> _Owned:
    """KIP-848 names topics by their ids; the samples say which name that is."""
    cluster, topic, group, id_ = (
        numbers.of(owners[name].combine_chunks())
        for numbers, name in zip(
            (names.clusters, names.topics, names.groups, names.ids),
            ("cluster", "topic", "group_id", "topic_id"),
            strict=True,
        )
    )
    topic = np.where(topic == UNKNOWN, _topics(samples, names)[id_], topic)
    at = place(cluster, topic, owners["partition"].to_numpy())
    order = np.lexsort((owners["place"].to_numpy(), times(owners["at"]), group, at))
    order = order[topic[order] != UNKNOWN]
    series = {(at[order[run.start]], group[order[run.start]]): run for run in runs(at[order], group[order])}
    return _Owned(times(owners["at"])[order], owners["owner"].combine_chunks().take(pa.array(order)), series)


def _topics(samples: EndRows, names: Names) -> Ints:
    """The topic with each id, and at the end that of none."""
    topics = np.full(len(names.ids.texts) + 1, UNKNOWN)
    known = samples.topic_id != UNKNOWN
    topics[samples.topic_id[known]] = unplaced(samples.place[known])[1]
    return topics


def _owners(found: Series, owned: _Owned) -> pa.Array:
    """Who had the partition at the end of each minute of each series."""
    rows = [_held(one, owned.at_us, owned.runs.get(series, slice(0, 0))) for series, one in found.items()]
    at = np.concatenate(rows)
    return owned.owner.take(pa.array(at, mask=at < 0))


def _held(one: Minutes, since_us: Ints, rows: slice) -> Ints:
    """The row that says who had the partition at the end of each minute; -1: none does."""
    at = np.searchsorted(since_us[rows], one.minute_us + MINUTE_US) - 1
    held: Ints = np.where(at < 0, -1, at + rows.start)
    return held


def _table(found: Series, owner: pa.Array, names: Names) -> pa.Table:
    """All series in one: a table for each would take as long as what is in it."""
    row = np.repeat(np.arange(len(found)), [len(one.minute_us) for one in found.values()])
    every = Minutes(*(np.concatenate([getattr(one, f.name) for one in found.values()]) for f in fields(Minutes)))
    at, group = (np.array(numbers, np.int64)[row] for numbers in zip(*found, strict=True))
    cluster, topic, partition = unplaced(at)
    columns = {
        "cluster": names.clusters.column(cluster, TEXT),
        "topic": names.topics.column(topic, TEXT),
        "partition": partition,
        "group_id": names.groups.column(group, TEXT),
        "owner_member": owner,
        "minute": pa.array(every.minute_us.view("datetime64[us]"), TIME),
    }
    for name in LAG_1M.file_schema.names:
        if name not in columns:
            columns[name] = _column(every, name)
    return pa.table(columns).select(LAG_1M.file_schema.names).cast(LAG_1M.file_schema)


def _column(found: Minutes, name: str) -> pa.Array:
    kind = LAG_1M.schema.field(name).type
    values: NDArray[np.generic] = getattr(found, name)
    if name in _SIGNED:
        return pa.array(values, kind, mask=~found.has_raw)
    if values.dtype == np.float64:
        unknown = np.isnan(values)
        whole = np.where(unknown, 0, values).round() if pa.types.is_integer(kind) else values
        return pa.array(whole, mask=unknown).cast(kind)
    unknown = values == UNKNOWN if LAG_1M.schema.field(name).nullable else np.zeros(len(values), bool)
    return pa.array(values, mask=unknown).cast(kind)
