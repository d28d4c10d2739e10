"""A worker's part for its share of partitions: writes lag by the minute and by the hour to files.

Groups are not Spark groups, which would cost 1.3 ms each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lag.history.schemas import COMMITS as COMMITS_TABLE
from lag.history.schemas import END_OFFSETS, LAG_1H, LAG_1M, TEXT, TIME, with_day
from lag.history.status_codes import stored_codes
from lag.offsets import UNKNOWN, Flags, Ints
from lag.pipeline.columns import (
    COMMIT_COLUMNS,
    END_COLUMNS,
    CommitRows,
    EndRows,
    Names,
    Parts,
    commit_times,
    commits,
    ends,
    last_commits,
    place,
    runs,
    times,
    unplaced,
)
from lag.pipeline.hours import hours
from lag.pipeline.shares import Shuffle, by_partition
from lag.pipeline.worker_results import Writing, result_of
from lag.rollup.lag_minutes import MINUTE_US, LagMinutes, minutes
from lag.verdict.columns import concatenate
from lag.verdict.window.samples import Commits, LogSamples

CARRIED = "last commits"
ENDS, COMMITS = END_OFFSETS.name, COMMITS_TABLE.name

_SIGNED = ("lag_raw_min", "lead_min")
"""Columns that may be negative: `has_raw` marks where they are known."""

AT_ONCE = 32
"""Series computed in one call: the columns of more would not fit the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """Changes of owner, ordered by series and time: `at_us` int64[n]; `runs`: (place, group) -> its rows."""

    at_us: Ints
    owner: pa.Array
    runs: Mapping[tuple[int, int], slice]


@dataclass(frozen=True, slots=True)
class Times:
    """Which recorded rows are used, by their times in microseconds since 1970, all before `until_us`.

    Samples from `look_back_us` on, of a cluster in `read_until_us` only before that time; commits from `known_us` on.
    """

    look_back_us: int
    known_us: int
    until_us: int
    read_until_us: Mapping[str, int]

    def count(self, table: str, rows: pa.RecordBatch) -> Flags:
        """bool[n]: which of these rows of the table are used."""
        if table == COMMITS:
            at_us = commit_times(rows)
            return (at_us >= self.known_us) & (at_us < self.until_us)
        at_us = times(rows["poll_ts"])
        return (at_us >= self.look_back_us) & (at_us < self._limits_us(rows))

    def _limits_us(self, rows: pa.RecordBatch) -> Ints:
        clusters, until_us = rows["cluster"], self.until_us
        least = [min(until_us, self.read_until_us.get(one, until_us)) for one in clusters.dictionary.to_pylist()]
        limits: Ints = np.array(least, np.int64)[clusters.indices.to_numpy()]
        return limits


