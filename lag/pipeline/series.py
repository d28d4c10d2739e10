"""What a Python worker does with a bucket of partitions: `lag.minutes` for each series in it. Arrow in, Arrow out."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lag.history.schemas import LAG_1M, TIME
from lag.minutes import MINUTE_US, Commits, Ends, Minutes, minutes
from lag.offsets import UNKNOWN, Ints

PLACE = ("cluster", "topic", "partition")
SERIES = (*PLACE, "group_id")
END_COLUMNS = (*PLACE, "poll_ts", "log_start", "log_end", "last_stable", "topic_id")
COMMIT_COLUMNS = (*SERIES, "at", "src_offset", "committed", "topic_id", "bootstrap", "owner", "is_owner")
"""`is_owner` rows are no commits: from `at` on, `owner` has the partition (null: nobody)."""

Series = Mapping[tuple[str | int, ...], Minutes]
Columns = TypeVar("Columns", Ends, Commits)

_SIGNED = ("lag_raw_min", "lead_min")
"""Columns that may be below 0: `has_raw` says where they are known."""


def lag_minutes(since_us: int, until_us: int, ends: pa.Table, commits: pa.Table) -> pa.Table:
    """Rows of `lag_1m` for every series of these commits."""
    owned, commits = commits.filter(pc.field("is_owner")), commits.filter(~pc.field("is_owner"))
    ends, commits = _sorted(ends, PLACE, "poll_ts"), _sorted(commits, SERIES, "at", "src_offset")
    end_ids, commit_ids = _numbered(ends["topic_id"], commits["topic_id"])
    sampled = {_key(ends, rows.start, PLACE): rows for rows in _runs(ends, PLACE)}
    samples, made = _ends(ends, end_ids), _commits(commits, commit_ids)
    found = {}
    for rows in _runs(commits, SERIES):
        series = _key(commits, rows.start, SERIES)
        there = sampled.get(series[: len(PLACE)], slice(0, 0))
        found[series] = minutes(_cut(samples, there), _cut(made, rows), since_us, until_us)
    return _table(found, _owners(found, owned)) if found else LAG_1M.file_schema.empty_table()


def _sorted(rows: pa.Table, series: tuple[str, ...], *then: str) -> pa.Table:
    """By series, whichever comes first, and within each by the rest.

    Names become numbers before: to compare and move texts would take longer than all that is computed of them.
    """
    for name in ("cluster", "topic", "group_id", "topic_id"):
        if name in rows.column_names:
            coded = rows[name].combine_chunks().dictionary_encode()
            rows = rows.set_column(rows.schema.get_field_index(name), name, coded)
    number = np.zeros(len(rows), np.int64)
    for name in series:
        codes = rows[name].combine_chunks().dictionary_encode().indices.to_numpy()
        number = number * (codes.max(initial=0) + 1) + codes
    keys = [number, *(rows[name].to_numpy() for name in then)]
    return rows.take(pa.array(np.lexsort(keys[::-1])))


def _numbered(*columns: pa.ChunkedArray) -> tuple[Ints, ...]:
    """Numbers for the ids of both, the same for the same; -1 for none."""
    joined = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
    codes = joined.unify_dictionaries().combine_chunks().indices.fill_null(UNKNOWN).to_numpy().astype(np.int64)
    return tuple(np.split(codes, np.cumsum([len(column) for column in columns])[:-1]))


def _runs(table: pa.Table, names: tuple[str, ...]) -> Iterator[slice]:
    """The rows of each series in a table that is sorted by these columns."""
    if not len(table):
        return iter(())
    changes = np.zeros(len(table) - 1, bool)
    for name in names:
        codes = table[name].combine_chunks().dictionary_encode().indices.to_numpy()
        changes |= codes[1:] != codes[:-1]
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), len(table)]
    return (slice(since, until) for since, until in pairwise(bounds))


def _key(table: pa.Table, row: int, names: tuple[str, ...]) -> tuple[str | int, ...]:
    return tuple(table[name][row].as_py() for name in names)


def _ends(rows: pa.Table, ids: Ints) -> Ends:
    start, end, stable = (_offsets(rows[name]) for name in ("log_start", "log_end", "last_stable"))
    return Ends(_times(rows["poll_ts"]), start, end, stable, ids)


def _commits(rows: pa.Table, ids: Ints) -> Commits:
    return Commits(_times(rows["at"]), _offsets(rows["committed"]), ids, rows["bootstrap"].to_numpy())


def _times(column: pa.ChunkedArray) -> Ints:
    times: Ints = column.cast(pa.int64()).to_numpy()
    return times


def _offsets(column: pa.ChunkedArray) -> Ints:
    offsets: Ints = pc.fill_null(column, UNKNOWN).to_numpy()
    return offsets


def _cut(columns: Columns, rows: slice) -> Columns:
    return type(columns)(*(getattr(columns, column.name)[rows] for column in fields(columns)))


def _owners(found: Series, owned: pa.Table) -> pa.Array:
    """Who had the partition at the end of each minute of each series; `owned`: since when who has had it."""
    owned = _sorted(owned, SERIES, "at", "src_offset")
    holders = {_key(owned, rows.start, SERIES): rows for rows in _runs(owned, SERIES)}
    since_us = _times(owned["at"])
    rows = [_held(one, since_us, holders.get(series, slice(0, 0))) for series, one in found.items()]
    at = np.concatenate(rows)
    return owned["owner"].combine_chunks().take(pa.array(at, mask=at < 0))


def _held(one: Minutes, since_us: Ints, rows: slice) -> Ints:
    """The row that says who had the partition at the end of each minute; -1: none does."""
    at = np.searchsorted(since_us[rows], one.minute_us + MINUTE_US) - 1
    held: Ints = np.where(at < 0, -1, at + rows.start)
    return held


def _table(found: Series, owner: pa.Array) -> pa.Table:
    """All series in one: a table for each would take as long as what is in it."""
    row = pa.array(np.repeat(np.arange(len(found)), [len(one.minute_us) for one in found.values()]))
    every = Minutes(*(np.concatenate([getattr(one, f.name) for one in found.values()]) for f in fields(Minutes)))
    columns = {name: pa.array(names).take(row) for name, names in zip(SERIES, zip(*found, strict=True), strict=True)}
    columns["owner_member"] = owner
    columns["minute"] = pa.array(every.minute_us.view("datetime64[us]"), TIME)
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
