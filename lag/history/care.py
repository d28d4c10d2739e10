"""Keeping the tables quick and small: few files instead of many, old days in the order of their series, none too old.

Two tiers (spec: "recent by time, old sorted by series"): today's files lie as they came, which is quick to ask for the
last minutes of everything; a day that is over is laid out by series, which is quick to ask for one group over weeks.
"""

import math
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, WriterProperties

from lag.history.schemas import DAY, TABLES, Table
from lag.history.store import COMMIT_RETRIES, History, told

TARGET_BYTES = 128 * 1024 * 1024
KEEP_REPLACED_HOURS = 24
"""A reader may still be at a file that was replaced, and a writer at one that it has not committed yet."""


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
        for day, files in _crowded(table):
            _compact(table, TABLES[name], day, files, now)
        removed = table.vacuum(KEEP_REPLACED_HOURS, dry_run=False, enforce_retention_duration=False)
        return Care(name, dropped, before, len(table.file_uris()), len(removed))


def _drop(table: DeltaTable, of: Table, now: datetime) -> int:
    oldest = (now.astimezone(UTC) - timedelta(days=of.keep_days)).date().isoformat()
    gone = {day for day in _days(table)[DAY].to_pylist() if str(day) < oldest}
    if gone:
        table.delete(f"{DAY} < '{oldest}'", commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES))
    return len(gone)


def _crowded(table: DeltaTable) -> list[tuple[date, int]]:
    """Days with more files than their bytes need, and how many they need."""
    files: Counter[date] = Counter()
    size: Counter[date] = Counter()
    for row in _days(table).to_pylist():
        files[row[DAY]] += 1
        size[row[DAY]] += row["size_bytes"]
    needed = {day: math.ceil(size[day] / TARGET_BYTES) for day in files}
    return [(day, needed[day]) for day in sorted(files) if files[day] > needed[day]]


def _compact(table: DeltaTable, of: Table, day: date, files: int, now: datetime) -> None:
    options: dict[str, Any] = {
        "partition_filters": [(DAY, "=", day.isoformat())],
        "target_size": TARGET_BYTES,
        "writer_properties": WriterProperties(compression="ZSTD"),
        "commit_properties": CommitProperties(max_commit_retries=COMMIT_RETRIES),
    }
    if day < now.astimezone(UTC).date():
        table.optimize.z_order(of.series, **options)
    else:
        table.optimize.compact(**options)


def _days(table: DeltaTable) -> pa.Table:
    """One row per file: its day, bytes and rows."""
    actions = pa.table(table.get_add_actions(flatten=True))
    return actions.select([f"partition.{DAY}", "size_bytes", "num_records"]).rename_columns([DAY, "size_bytes", "rows"])


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
