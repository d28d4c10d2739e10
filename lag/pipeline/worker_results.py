"""What Spark's Python workers tell the driver: the files that they have written, counts, and small tables.

Rows that went back through Spark would be converted twice on the way, and written by the JVM at several times the cost.
The files count for nothing until the driver commits them, so a task that dies or runs twice leaves no trace.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields

import pyarrow as pa
import pyarrow.compute as pc

from lag.history.files import DataFile, TableWriter
from lag.history.schemas import TABLES

MADE = pa.schema(
    [
        ("name", pa.string()), ("path", pa.string()), ("day", pa.string()), ("rows", pa.int64()),
        ("size_bytes", pa.int64()), ("written_ms", pa.int64()), ("stats", pa.string()), ("told", pa.binary()),
    ]
)  # fmt: skip
"""A file of the table of that name; or, in `told`, a small table as a stream of Arrow's; or a count, in `rows`."""

_FILE = tuple(one.name for one in fields(DataFile))


class Writing:
    """Writes new files of the tables of these names. Raises OSError."""

    def __init__(self, root: str, *tables: str) -> None:
        self._files = {name: TableWriter(root, TABLES[name]) for name in tables}

    def add(self, table: str, rows: pa.Table) -> None:
        """Rows with their day; those of other tables are left out."""
        if table in self._files and len(rows):
            self._files[table].add(rows)

    def told(self) -> pa.RecordBatch:
        """The files, which are whole now."""
        every = [{"name": name, **asdict(file)} for name, files in self._files.items() for file in files.close()]
        return pa.RecordBatch.from_pylist(every, MADE)


def told(name: str, rows: pa.Table) -> pa.RecordBatch:
    """The rows themselves."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return pa.RecordBatch.from_pylist([{"name": name, "told": sink.getvalue().to_pybytes()}], MADE)


def counted(counts: Mapping[str, int]) -> pa.RecordBatch:
    """The counts."""
    return pa.RecordBatch.from_pylist([{"name": name, "rows": rows} for name, rows in counts.items()], MADE)


def files_of(made: pa.Table, table: str) -> list[DataFile]:
    """The files of that table."""
    files = made.filter((pc.field("name") == table) & pc.field("path").is_valid())
    return [DataFile(**row) for row in files.select(_FILE).to_pylist()]


def rows_of(made: pa.Table, name: str) -> pa.Table:
    """The rows that were told under that name."""
    streams: Iterable[bytes] = made.filter(pc.field("name") == name)["told"].to_pylist()
    return pa.concat_tables([pa.ipc.open_stream(stream).read_all() for stream in streams])


def counts_of(made: pa.Table) -> Counter[str]:
    """All counts, summed up."""
    found: Counter[str] = Counter()
    for row in made.filter(pc.field("path").is_null() & pc.field("told").is_null()).to_pylist():
        found[row["name"]] += row["rows"]
    return found
