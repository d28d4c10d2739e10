"""The history of clusters in a folder or an object store: one Delta table each, written by many processes at once.

A write becomes visible in one commit or not at all. Delta's log takes one commit per number: who comes second looks at
what the first one did and tries the next number, so appends, compaction and retention do not wait for each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    QueryBuilder,
    Schema,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction

from lag.errors import GroupscopeError, HistoryError
from lag.history.files import DataFile
from lag.history.schemas import DAY, SCHEMA_VERSION, TABLES, TIME, Table, with_day

VERSION_KEY = "groupscope.schemaVersion"
COMMIT_RETRIES = 50
"""Two busy writers overtake each other a few times at most; delta-rs itself would give up after 15."""

TRIES = 5
"""Of a write that others got in the way of: they removed a file that it was about to replace, as compaction does."""

_COMPRESSED = WriterProperties(compression="ZSTD")

_SQL_TYPES: Mapping[pa.DataType, str] = {
    pa.string(): "Utf8", pa.bool_(): "Boolean", pa.binary(): "Binary", pa.date32(): "Date32", pa.float64(): "Float64",
    pa.int8(): "Int8", pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64",
    TIME: 'Timestamp(Microsecond, Some("UTC"))',
}  # fmt: skip
"""DataFusion's names of the types whose nulls are computed with."""


@dataclass(frozen=True, slots=True)
class Application:
    """Who commits, and its number of this commit: one that is repeated is recognised (Delta's `txn` action)."""

    app_id: str
    version: int


class History:
    """The tables below `root`, a path or URL; they are made when first written to.

    Everything raises HistoryError with cause and hint: disk full, no permission, a table of a newer groupscope, files
    that are no Delta table.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = str(root).rstrip("/")
        self._asked: dict[str, DeltaTable] = {}
        self._one_at_a_time = Lock()

    def place(self, name: str) -> str:
        """Where that table is."""
        return f"{self.root}/{name}"

    def append(self, name: str, rows: pa.Table) -> None:
        """Add rows; `dt` may be missing, it is made of the table's time."""
        with told(self.place(name)):
            self._write(name, rows, mode="append")

    def replace(self, name: str, rows: pa.Table, where: str) -> None:
        """Put these rows in the place of those that `where` holds for; it must hold for all of them.

        When others change the same files meanwhile it is done once more: the rows are ready, and repeating is harmless.
        """
        with told(self.place(name)):
            again(lambda: self._write(name, rows, mode="overwrite", predicate=where))

    def committed(self, name: str, app_id: str) -> int | None:
        """The number of the application's last commit to that table; None before the first."""
        with told(self.place(name)):
            table = self._opened(name)
            return None if table is None else table.transaction_version(app_id)

    def commit(self, name: str, files: Sequence[DataFile], by: Application) -> None:
        """Make written files part of the table."""
        with told(self.place(name)):
            self._made(name).create_write_transaction(
                [added(file) for file in files],
                "append",
                TABLES[name].schema,
                [DAY],
                commit_properties=CommitProperties(
                    max_commit_retries=COMMIT_RETRIES,
                    app_transactions=[Transaction(by.app_id, by.version)],
                ),
            )

    def create(self, name: str) -> None:
        """Make the table, if it is not there yet."""
        with told(self.place(name)):
            self._made(name)

    def exists(self, name: str) -> bool:
        """Whether anything was ever written to that table."""
        with told(self.place(name)):
            return self._opened(name) is not None

    def query(self, sql: str, *names: str) -> pa.Table:
        """The answer of a SELECT over these tables, by their names; one that was never written to is empty.

        Nothing is made or changed: the history may be read-only.
        """
        with told(self.root):
            rows, sql = _prepared(sql, {name: self._opened(name) for name in names})
            return pa.table(rows.execute(sql).read_all())

    def ask(self, sql: str, name: str) -> pa.Table | None:
        """The answer of a SELECT over that table as it is now; None if it was never written to. Nothing is changed.

        Quick when asked again: the table stays open, and only what was committed since is read of its log.
        """
        with told(self.place(name)):
            try:
                return self._answer(sql, name)
            except Exception:  # DataFusion raises these
                if self._asked.pop(name, None) is None:
                    raise
            return self._answer(sql, name)  # the table was removed, and perhaps made anew

    def open(self, name: str) -> DeltaTable | None:
        """The table as delta-rs has it; None if it was never written to."""
        with told(self.place(name)):
            return self._opened(name)

    def _answer(self, sql: str, name: str) -> pa.Table | None:
        with self._one_at_a_time:
            if (table := self._asked.get(name)) is not None:
                table.update_incremental()
                _refuse_newer(table, self.place(name))
            elif (table := self._opened(name)) is not None:
                self._asked[name] = table
            else:
                return None
            rows, sql = _prepared(sql, {name: table})
        return pa.table(rows.execute(sql).read_all())

    def _opened(self, name: str) -> DeltaTable | None:
        try:
            table = DeltaTable(self.place(name))
        except TableNotFoundError:
            return None
        _refuse_newer(table, self.place(name))
        return table

    def _write(self, name: str, rows: pa.Table, **how: Any) -> None:
        write_deltalake(
            self._made(name),
            with_day(rows, TABLES[name]),
            writer_properties=_COMPRESSED,
            commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES),
            **how,
        )

    def _made(self, name: str) -> DeltaTable:
        wanted = TABLES[name]
        if (table := self._opened(name)) is not None:
            return table if _has_all(table, wanted) else self._grown(table, wanted)
        if "://" not in self.root:
            Path(self.place(name)).mkdir(parents=True, exist_ok=True)
        try:
            DeltaTable.create(
                self.place(name),
                wanted.schema,
                mode="ignore",
                partition_by=DAY,
                name=name,
                configuration={VERSION_KEY: str(SCHEMA_VERSION)},
                raise_if_key_not_exists=False,
            )
        except DeltaError:
            if self._opened(name) is None:  # else another process made it in this very moment
                raise
        return DeltaTable(self.place(name))

    def _grown(self, table: DeltaTable, wanted: Table) -> DeltaTable:
        """With the columns that came after it was made; its rows have null there."""
        there = {field.name for field in table.schema().fields}
        new = [field for field in Schema.from_arrow(wanted.schema).fields if field.name not in there]
        try:
            table.alter.add_columns(new)
        except DeltaError:
            table.update_incremental()
            if not _has_all(table, wanted):  # else another process added them in this very moment
                raise
        return table


