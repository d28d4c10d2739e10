"""Replaces all rows of a time span by written files, in one commit."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from lag.history.files import DataFile, TableWriter, read_rows
from lag.history.rewrites.file_replacement import StoredFile, stored_files, try_replace_files
from lag.history.schemas import TABLES, Table, with_day
from lag.history.store import History, history_errors, retry_conflicts


def files_in_span(table: DeltaTable, column: str, since: datetime, until: datetime) -> list[StoredFile]:
    """The files that may have a row with `column` in [since, until)."""
    return [file for file in stored_files(table, column) if file.may_overlap(since, until)]


def replace_span(history: History, name: str, files: Sequence[DataFile], since: datetime, until: datetime) -> None:
    """Replace the table's rows in [since, until) by the files. Raises HistoryError.

    After a commit of another writer it starts again, because that writer may have added rows to the span.
    """
    of = TABLES[name]

    def write() -> None:
        table = DeltaTable(history.table_path(name))
        old = files_in_span(table, of.time, since, until)
        partly = [file for file in old if not file.is_within(since, until)]
        rest = _rest(history.root, of, partly, since, until)
        try_replace_files(table, of, [*files, *rest], old, data_change=True)

    with history_errors(history.table_path(name)):
        retry_conflicts(write)


def _rest(root: str, of: Table, old: Sequence[StoredFile], since: datetime, until: datetime) -> list[DataFile]:
    """New files with the rows of `old` outside the span."""
    writer = TableWriter(root, of)
    for batch in chain.from_iterable(read_rows(root, of, one.path, of.file_schema) for one in old):
        rows = pa.Table.from_batches([batch])
        at = rows[of.time]
        outside = pc.or_(pc.less(at, pa.scalar(since, at.type)), pc.greater_equal(at, pa.scalar(until, at.type)))
        writer.add(with_day(rows.filter(outside), of))
    return writer.close()
