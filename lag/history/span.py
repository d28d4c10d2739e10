"""Written files in the place of all rows of a span of time, in one commit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from lag.history.exchange import Stored, exchange_now, stored
from lag.history.files import ROW_GROUP, DataFile, TableFiles, file_system
from lag.history.schemas import TABLES, Table, with_day
from lag.history.store import History, again, told

COARSE = timedelta(milliseconds=1)
"""Delta's log has times in milliseconds, cut off."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A file with the least and the greatest of its times; None: the table does not tell."""

    file: Stored
    first: datetime | None
    last: datetime | None

    def may_meet(self, since: datetime, until: datetime) -> bool:
        """Whether a row of it may be of that span."""
        return (self.first is None or self.first < until) and (self.last is None or self.last + COARSE >= since)

    def is_within(self, since: datetime, until: datetime) -> bool:
        """Whether all of its rows are."""
        if self.first is None or self.last is None:
            return False
        return self.first >= since and self.last + COARSE < until


def within(table: DeltaTable, column: str, since: datetime, until: datetime) -> list[Timed]:
    """The files that may have a row with that time in [since, until)."""
    actions, files = pa.table(table.get_add_actions(flatten=True)), stored(table)
    names = [f"{side}.{column}" for side in ("min", "max")]
    told = names[0] in actions.column_names
    bounds = [actions[name].to_pylist() if told else [None] * len(files) for name in names]
    timed = [Timed(*one) for one in zip(files, *bounds, strict=True)]
    return [one for one in timed if one.may_meet(since, until)]


def put(history: History, name: str, files: Sequence[DataFile], since: datetime, until: datetime) -> None:
    """Make the files part of the table in the place of all its rows of [since, until). Raises HistoryError.

    When others commit anything meanwhile it is done once more, for they may have put rows there: repeating is harmless.
    """
    of = TABLES[name]

    def write() -> None:
        table = DeltaTable(history.place(name))
        met = within(table, of.time, since, until)
        beyond = [one.file for one in met if not one.is_within(since, until)]
        rest = _rest(history.root, of, beyond, since, until)
        exchange_now(table, of, [*files, *rest], [one.file for one in met], is_news=True)

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
