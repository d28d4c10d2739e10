"""The history in a folder or an object store: one Delta table for each kind of row, written by several processes.

A write is visible as a whole or not at all. A writer whose commit number is taken checks the other commit and tries
the next number, so appends, compaction and retention do not block each other.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    Field,
    QueryBuilder,
    Schema,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from lag.errors import GroupscopeError, HistoryError
from lag.history.compat import ERROR_CAUSES, commit_files
from lag.history.files import DataFile
from lag.history.schemas import DAY, SCHEMA_VERSION, TABLES, TIME, Table, with_day

VERSION_KEY = "groupscope.schemaVersion"
COMMIT_RETRIES = 50
"""Two busy writers need a few retries; deltalake's default is 15."""

MAX_TRIES = 5
"""The attempts at a write whose files are removed meanwhile, as by compaction."""

_COMPRESSED = WriterProperties(compression="ZSTD")

SQL_TYPES: Mapping[pa.DataType, str] = {
    pa.string(): "Utf8", pa.bool_(): "Boolean", pa.binary(): "Binary", pa.date32(): "Date32", pa.float64(): "Float64",
    pa.int8(): "Int8", pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64",
    TIME: 'Timestamp(Microsecond, Some("UTC"))',
}  # fmt: skip
"""Arrow type -> its name in DataFusion's `arrow_cast`."""


class History:
    """The tables below `root`, a path or URL. A table is created by the first write.

    All methods raise HistoryError with cause and hint: disk full, no permission, a table of a newer groupscope, not a
    Delta table.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(root).rstrip("/")
        self._open_tables: dict[str, DeltaTable] = {}
        self._lock = Lock()

    def table_path(self, name: str) -> str:
        """Path or URL of the table."""
        return f"{self.root}/{name}"

    def append(self, name: str, rows: pa.Table) -> None:
        """Add rows; without a column `dt` it is computed from the table's time."""
        with history_errors(self.table_path(name)):
            self._write(name, rows, mode="append")

    def replace(self, name: str, rows: pa.Table, where: str) -> None:
        """Replace the rows that match `where`; all new rows must match it. Repeated after conflicting commits."""
        with history_errors(self.table_path(name)):
            retry_conflicts(lambda: self._write(name, rows, mode="overwrite", predicate=where))

    def committed(self, name: str, app_id: str) -> int | None:
        """The version of the application's last commit to the table; None before the first."""
        with history_errors(self.table_path(name)):
            table = self._open(name)
            return None if table is None else table.transaction_version(app_id)

    def commit(self, name: str, files: Sequence[DataFile], transaction: Transaction) -> None:
        """Add written files to the table. By its `transaction` a repeated commit is recognised (`committed`)."""
        properties = CommitProperties(max_commit_retries=COMMIT_RETRIES, app_transactions=[transaction])
        with history_errors(self.table_path(name)):
            commit_files(self._open_or_create(name), TABLES[name], files, properties)

    def create(self, name: str) -> None:
        """Create the table if it does not exist."""
        with history_errors(self.table_path(name)):
            self._open_or_create(name)

    def exists(self, name: str) -> bool:
        """Whether the table exists."""
        with history_errors(self.table_path(name)):
            return self._open(name) is not None

    def query(self, sql: str, *names: str) -> pa.Table:
        """The result of a SELECT over these tables; a missing table is empty. Works on a read-only history."""
        with history_errors(self.root):
            rows, sql = _prepared(sql, {name: self._open(name) for name in names})
            return pa.table(rows.execute(sql).read_all())

    def query_open(self, sql: str, name: str) -> pa.Table | None:
        """The result of a SELECT over one table; None if it does not exist. Works on a read-only history.

        Fast when repeated: the table stays open, and only newer commits of its log are read.
        """
        with history_errors(self.table_path(name)):
            try:
                return self._query_open(sql, name)
            except Exception:  # of DataFusion
                if self._open_tables.pop(name, None) is None:
                    raise
            return self._query_open(sql, name)  # the table was deleted, and perhaps created again

    def open(self, name: str) -> DeltaTable | None:
        """The table of delta-rs; None if it does not exist."""
        with history_errors(self.table_path(name)):
            return self._open(name)

    def _query_open(self, sql: str, name: str) -> pa.Table | None:
        with self._lock:
            if (table := self._open_tables.get(name)) is not None:
                table.update_incremental()
                _refuse_newer(table, self.table_path(name))
            elif (table := self._open(name)) is not None:
                self._open_tables[name] = table
            else:
                return None
            rows, sql = _prepared(sql, {name: table})
        return pa.table(rows.execute(sql).read_all())

    def _open(self, name: str) -> DeltaTable | None:
        try:
            table = DeltaTable(self.table_path(name))
        except TableNotFoundError:
            _list_folder(self.root)
            return None
        _refuse_newer(table, self.table_path(name))
        return table

    def _write(self, name: str, rows: pa.Table, **mode: Any) -> None:
        write_deltalake(
            self._open_or_create(name),
            with_day(rows, TABLES[name]),
            writer_properties=_COMPRESSED,
            commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES),
            **mode,
        )

    def _open_or_create(self, name: str) -> DeltaTable:
        wanted = TABLES[name]
        if (table := self._open(name)) is not None:
            _upgrade(table, wanted)
            return table
        if "://" not in self.root:
            Path(self.table_path(name)).mkdir(parents=True, exist_ok=True)
        try:
            DeltaTable.create(
                self.table_path(name),
                wanted.schema,
                mode="ignore",
                partition_by=DAY,
                name=name,
                configuration={VERSION_KEY: str(SCHEMA_VERSION)},
                raise_if_key_not_exists=False,
            )
        except DeltaError:
            if self._open(name) is None:  # else another process created it at the same time
                raise
        return DeltaTable(self.table_path(name))


