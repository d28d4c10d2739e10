"""A day that is over, written anew in the order of its series and then of its time, in place of its files as they came.

Then the pages of one group lie together, and a reader of one group's day skips the others by the least and greatest
values of each (Parquet's page index). A Z-order, which Delta tools offer, mixes the bits of the columns: partition 3 of
all groups would lie together, and each group in as many places as it has partitions.
"""

import time
from collections.abc import Iterator
from datetime import date
from itertools import accumulate, groupby
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder
from deltalake.transaction import RemoveAction

from lag.history.files import MOST_ROWS, TableFiles
from lag.history.schemas import DAY, Table
from lag.history.store import COMMIT_RETRIES, added, literal

SORTED = "by-series-"
"""How the names of such files begin."""


def is_sorted(path: str) -> bool:
    """Whether that file was written here."""
    return path.rsplit("/", 1)[-1].startswith(SORTED)


def sort_day(root: str, table: DeltaTable, of: Table, day: date) -> None:
    """Do it, in one commit. What others add to that day meanwhile stays beside it.

    No more than some MOST_ROWS rows, and those of one value of the first column, are in memory at a time.
    """
    rows = QueryBuilder().register(of.name, table)
    files = TableFiles(root, of, SORTED)
    for first, last in _ranges(rows, of, day):
        files.add(pa.table(rows.execute(_rows(of, day, first, last)).read_all()).cast(of.schema))
    table.create_write_transaction(
        [*(added(file, is_news=False) for file in files.close()), *_removed(table, day)],
        "append",
        of.schema,
        [DAY],
        commit_properties=CommitProperties(max_commit_retries=COMMIT_RETRIES),
    )


def _ranges(rows: QueryBuilder, of: Table, day: date) -> Iterator[tuple[Any, Any]]:
    """First and last value of the first column of the series, so that each range has some MOST_ROWS rows."""
    column = of.series[0]
    sql = f"SELECT {column} AS value, count(*) AS n FROM {of.name} WHERE {_of_day(day)} GROUP BY 1 ORDER BY 1"
    values = pa.table(rows.execute(sql).read_all()).to_pylist()
    range_of = [at // MOST_ROWS for at in accumulate((one["n"] for one in values), initial=0)]
    for _, these in groupby(zip(values, range_of, strict=False), lambda pair: pair[1]):
        found = [one["value"] for one, _ in these]
        yield found[0], found[-1]


def _rows(of: Table, day: date, first: Any, last: Any) -> str:
    column, order = of.series[0], ", ".join((*of.series, of.time))
    between = f"{column} BETWEEN {literal(first)} AND {literal(last)}"
    names = ", ".join(of.schema.names)
    return f"SELECT {names} FROM {of.name} WHERE {_of_day(day)} AND {between} ORDER BY {order}"


def _of_day(day: date) -> str:
    return f"{DAY} = DATE '{day.isoformat()}'"


def _removed(table: DeltaTable, day: date) -> list[RemoveAction]:
    """What takes the files of that day out of the table that we have read."""
    now_ms = time.time_ns() // 1_000_000
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    files = [(one["path"], one["size_bytes"]) for one in actions if one[f"partition.{DAY}"] == day]
    return [RemoveAction(path, False, now_ms, size, {DAY: day.isoformat()}) for path, size in files]
