"""Keeping the tables quick and small: few files instead of many, old days in the order of their series, none too old.

Two tiers (spec: "recent by time, old sorted by series"): today's files lie as they came, which is quick to ask for the
last minutes of everything; a day that is over is laid out by series (`history.series_order`), which is quick to ask for
one group over weeks.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from deltalake import CommitProperties, DeltaTable, WriterProperties
from deltalake.exceptions import CommitFailedError

from lag.history.file_replacement import Stored, stored
from lag.history.retention import drop
from lag.history.schemas import DAY, TABLES, Table
from lag.history.series_order import SORTED, sort_day
from lag.history.store import COMMIT_RETRIES, History, told

TARGET_BYTES = 128 * 1024 * 1024
KEEP_REPLACED_HOURS = 24
"""A reader may still be at a file that was replaced, and a writer at one that it has not committed yet."""

SETTLED = timedelta(hours=3)
"""So long after its end a day counts as today: the roll-up may write its last two hours anew, from a whole hour on."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a table holds: rows (None: some file does not tell), files, bytes, its first and last day (None: none).

    The first day may be far back where last rows are kept for good (`lag.history.retention`).
    """

    table: str
    rows: int | None
    files: int
    size_bytes: int
    first_day: date | None
    last_day: date | None


def extents(history: History) -> list[Extent]:
    """Of every table that was ever written to. Raises HistoryError."""
    return [found for name in TABLES if (found := extent(history, name)) is not None]


def extent(history: History, name: str) -> Extent | None:
    """Of one table, from its log alone; None if it was never written to. Raises HistoryError."""
    table = history.open(name)
    if table is None:
        return None
    with told(history.place(name)):
        files = stored(table)
    rows = [file.rows for file in files if file.rows is not None]
    return Extent(
        name,
        rows=sum(rows) if len(rows) == len(files) else None,
        files=len(files),
        size_bytes=sum(file.size_bytes for file in files),
        first_day=min((file.day for file in files), default=None),
        last_day=max((file.day for file in files), default=None),
    )


@dataclass(frozen=True, slots=True)
class Care:
    """What was done to a table; `days_left`: days that others were writing to, left for the next time."""

    table: str
    days_dropped: int
    days_left: int
    files_before: int
    files_after: int
    files_removed: int


def care(history: History, name: str, now: datetime) -> Care | None:
    """Drop the days that are too old, compact the others, delete files that were replaced a day ago. None: no table.

    Appends of other processes go on meanwhile; what they add is compacted the next time. Raises HistoryError.
    """
    table, of = history.open(name), TABLES[name]
    if table is None:
        return None
    with told(history.place(name)):
        before, oldest = len(table.file_uris()), (now.astimezone(UTC) - timedelta(days=of.keep_days)).date()
        dropped = drop(history.root, table, of, oldest)
        today = (now.astimezone(UTC) - SETTLED).date()
        days = _unordered(DeltaTable(table.table_uri), oldest, today)
        left = sum(not _order(history.root, DeltaTable(table.table_uri), of, day, day < today) for day in days)
        table = DeltaTable(table.table_uri)  # the one from before does not know what was done
        return Care(name, dropped, left, before, len(table.file_uris()), _delete_replaced(table))


def _unordered(table: DeltaTable, oldest: date, today: date) -> list[date]:
    """Days that are over and are not one sorted file, and later ones with more files than their bytes need."""
    files = defaultdict[date, list[Stored]](list)
    for file in stored(table):
        files[file.day].append(file)
    return sorted(day for day in files if day >= oldest and not (_is_few if day >= today else _is_sorted)(files[day]))


def _is_sorted(files: list[Stored]) -> bool:
    return len(files) == 1 and files[0].is_named(SORTED)


def _is_few(files: list[Stored]) -> bool:
    return len(files) <= math.ceil(sum(file.size_bytes for file in files) / TARGET_BYTES)


def _order(root: str, table: DeltaTable, of: Table, day: date, is_over: bool) -> bool:
    """Put the day in order; False when others replaced rows of it meanwhile: what was read is no longer so."""
    try:
        if is_over:
            sort_day(root, table, of, day)
        else:
            _compact(table, day)
    except CommitFailedError:
        return False
    return True


def _compact(table: DeltaTable, day: date) -> None:
    table.optimize.compact(
        partition_filters=[(DAY, "=", day.isoformat())],
        target_size=TARGET_BYTES,
        writer_properties=WriterProperties(compression="ZSTD"),
        commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES),
    )


def _delete_replaced(table: DeltaTable) -> int:
    """Delete what no longer belongs to the table; how many files it was.

    `full`: else only those are found that were replaced after the log's last checkpoint, and it has one every hundred
    commits. Files that are younger stay, also those that are not committed yet.
    """
    removed = table.vacuum(KEEP_REPLACED_HOURS, dry_run=False, enforce_retention_duration=False, full=True)
    return len(removed)