def again(write: Callable[[], None]) -> None:
    """Write; from the beginning when others were at the same files. Raises CommitFailedError after so many TRIES."""
    for _ in range(TRIES - 1):
        with suppress(CommitFailedError):
            write()
            return
    write()


def _prepared(sql: str, tables: Mapping[str, DeltaTable | None]) -> tuple[QueryBuilder, str]:
    """Who answers the SELECT, and its words: a table or column that is not there yet stands before it, as nulls."""
    builder = QueryBuilder()
    for name, table in tables.items():
        if table is not None:
            builder.register(name, table)
    nulls = [found for name, table in tables.items() if (found := _nulls(name, table))]
    return builder, f"WITH {', '.join(nulls)} {sql}" if nulls else sql


def _nulls(name: str, table: DeltaTable | None) -> str:
    """The table with all columns that it has today, as SQL has it; nothing when it has them all."""
    there = set() if table is None else {field.name for field in table.schema().fields}
    lacking = [f"{_null(field.type)} AS {field.name}" for field in TABLES[name].schema if field.name not in there]
    if table is None:
        return f"{name} AS (SELECT {', '.join(lacking)} WHERE false)"
    return f"{name} AS (SELECT {', '.join(['*', *lacking])} FROM {name})" if lacking else ""


def _null(kind: pa.DataType) -> str:
    return f"arrow_cast(NULL, '{_SQL_TYPES[kind]}')" if kind in _SQL_TYPES else "NULL"


def _has_all(table: DeltaTable, wanted: Table) -> bool:
    return set(wanted.schema.names) <= {field.name for field in table.schema().fields}


def literal(value: str | int | datetime) -> str:
    """The value as SQL has it."""
    if isinstance(value, int):
        return str(value)
    text = value if isinstance(value, str) else value.astimezone(UTC).isoformat()
    return "'" + text.replace("'", "''") + "'"


def added(file: DataFile, is_news: bool = True) -> AddAction:
    """What makes a written file part of its table; `is_news` False: its rows were in the table before."""
    return AddAction(file.path, file.size_bytes, {DAY: file.day}, file.written_ms, is_news, file.stats)


def _refuse_newer(table: DeltaTable, place: str) -> None:
    version = table.metadata().configuration.get(VERSION_KEY, str(SCHEMA_VERSION))
    if not version.isdigit() or int(version) > SCHEMA_VERSION:
        raise HistoryError(
            f"{place} was written by a newer groupscope (schema {version}, this one knows {SCHEMA_VERSION})",
            "Upgrade groupscope here, or name another history",
        )


@contextmanager
def told(place: str) -> Iterator[None]:
    """Whatever goes wrong with Delta or the disk inside, as a HistoryError that names the place."""
    try:
        yield
    except GroupscopeError:
        raise
    except Exception as error:  # delta-rs raises OSError, DeltaError, and bare Exception for the engine's
        raise explained(place, str(error)) from error


_MENDS: Mapping[str, tuple[str, str]] = {
    "No space left on device": ("the disk is full", "Free space there; nothing was lost or half written"),
    "File too large": ("a file may not grow further", "Raise the limit of file sizes; nothing was half written"),
    "Permission denied": ("writing there is not permitted", "Permit it, or name another history"),
    "Read-only file system": ("the file system is read-only", "Name another history"),
    "reader version": ("it was written by a newer Delta Lake", "Upgrade groupscope here, or name another history"),
    "reader feature": ("it was written by a newer Delta Lake", "Upgrade groupscope here, or name another history"),
    "concurrent transaction": ("others kept changing the same rows", "Try again; nothing was half written"),
}


def explained(place: str, said: str) -> HistoryError:
    """The error for what a library said about that place."""
    for words, (cause, hint) in _MENDS.items():
        if words.lower() in said.lower():
            return HistoryError(f"The history at {place} cannot be used: {cause}", hint)
    return HistoryError(f"The history at {place} cannot be used: {_reason(said)}", "If a file is damaged, restore it")


def _reason(said: str) -> str:
    """Its first line; or, where Spark tells how a Python worker has ended, that of the worker's error."""
    _, traceback, trace = said.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in (trace.splitlines() if traceback else said.splitlines()) if line[:1].strip()]
    return (lines or ["no reason given"])[0][:300]