def _list_folder(root: str) -> None:
    """A folder that cannot be read is not an empty history. Raises OSError unless it can be listed or is missing."""
    if "://" not in root:
        with suppress(FileNotFoundError):
            os.scandir(root).close()


def _upgrade(table: DeltaTable, wanted: Table) -> None:
    """Add the columns that a table of an older groupscope lacks, as null in its rows, and permit null where we do."""
    new, not_null = _outdated(table, wanted)
    try:
        if new:
            table.alter.add_columns(new)
        for name in not_null:
            table.alter.drop_column_not_null(name)
    except DeltaError:
        table.update_incremental()
        if any(_outdated(table, wanted)):  # else another process did the same at the same time
            raise


def _outdated(table: DeltaTable, wanted: Table) -> tuple[list[Field], list[str]]:
    """The columns that the table lacks, and the names of those in which it does not permit null yet."""
    present = {field.name: field.nullable for field in table.schema().fields}
    columns = Schema.from_arrow(wanted.schema).fields
    new = [field for field in columns if field.name not in present]
    return new, [field.name for field in columns if field.nullable and not present.get(field.name, True)]


def retry_conflicts(write: Callable[[], None]) -> None:
    """Call `write`, again from the start after a conflict. Raises CommitFailedError after MAX_TRIES."""
    for _ in range(MAX_TRIES - 1):
        with suppress(CommitFailedError):
            write()
            return
    write()


def _prepared(sql: str, tables: Mapping[str, DeltaTable | None]) -> tuple[QueryBuilder, str]:
    """A builder with the tables, and the SELECT; a WITH clause supplies missing tables and columns as nulls."""
    builder = QueryBuilder()
    for name, table in tables.items():
        if table is not None:
            builder.register(name, table)
    missing = [clause for name, table in tables.items() if (clause := _missing_as_null(name, table))]
    return builder, f"WITH {', '.join(missing)} {sql}" if missing else sql


def _missing_as_null(name: str, table: DeltaTable | None) -> str:
    """A WITH clause that adds the table's missing columns; empty if none is missing."""
    present = set() if table is None else {field.name for field in table.schema().fields}
    missing = [f"{_null(field.type)} AS {field.name}" for field in TABLES[name].schema if field.name not in present]
    if table is None:
        return f"{name} AS (SELECT {', '.join(missing)} WHERE false)"
    return f"{name} AS (SELECT {', '.join(['*', *missing])} FROM {name})" if missing else ""


def _null(kind: pa.DataType) -> str:
    return f"arrow_cast(NULL, '{SQL_TYPES[kind]}')" if kind in SQL_TYPES else "NULL"


def literal(value: str | int | datetime) -> str:
    """The value as an SQL literal."""
    if isinstance(value, int):
        return str(value)
    text = value if isinstance(value, str) else value.astimezone(UTC).isoformat()
    return "'" + text.replace("'", "''") + "'"


def timestamp(at: datetime) -> str:
    """The time as an SQL literal to compare with a column of times."""
    return f"TIMESTAMP {literal(at)}"


def _refuse_newer(table: DeltaTable, path: str) -> None:
    version = table.metadata().configuration.get(VERSION_KEY, str(SCHEMA_VERSION))
    if not version.isdigit() or int(version) > SCHEMA_VERSION:
        raise HistoryError(
            f"{path} was written by a newer groupscope (schema {version}, this one knows {SCHEMA_VERSION})",
            "Upgrade groupscope here, or use another history",
        )


@contextmanager
def history_errors(path: str) -> Iterator[None]:
    """Turn every error of Delta or the disk in the block into a HistoryError that names the path."""
    try:
        yield
    except GroupscopeError:
        raise
    except Exception as error:  # delta-rs raises OSError, DeltaError, and bare Exception for DataFusion's errors
        raise history_error(path, str(error)) from error


def history_error(path: str, message: str) -> HistoryError:
    """The HistoryError for a library's error message about the path."""
    for part, (cause, hint) in ERROR_CAUSES.items():
        if part.lower() in message.lower():
            return HistoryError(f"The history at {path} cannot be used: {cause}", hint)
    return HistoryError(f"The history at {path} cannot be used: {_reason(message)}", "If a file is damaged, restore it")


def _reason(message: str) -> str:
    """The first line; of an error of a Spark Python worker, the line after its traceback."""
    _, traceback, trace = message.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in (trace.splitlines() if traceback else message.splitlines()) if line[:1].strip()]
    return (lines or ["no reason given"])[0][:300]
