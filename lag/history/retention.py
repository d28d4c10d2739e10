"""Days that are too old go. Where a row holds until the next one of its series, the last row of each series stays.

A group that commits once a month has lag every minute, and a group at rest for a year is still at its generation: what
is rolled up today is built on their last rows. They stay in the days that they are of. Series that ended go: Kafka
writes a tombstone when it lets offsets, members and groups expire.
"""

from datetime import date

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lag.history.file_replacement import exchange, stored
from lag.history.files import DataFile, TableFiles
from lag.history.schemas import DAY, Lasting, Table

LAST = "last-"
"""How the names of files begin that have the last rows of days that went."""


def drop(root: str, table: DeltaTable, of: Table, oldest: date) -> int:
    """Let the days before `oldest` go, in one commit; how many they were."""
    old = [file for file in stored(table) if file.day < oldest]
    days = {file.day for file in old if not file.is_named(LAST)}
    if days:
        exchange(table, of, _last(root, table, of, oldest), old, is_news=True)
    return len(days)


def _last(root: str, table: DeltaTable, of: Table, oldest: date) -> list[DataFile]:
    """Files with the rows that stay."""
    files = TableFiles(root, of, LAST)
    if of.lasting is not None:
        rows = QueryBuilder().register(of.name, table).execute(_sql(of, of.lasting, oldest)).read_all()
        files.add(pa.table(rows).cast(of.schema))
    return files.close()


def _sql(of: Table, lasting: Lasting, oldest: date) -> str:
    """A record is known by cluster, partition and offset; the last one of a series has the greatest offset."""
    old = f"{DAY} < DATE '{oldest.isoformat()}'"
    names = ", ".join(f"{of.name}.{name}" for name in of.schema.names)
    return f"""SELECT {names} FROM {of.name} JOIN
        (SELECT cluster, src_partition, max(src_offset) AS src_offset FROM {of.name} WHERE {old}
         GROUP BY cluster, src_partition, {lasting.series}) AS newest USING (cluster, src_partition, src_offset)
        WHERE {old} AND NOT ({lasting.ended}) ORDER BY {DAY}"""
