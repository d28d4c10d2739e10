"""Written files in the place of all rows of a span of time, in one commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from lag.history.file_replacement import Stored, add_actions, exchange_now
from lag.history.files import DataFile, TableFiles, stored_rows
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
    timed = [Timed(Stored.of(one), one.get(f"min.{column}"), one.get(f"max.{column}")) for one in add_actions(table)]
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
    for batch in chain.from_iterable(stored_rows(root, of, one.path, of.file_schema) for one in old):
        rows = pa.Table.from_batches([batch])
        at = rows[of.time]
        stays = pc.or_(pc.less(at, pa.scalar(since, at.type)), pc.greater_equal(at, pa.scalar(until, at.type)))
        files.add(with_day(rows.filter(stays), of))
    return files.close()
