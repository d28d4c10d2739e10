"""Maintains the tables: compacts small files, sorts finished days by series, drops old days.

Today's files stay in the order of arrival, which suits queries for the last minutes of all groups. A finished day is
sorted by series (`lag.history.rewrites.series_order`), which suits queries for one group over weeks.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from deltalake import CommitProperties, DeltaTable, WriterProperties
from deltalake.exceptions import CommitFailedError

from lag.history.rewrites.file_replacement import StoredFile, stored_files
from lag.history.rewrites.retention import drop_days
from lag.history.rewrites.series_order import SORTED_PREFIX, sort_day
from lag.history.schemas import DAY, TABLES, Table
from lag.history.store import COMMIT_RETRIES, History, history_errors

TARGET_BYTES = 128 * 1024 * 1024
KEEP_REPLACED_HOURS = 24
"""Readers may still use a replaced file, and writers may not have committed a new one yet."""

DAY_OVER_AFTER = timedelta(hours=3)
"""A day is finished this long after midnight: the roll-up may rewrite its last two hours, from a full hour on."""


@dataclass(frozen=True, slots=True)
class TableSize:
    """The size of a table, and its first and last day. `rows` None: the statistics of a file are missing.

    The first day may be far back where last rows are kept (`lag.history.rewrites.retention`).
    """

    table: str
    rows: int | None
    files: int
    size_bytes: int
    first_day: date | None
    last_day: date | None


def table_sizes(history: History) -> list[TableSize]:
    """The sizes of all tables that exist. Raises HistoryError."""
    return [found for name in TABLES if (found := table_size(history, name)) is not None]


def table_size(history: History, name: str) -> TableSize | None:
    """The size of one table, from its log; None if it does not exist. Raises HistoryError."""
    table = history.open(name)
    if table is None:
        return None
    with history_errors(history.table_path(name)):
        files = stored_files(table)
    rows = [file.rows for file in files if file.rows is not None]
    return TableSize(
        name,
        rows=sum(rows) if len(rows) == len(files) else None,
        files=len(files),
        size_bytes=sum(file.size_bytes for file in files),
        first_day=min((file.day for file in files), default=None),
        last_day=max((file.day for file in files), default=None),
    )


@dataclass(frozen=True, slots=True)
class MaintenanceResult:
    """What `maintain` did. `days_left`: days that other writers changed meanwhile, left for the next run."""

    table: str
    files_before: int
    files_after: int
    days_dropped: int
    days_left: int
    old_files_deleted: int


def maintain(history: History, name: str, now: datetime) -> MaintenanceResult | None:
    """Drop days past their retention, compact the others, delete replaced files. None: the table does not exist.

    Other processes may append meanwhile; their files are compacted by the next run. Raises HistoryError.
    """
    table, of = history.open(name), TABLES[name]
    if table is None:
        return None
    with history_errors(history.table_path(name)):
        before, oldest = len(table.file_uris()), (now.astimezone(UTC) - timedelta(days=of.keep_days)).date()
        dropped = drop_days(history.root, table, of, oldest)
        today = (now.astimezone(UTC) - DAY_OVER_AFTER).date()
        days = _days_to_compact(DeltaTable(table.table_uri), oldest, today)
        left = sum(not _put_in_order(history.root, DeltaTable(table.table_uri), of, day, day < today) for day in days)
        table = DeltaTable(table.table_uri)  # reopened, because the old one is not up to date
        return MaintenanceResult(name, before, len(table.file_uris()), dropped, left, _delete_replaced(table))


def _days_to_compact(table: DeltaTable, oldest: date, today: date) -> list[date]:
    """Finished days that are not one sorted file, and later days with more files than necessary."""
    files = defaultdict[date, list[StoredFile]](list)
    for file in stored_files(table):
        files[file.day].append(file)
    return sorted(day for day in files if day >= oldest and not (_is_few if day >= today else _is_sorted)(files[day]))


def _is_sorted(files: list[StoredFile]) -> bool:
    return len(files) == 1 and files[0].has_prefix(SORTED_PREFIX)


def _is_few(files: list[StoredFile]) -> bool:
    return len(files) <= math.ceil(sum(file.size_bytes for file in files) / TARGET_BYTES)


def _put_in_order(root: str, table: DeltaTable, of: Table, day: date, is_over: bool) -> bool:
    """Sort or compact the day; False if another writer replaced rows of it meanwhile."""
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
    """Delete files that are not part of the table and older than KEEP_REPLACED_HOURS; returns their number.

    Without `full`, vacuum finds only files replaced after the log's last checkpoint.
    """
    removed = table.vacuum(KEEP_REPLACED_HOURS, dry_run=False, enforce_retention_duration=False, full=True)
    return len(removed)
