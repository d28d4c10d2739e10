"""Written files in the place of all rows of a span of time, in one commit."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from lag.history.exchange import Stored, exchange, stored
from lag.history.files import ROW_GROUP, DataFile, TableFiles, file_system
from lag.history.schemas import TABLES, Table, with_day
from lag.history.store import History, again, told

COARSE = timedelta(milliseconds=1)
"""Delta's log has times in milliseconds, cut off."""


def within(table: DeltaTable, column: str, since: datetime, until: datetime) -> list[Stored]:
    """The files that may have a row with that time in [since, until)."""
    actions = pa.table(table.get_add_actions(flatten=True))
    files = stored(table)
    if f"min.{column}" not in actions.column_names:
        return files
    first, last = (actions[f"{side}.{column}"].to_pylist() for side in ("min", "max"))
    bounds = zip(files, first, last, strict=True)
    return [file for file, least, most in bounds if _may_meet(least, most, since, until)]


def _may_meet(first: datetime | None, last: datetime | None, since: datetime, until: datetime) -> bool:
    return (first is None or first < until) and (last is None or last + COARSE >= since)


def put(history: History, name: str, files: Sequence[DataFile], since: datetime, until: datetime) -> None:
    """Make the files part of the table in the place of all its rows of [since, until). Raises HistoryError.

    When others change the same files meanwhile it is done once more: repeating is harmless.
    """
    of = TABLES[name]

    def write() -> None:
        table = DeltaTable(history.place(name))
        old = within(table, of.time, since, until)
        exchange(table, of, [*files, *_rest(history.root, of, old, since, until)], old, is_news=True)

    with told(history.place(name)):
        again(write)


def _rest(root: str, of: Table, old: Sequence[Stored], since: datetime, until: datetime) -> list[DataFile]:
    """The rows of these files that are not of the span, in new files."""
    files = TableFiles(root, of)
    for rows in _batches(root, of, old):
        at = rows[of.time]
        stays = pc.or_(pc.less(at, pa.scalar(since, at.type)), pc.greater_equal(at, pa.scalar(until, at.type)))
        files.add(with_day(rows.filter(stays), of))
    return files.close()


def _batches(root: str, of: Table, old: Sequence[Stored]) -> Iterator[pa.Table]:
    if not old:
        return
    system, folder = file_system(f"{root}/{of.name}")
    found = ds.dataset([f"{folder}/{one.path}" for one in old], of.file_schema, "parquet", system)
    for batch in found.to_batches(batch_size=ROW_GROUP, fragment_readahead=1, batch_readahead=1):
        yield pa.Table.from_batches([batch])
