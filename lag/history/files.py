"""Writes Parquet files for a table. They are invisible until a later commit adds them.

Each file has statistics for the Delta log (Delta protocol, "Per-file statistics"), by which readers skip files.
"""

import json
import math
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, FileType, LocalFileSystem

from lag.history.schemas import DAY, Table
from lag.times import wall_clock_ms

ROW_GROUP = 131_072
MAX_BUFFERED_ROWS = 4 * ROW_GROUP
"""The rows of all days together; when there are more, they are written to their files."""

_MAX_BOUND_CHARS = 64
"""Longer texts are no bounds, because a truncated upper bound would be too low."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A written file: its path in the table's folder, and its statistics as JSON."""

    path: str
    day: str
    rows: int
    size_bytes: int
    written_ms: int
    stats: str


class TableWriter:
    """Writes rows to new files, one for each day, whose names start with `prefix`. Raises OSError."""

    def __init__(self, root: str, table: Table, prefix: str = "") -> None:
        self._root, self._table, self._prefix = root, table, prefix
        self._waiting: dict[str, list[pa.Table]] = defaultdict(list)
        self._waiting_rows = 0
        self._open: dict[str, _OpenFile] = {}

    def add(self, rows: pa.Table) -> None:
        """Add rows with the table's schema."""
        for day, part in _by_day(rows):
            self._waiting[day].append(part)
            if sum(map(len, self._waiting[day])) >= ROW_GROUP:
                self._write(day)
        self._waiting_rows = sum(len(part) for parts in self._waiting.values() for part in parts)
        if self._waiting_rows >= MAX_BUFFERED_ROWS:
            self._write_all()

    def close(self) -> list[DataFile]:
        """Write all rows; returns the files."""
        self._write_all()
        return [file.close() for file in self._open.values()]

    def _write_all(self) -> None:
        for day in list(self._waiting):
            self._write(day)

    def _write(self, day: str) -> None:
        if day not in self._open:
            self._open[day] = _OpenFile(self._root, self._table, day, self._prefix)
        self._open[day].write(pa.concat_tables(self._waiting.pop(day)))


class _OpenFile:
    def __init__(self, root: str, table: Table, day: str, prefix: str) -> None:
        self._day, self._path = day, f"{DAY}={day}/{prefix}{uuid.uuid4()}.parquet"
        self._files, folder = file_system(f"{root}/{table.name}")
        self._files.create_dir(f"{folder}/{DAY}={day}")
        self._file_path = f"{folder}/{self._path}"
        self._metadata: list[Any] = []
        self._schema = table.file_schema
        delta_encoded = [column.name for column in self._schema if _is_delta_encoded(column.type)]
        self._writer = pq.ParquetWriter(
            self._file_path,
            self._schema,
            filesystem=self._files,
            compression="zstd",
            use_dictionary=[name for name in self._schema.names if name not in delta_encoded],
            column_encoding=dict.fromkeys(delta_encoded, "DELTA_BINARY_PACKED"),
            write_page_index=True,
            metadata_collector=self._metadata,
        )

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows, ROW_GROUP)

    def close(self) -> DataFile:
        self._writer.close()
        metadata = self._metadata[0]
        size = self._files.get_file_info(self._file_path).size
        return DataFile(self._path, self._day, metadata.num_rows, size, wall_clock_ms(), _stats(metadata))


def _is_delta_encoded(kind: pa.DataType) -> bool:
    """Whether the values differ in most rows: delta encoding is then smaller and faster than a dictionary."""
    return bool(pa.types.is_int64(kind) or pa.types.is_timestamp(kind))


def read_rows(
    root: str, table: Table, path: str, schema: pa.Schema, groups: slice = slice(None)
) -> Iterator[pa.RecordBatch]:
    """Rows of some row groups of a file, with the columns of `schema`; missing columns are null.

    Columns that are dictionaries in `schema` are read as dictionaries. Raises OSError.
    """
    files, folder = file_system(f"{root}/{table.name}")
    coded = [column.name for column in schema if pa.types.is_dictionary(column.type)]
    reader = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(dictionary_columns=coded))
    whole = reader.make_fragment(f"{folder}/{path}", files)
    some = whole.subset(row_group_ids=list(range(whole.num_row_groups)[groups]))
    if some.num_row_groups:
        yield from some.to_batches(schema, batch_size=ROW_GROUP, use_threads=False, batch_readahead=1)


def file_system(root: str) -> tuple[FileSystem, str]:
    """The file system of a path or URL, and the path in it."""
    if "://" in root:
        found: tuple[FileSystem, str] = FileSystem.from_uri(re.sub("^s3a:", "s3:", root))  # Hadoop's name for S3
        return found
    return LocalFileSystem(), str(Path(root).absolute())


def read_file(place: str) -> bytes | None:
    """The content of the file at this path or URL; None if there is none."""
    files, path = file_system(place)
    if files.get_file_info(path).type == FileType.NotFound:
        return None
    with files.open_input_stream(path) as stream:
        data: bytes = stream.read()
    return data


def write_atomically(place: str, data: bytes) -> None:
    """Write the file or replace it, as a whole or not at all, even if the process is killed."""
    files, path = file_system(place)
    files.create_dir(path.rpartition("/")[0])
    with files.open_output_stream(f"{path}.new") as stream:
        stream.write(data)
    files.move(f"{path}.new", path)


def _by_day(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    days, rest = rows[DAY], rows.drop_columns([DAY])
    different = pc.unique(days)
    for day in different:
        yield str(day.as_py()), rest if len(different) == 1 else rest.filter(pc.equal(days, day))


def _stats(metadata: Any) -> str:
    lows: dict[str, Any] = {}
    highs: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for name, columns in _columns(metadata):
        statistics = [column.statistics for column in columns if column.is_stats_set]
        if len(statistics) < len(columns) or not all(one.has_null_count for one in statistics):
            continue
        nulls[name] = sum(one.null_count for one in statistics)
        known = [one for one in statistics if one.has_min_max]
        if len(known) == len(statistics):
            low, high = _bound(min(one.min for one in known)), _bound(max(one.max for one in known))
            lows |= {} if low is None else {name: low}
            highs |= {} if high is None else {name: high}
    stats = {"numRecords": metadata.num_rows, "minValues": lows, "maxValues": highs, "nullCount": nulls}
    return json.dumps(stats, allow_nan=False)


def _columns(metadata: Any) -> Iterator[tuple[str, list[Any]]]:
    """Each column that is not nested, with its chunk of every row group."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    for at in range(metadata.num_columns):
        name = metadata.schema.column(at).path
        if "." not in name:
            yield name, [group.column(at) for group in groups]


def _bound(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, str):
        return value if len(value) <= _MAX_BOUND_CHARS else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return (
        value if math.isfinite(value) else None
    )  # JSON has neither infinity nor NaN, and readers would refuse the log
