"""Rewrites a finished day in the order of its series and time.

The pages of one group are then adjacent, and a reader skips all others by Parquet's page index. A Z-order, which Delta
tools offer, would interleave the columns and scatter each group over as many places as it has partitions.
"""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lag.history.files import MAX_BUFFERED_ROWS, TableWriter
from lag.history.rewrites.file_replacement import replace_files, stored_files
from lag.history.schemas import DAY, Table
from lag.history.store import literal

SORTED_PREFIX = "by-series-"
"""Prefix of the sorted files."""


def sort_day(root: str, table: DeltaTable, of: Table, day: date) -> None:
    """Sort the day in one commit; rows that others add meanwhile stay unsorted.

    At most MAX_BUFFERED_ROWS rows are in memory, unless one series has more of them in an hour.
    """
    rows = QueryBuilder().register(of.name, table)
    writer = TableWriter(root, of, SORTED_PREFIX)
    names, order = ", ".join(of.schema.names), ", ".join((*of.series, of.time))
    keys = (*of.series, f"date_trunc('hour', {of.time})")
    for where in _ranges(rows, of.name, f"{DAY} = DATE '{day.isoformat()}'", keys):
        sql = f"SELECT {names} FROM {of.name} WHERE {where} ORDER BY {order}"
        writer.add(pa.table(rows.execute(sql).read_all()).cast(of.schema))
    old = [file for file in stored_files(table) if file.day == day]
    replace_files(table, of, writer.close(), old, data_change=False)


def _ranges(rows: QueryBuilder, name: str, where: str, keys: tuple[str, ...]) -> Iterator[str]:
    """Conditions for consecutive ranges of at most MAX_BUFFERED_ROWS rows.

    Ranges are of the first key; a value with more rows is split by the next key.
    """
    key, rest = keys[0], keys[1:]
    sql = f"SELECT {key} AS value, count(*) AS n FROM {name} WHERE {where} GROUP BY 1 ORDER BY 1"
    values: list[Any] = []
    size = 0
    for one in pa.table(rows.execute(sql).read_all()).to_pylist():
        if values and size + one["n"] > MAX_BUFFERED_ROWS:
            yield _between(where, key, values)
            values, size = [], 0
        if one["n"] > MAX_BUFFERED_ROWS and rest:
            yield from _ranges(rows, name, _between(where, key, [one["value"]]), rest)
        else:
            values.append(one["value"])
            size += one["n"]
    if values:
        yield _between(where, key, values)


def _between(where: str, key: str, values: list[Any]) -> str:
    return f"{where} AND {key} BETWEEN {literal(values[0])} AND {literal(values[-1])}"
