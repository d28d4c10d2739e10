"""Keeping the tables quick and small: few files instead of many, old days in the order of their series, none too old.

Two tiers (spec: "recent by time, old sorted by series"): today's files lie as they came, which is quick to ask for the
last minutes of everything; a day that is over is laid out by series (`lag.history.layout`), which is quick to ask for
one group over weeks.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, WriterProperties

from lag.history.layout import is_sorted, sort_day
from lag.history.schemas import DAY, TABLES, Table
from lag.history.store import COMMIT_RETRIES, History, told

TARGET_BYTES = 128 * 1024 * 1024
KEEP_REPLACED_HOURS = 24
"""A reader may still be at a file that was replaced, and a writer at one that it has not committed yet."""

Files = list[tuple[str, int]]
"""Of a day: path and bytes of each."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a table holds: rows, files, bytes, its first and last day (None: nothing)."""

    table: str
    rows: int
    files: int
    size_bytes: int
    first_day: date | None
    last_day: date | None


def extents(history: History) -> list[Extent]:
    """Of every table that was ever written to."""
    found = [(name, history.open(name)) for name in TABLES]
    return [_extent(name, table) for name, table in found if table is not None]


@dataclass(frozen=True, slots=True)
class Care:
    """What was done to a table."""

    table: str
    days_dropped: int
    files_before: int
    files_after: int
    files_removed: int


def care(history: History, name: str, now: datetime) -> Care | None:
    """Drop the days that are too old, compact the others, delete files that were replaced a day ago. None: no table.

    Appends of other processes go on meanwhile; what they add is compacted the next time. Raises HistoryError.
    """
    table = history.open(name)
    if table is None:
        return None
    with told(history.place(name)):
        dropped = _drop(table, TABLES[name], now)
        before = len(table.file_uris())
        for day in _unordered(table, now):
            _order(history.root, DeltaTable(table.table_uri), TABLES[name], day, now)
        table = DeltaTable(table.table_uri)  # the one from before does not know what was done
        removed = table.vacuum(KEEP_REPLACED_HOURS, dry_run=False, enforce_retention_duration=False)
        return Care(name, dropped, before, len(table.file_uris()), len(removed))


def _drop(table: DeltaTable, of: Table, now: datetime) -> int:
    oldest = (now.astimezone(UTC) - timedelta(days=of.keep_days)).date().isoformat()
    gone = {day for day in _days(table)[DAY].to_pylist() if str(day) < oldest}
    if gone:
        table.delete(f"{DAY} < '{oldest}'", commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES))
    return len(gone)


def _unordered(table: DeltaTable, now: datetime) -> list[date]:
    """Days that are over and are not one sorted file, and later ones with more files than their bytes need."""
    today, sizes = now.astimezone(UTC).date(), defaultdict[date, Files](list)
    for row in _days(table).to_pylist():
        sizes[row[DAY]].append((row["path"], row["size_bytes"]))
    return sorted(day for day, files in sizes.items() if not (_is_few if day >= today else _is_sorted)(files))


def _is_sorted(files: Files) -> bool:
    return len(files) == 1 and is_sorted(files[0][0])


def _is_few(files: Files) -> bool:
    return len(files) <= math.ceil(sum(size for _, size in files) / TARGET_BYTES)


def _order(root: str, table: DeltaTable, of: Table, day: date, now: datetime) -> None:
    if day < now.astimezone(UTC).date():
        sort_day(root, table, of, day)
        return
    table.optimize.compact(
        partition_filters=[(DAY, "=", day.isoformat())],
        target_size=TARGET_BYTES,
        writer_properties=WriterProperties(compression="ZSTD"),
        commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES),
    )


def _days(table: DeltaTable) -> pa.Table:
    """One row per file: its path, day, bytes and rows."""
    actions = pa.table(table.get_add_actions(flatten=True))
    names = {"path": "path", f"partition.{DAY}": DAY, "size_bytes": "size_bytes", "num_records": "rows"}
    return actions.select(list(names)).rename_columns(list(names.values()))


def _extent(name: str, table: DeltaTable) -> Extent:
    files = _days(table)
    days = sorted(files[DAY].to_pylist())
    return Extent(
        name,
        rows=sum(files["rows"].to_pylist()),
        files=len(files),
        size_bytes=sum(files["size_bytes"].to_pylist()),
        first_day=days[0] if days else None,
        last_day=days[-1] if days else None,
    )
