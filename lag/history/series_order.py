"""A day that is over, written anew in the order of its series and then of its time, in place of its files as they came.

Then the pages of one group lie together, and a reader of one group's day skips the others by the least and greatest
values of each (Parquet's page index). A Z-order, which Delta tools offer, mixes the bits of the columns: partition 3 of
all groups would lie together, and each group in as many places as it has partitions.
"""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lag.history.file_replacement import exchange, stored
from lag.history.files import MOST_ROWS, TableFiles
from lag.history.schemas import DAY, Table
from lag.history.store import literal

SORTED = "by-series-"
"""How the names of such files begin."""


def sort_day(root: str, table: DeltaTable, of: Table, day: date) -> None:
    """Do it, in one commit. What others add to that day meanwhile stays beside it.

    No more than MOST_ROWS rows are in memory at a time, unless one series has more of them in an hour.
    """
    rows = QueryBuilder().register(of.name, table)
    files = TableFiles(root, of, SORTED)
    names, order = ", ".join(of.schema.names), ", ".join((*of.series, of.time))
    for where in _ranges(rows, of.name, f"{DAY} = DATE '{day.isoformat()}'", _steps(of)):
        sql = f"SELECT {names} FROM {of.name} WHERE {where} ORDER BY {order}"
        files.add(pa.table(rows.execute(sql).read_all()).cast(of.schema))
    old = [file for file in stored(table) if file.day == day]
    exchange(table, of, files.close(), old, is_news=False)


def _steps(of: Table) -> tuple[str, ...]:
    """What a day is cut by: the columns of the order, each only where one value of those before it is too large."""
    return (*of.series, f"date_trunc('hour', {of.time})")


def _ranges(rows: QueryBuilder, name: str, where: str, steps: tuple[str, ...]) -> Iterator[str]:
    """Conditions, in order, that each hold for some MOST_ROWS rows of those that `where` does."""
    step, rest = steps[0], steps[1:]
    sql = f"SELECT {step} AS value, count(*) AS n FROM {name} WHERE {where} GROUP BY 1 ORDER BY 1"
    together: list[Any] = []
    held = 0
    for one in pa.table(rows.execute(sql).read_all()).to_pylist():
        if together and held + one["n"] > MOST_ROWS:
            yield _between(where, step, together)
            together, held = [], 0
        if one["n"] > MOST_ROWS and rest:
            yield from _ranges(rows, name, _between(where, step, [one["value"]]), rest)
        else:
            together.append(one["value"])
            held += one["n"]
    if together:
        yield _between(where, step, together)


def _between(where: str, step: str, values: list[Any]) -> str:
    return f"{where} AND {step} BETWEEN {literal(values[0])} AND {literal(values[-1])}"