@dataclass(frozen=True, slots=True)
class LagJob:
    """The minutes from `since_us` on for all series. Times in microseconds since 1970.

    `known` has the last commits before `times.known_us`. `owners` are changes of owner (`group_worker.OWNERS`). The
    last commits before `carry_us` are returned.
    """

    root: str
    shares: int
    since_us: int
    times: Times
    known: pa.Table
    carry_us: int
    owners: pa.Table

    def shuffle(self) -> Shuffle:
        """Each partition is in one share."""
        return Shuffle(self.root, {ENDS: END_COLUMNS, COMMITS: COMMIT_COLUMNS}, self.times.count, by_partition)

    def compute(self, share: int, rows: Iterator[tuple[str, pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        """Written files and last commits of a share (`RESULTS`). Raises OSError if a file cannot be written."""
        names, carried, lag = Names(), [], Writing(self.root, LAG_1M.name, LAG_1H.name)
        samples, commit_rows = (
            Parts(EndRows, "place", "at_us"),
            Parts(CommitRows, "place", "group", "at_us", "src_offset"),
        )
        for table, some in chain(self._known(share), rows):
            if table == COMMITS:
                commit_rows.add(commits(some, names))
            else:
                samples.add(ends(some, names))
        owned = _owned(self.owners, names)
        for mine, there in zip(commit_rows, samples, strict=True):
            carried.append(last_commits(mine, self.carry_us, names))
            lag_1m = lag_minutes(there, mine, owned, names, self.since_us, self.times.until_us)
            lag.add(LAG_1M.name, with_day(lag_1m, LAG_1M))
            lag.add(LAG_1H.name, with_day(hours(lag_1m), LAG_1H))
        yield lag.result()
        yield result_of(CARRIED, pa.concat_tables(carried))

    def _known(self, share: int) -> Iterator[tuple[str, pa.RecordBatch]]:
        for rows in self.known.to_batches():
            yield COMMITS, rows.filter(pa.array(by_partition(rows) % self.shares == share))


def lag_minutes(
    samples: EndRows, commit_rows: CommitRows, owned: Owned, names: Names, since_us: int, until_us: int
) -> pa.Table:
    """Rows of `lag_1m` for every series of these commits."""
    sampled = {samples.place[run.start]: run for run in runs(samples.place)}
    series = runs(commit_rows.place, commit_rows.group)
    found = []
    for first in range(0, len(series), AT_ONCE):
        some = series[first : first + AT_ONCE]
        there = [sampled.get(commit_rows.place[run.start], slice(0, 0)) for run in some]
        lag = minutes(_ends(samples, there), _commits(commit_rows, some), since_us, until_us)
        found.append(lag._replace(series=lag.series + first))
    if not found:
        return LAG_1M.file_schema.empty_table()
    every = concatenate(found)
    row = np.array([run.start for run in series])[every.series]
    owner = _owners(every, commit_rows.place[row], commit_rows.group[row], owned)
    return _table(every, commit_rows.place[row], commit_rows.group[row], owner, names)


def _ends(rows: EndRows, there: Sequence[slice]) -> LogSamples:
    columns = (rows.at_us, rows.log_start, rows.log_end, rows.last_stable, rows.topic_id)
    return LogSamples(_numbered(there), *(np.concatenate([column[run] for run in there]) for column in columns))


def _commits(rows: CommitRows, series: Sequence[slice]) -> Commits:
    every = slice(series[0].start, series[-1].stop)
    return Commits(
        _numbered(series), rows.at_us[every], rows.offset[every], rows.topic_id[every], rows.bootstrap[every]
    )


def _numbered(series: Sequence[slice]) -> Ints:
    return np.repeat(np.arange(len(series)), [run.stop - run.start for run in series])


def _owned(owners: pa.Table, names: Names) -> Owned:
    """Records of KIP-848 have topic ids without names; the names come from the samples."""
    cluster, topic, group, id_ = (
        numbers.of(owners[name].combine_chunks())
        for numbers, name in zip(
            (names.clusters, names.topics, names.groups, names.ids),
            ("cluster", "topic", "group_id", "topic_id"),
            strict=True,
        )
    )
    topic = np.where(topic == UNKNOWN, names.topics_with(id_), topic)
    at = place(cluster, topic, owners["partition"].to_numpy())
    order = np.lexsort((owners["place"].to_numpy(), times(owners["at"]), group, at))
    order = order[topic[order] != UNKNOWN]
    series = {(at[order[run.start]], group[order[run.start]]): run for run in runs(at[order], group[order])}
    return Owned(times(owners["at"])[order], owners["owner"].combine_chunks().take(pa.array(order)), series)


def _owners(every: LagMinutes, at: Ints, group: Ints, owned: Owned) -> pa.Array:
    """The owner of the partition at the end of each minute."""
    held = np.full(len(at), UNKNOWN)
    for run in runs(every.series):
        if (changes := owned.runs.get((at[run.start], group[run.start]))) is not None:
            before = np.searchsorted(owned.at_us[changes], every.minute_us[run] + MINUTE_US)
            held[run] = np.where(before > 0, changes.start + before - 1, UNKNOWN)
    return owned.owner.take(pa.array(held, mask=held == UNKNOWN))


def _table(every: LagMinutes, at: Ints, group: Ints, owner: pa.Array, names: Names) -> pa.Table:
    cluster, topic, partition = unplaced(at)
    columns = {
        "cluster": names.clusters.column(cluster, TEXT),
        "topic": names.topics.column(topic, TEXT),
        "partition": partition,
        "group_id": names.groups.column(group, TEXT),
        "owner_member": owner,
        "minute": pa.array(every.minute_us.view("datetime64[us]"), TIME),
        "status": stored_codes(every.status),
    }
    for name in LAG_1M.file_schema.names:
        if name not in columns:
            columns[name] = _column(every, name)
    return pa.table(columns).select(LAG_1M.file_schema.names).cast(LAG_1M.file_schema)


def _column(found: LagMinutes, name: str) -> pa.Array:
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
