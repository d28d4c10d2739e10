"""Drops old days, but keeps the last row of each series where it stays valid until the next one.

A group that commits once a month has lag every minute, and an idle group keeps its generation, so the roll-up needs
their last rows. These rows stay in their own days. Series that ended with a tombstone are dropped.
"""

from datetime import date

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lag.history.files import DataFile, TableWriter
from lag.history.rewrites.file_replacement import replace_files, stored_files
from lag.history.schemas import DAY, LastRows, Table

LAST_ROWS_PREFIX = "last-"
"""Prefix of files with the last rows of dropped days."""


def drop_days(root: str, table: DeltaTable, of: Table, oldest: date) -> int:
    """Drop the days before `oldest` in one commit; returns their number."""
    old = [file for file in stored_files(table) if file.day < oldest]
    days = {file.day for file in old if not file.has_prefix(LAST_ROWS_PREFIX)}
    if days:
        replace_files(table, of, _last_rows(root, table, of, oldest), old, data_change=True)
    return len(days)


def _last_rows(root: str, table: DeltaTable, of: Table, oldest: date) -> list[DataFile]:
    """New files with the rows that stay."""
    writer = TableWriter(root, of, LAST_ROWS_PREFIX)
    if of.last_rows is not None:
        rows = QueryBuilder().register(of.name, table).execute(_sql(of, of.last_rows, oldest)).read_all()
        writer.add(pa.table(rows).cast(of.schema))
    return writer.close()


def _sql(of: Table, last_rows: LastRows, oldest: date) -> str:
    """A record has a unique cluster, partition and offset; the last one of a series has the highest offset."""
    old = f"{DAY} < DATE '{oldest.isoformat()}'"
    names = ", ".join(f"{of.name}.{name}" for name in of.schema.names)
    return f"""SELECT {names} FROM {of.name} JOIN
        (SELECT cluster, src_partition, max(src_offset) AS src_offset FROM {of.name} WHERE {old}
         GROUP BY cluster, src_partition, {last_rows.series}) AS newest USING (cluster, src_partition, src_offset)
        WHERE {old} AND NOT ({last_rows.ended}) ORDER BY {DAY}"""
