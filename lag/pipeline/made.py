"""What workers of the roll-up tell the driver: the files that they have written, and small tables.

Rows that went back through Spark would be converted twice on the way. The files count for nothing until the driver
commits them, so a task that dies or runs twice leaves no trace.
"""

from collections.abc import Iterable
from dataclasses import asdict, fields

import pyarrow as pa
import pyarrow.compute as pc

from lag.history.files import DataFile, TableFiles
from lag.history.schemas import Table, with_day

MADE = pa.schema(
    [
        ("name", pa.string()), ("path", pa.string()), ("day", pa.string()), ("rows", pa.int64()),
        ("size_bytes", pa.int64()), ("written_ms", pa.int64()), ("stats", pa.string()), ("told", pa.binary()),
    ]
)  # fmt: skip
"""A file of the table of that name; or, in `told`, a small table as a stream of Arrow's."""

_FILE = tuple(one.name for one in fields(DataFile))


class Writing:
    """Writes new files of some tables. Raises OSError."""

    def __init__(self, root: str, *tables: Table) -> None:
        self._files = {table: TableFiles(root, table) for table in tables}

    def add(self, *rows: pa.Table) -> None:
        """Rows of each table."""
        for (table, files), made in zip(self._files.items(), rows, strict=True):
            files.add(with_day(made, table))

    def told(self) -> pa.RecordBatch:
        """The files, which are whole now."""
        every = [{"name": of.name, **asdict(file)} for of, files in self._files.items() for file in files.close()]
        return pa.RecordBatch.from_pylist(every, MADE)


def told(name: str, rows: pa.Table) -> pa.RecordBatch:
    """The rows themselves."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return pa.RecordBatch.from_pylist([{"name": name, "told": sink.getvalue().to_pybytes()}], MADE)


def files_of(made: pa.Table, table: Table) -> list[DataFile]:
    """The files of that table."""
    return [DataFile(**row) for row in made.filter(pc.field("name") == table.name).select(_FILE).to_pylist()]


def rows_of(made: pa.Table, name: str) -> pa.Table:
    """The rows that were told under that name."""
    streams: Iterable[bytes] = made.filter(pc.field("name") == name)["told"].to_pylist()
    return pa.concat_tables([pa.ipc.open_stream(stream).read_all() for stream in streams])
