"""What Spark's Python workers return to the driver: files that they wrote, counts, and small tables.

Returning rows through Spark would convert them twice and write them in the JVM, at several times the cost. Files are
not part of a table until the driver commits them, so a task that fails or runs twice has no effect.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields

import pyarrow as pa
import pyarrow.compute as pc

from lag.history.files import DataFile, TableWriter
from lag.history.schemas import TABLES

RESULTS = pa.schema(
    [
        ("name", pa.string()), ("path", pa.string()), ("day", pa.string()), ("rows", pa.int64()),
        ("size_bytes", pa.int64()), ("written_ms", pa.int64()), ("stats", pa.string()), ("stream", pa.binary()),
    ]
)  # fmt: skip
"""A file of the table with that name; or in `stream` a small table as an Arrow stream; or in `rows` a count."""

_FILE = tuple(one.name for one in fields(DataFile))


class Writing:
    """Writes new files of the tables of these names. Raises OSError."""

    def __init__(self, root: str, *tables: str) -> None:
        self._files = {name: TableWriter(root, TABLES[name]) for name in tables}

    def add(self, table: str, rows: pa.Table) -> None:
        """Add rows with their day; rows of other tables are ignored."""
        if table in self._files and len(rows):
            self._files[table].add(rows)

    def result(self) -> pa.RecordBatch:
        """Close the files and return them."""
        every = [{"name": name, **asdict(file)} for name, files in self._files.items() for file in files.close()]
        return pa.RecordBatch.from_pylist(every, RESULTS)


def result_of(name: str, rows: pa.Table) -> pa.RecordBatch:
    """The rows as a result."""
    return pa.RecordBatch.from_pylist([{"name": name, "stream": arrow_stream(rows)}], RESULTS)


def arrow_stream(rows: pa.Table | pa.RecordBatch, compression: str | None = None) -> bytes:
    """The rows as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as stream:
        stream.write(rows)
    return bytes(sink.getvalue())


def counted(counts: Mapping[str, int]) -> pa.RecordBatch:
    """The counts as a result."""
    return pa.RecordBatch.from_pylist([{"name": name, "rows": rows} for name, rows in counts.items()], RESULTS)


def files_of(results: pa.Table, table: str) -> list[DataFile]:
    """The files of that table."""
    files = results.filter((pc.field("name") == table) & pc.field("path").is_valid())
    return [DataFile(**row) for row in files.select(_FILE).to_pylist()]


def rows_of(results: pa.Table, name: str) -> pa.Table:
    """The rows returned under that name."""
    streams: Iterable[bytes] = results.filter(pc.field("name") == name)["stream"].to_pylist()
    return pa.concat_tables([pa.ipc.open_stream(stream).read_all() for stream in streams])


def counts_of(results: pa.Table) -> Counter[str]:
    """The sums of all counts."""
    found: Counter[str] = Counter()
    for row in results.filter(pc.field("path").is_null() & pc.field("stream").is_null()).to_pylist():
        found[row["name"]] += row["rows"]
    return found
