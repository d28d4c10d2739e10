"""Parquet files of a table, written beside it and made part of it later, in one commit: until then nobody sees them.

Readers skip files by the least and greatest values that stand with each in the Delta log (Delta protocol, "Per-file
statistics").
"""

import json
import math
import re
import time
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
from pyarrow.fs import FileSystem, LocalFileSystem

from lag.history.schemas import DAY, Table

ROW_GROUP = 131_072
MOST_ROWS = 4 * ROW_GROUP
"""Rows of all days that may wait in memory before they are written."""

_LONGEST_TEXT = 64
"""A longer text is no bound: a shortened greatest value would be too small."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A written file: its path in the table's folder, and what the Delta log says of it."""

    path: str
    day: str
    rows: int
    size_bytes: int
    written_ms: int
    stats: str


class TableFiles:
    """Takes rows and writes them into new files, one per day; `close` says which. Raises OSError.

    The names of the files begin with `named`.
    """

    def __init__(self, root: str, table: Table, named: str = "") -> None:
        self._root, self._table, self._named = root, table, named
        self._waiting: dict[str, list[pa.Table]] = defaultdict(list)
        self._waiting_rows = 0
        self._open: dict[str, _OpenFile] = {}

    def add(self, rows: pa.Table) -> None:
        """Take in rows of the table's schema."""
        for day, part in _by_day(rows):
            self._waiting[day].append(part)
            if sum(map(len, self._waiting[day])) >= ROW_GROUP:
                self._write(day)
        self._waiting_rows = sum(len(part) for parts in self._waiting.values() for part in parts)
        if self._waiting_rows >= MOST_ROWS:
            self._write_all()

    def close(self) -> list[DataFile]:
        """Write what waits and close the files."""
        self._write_all()
        return [file.close() for file in self._open.values()]

    def _write_all(self) -> None:
        for day in list(self._waiting):
            self._write(day)

    def _write(self, day: str) -> None:
        if day not in self._open:
            self._open[day] = _OpenFile(self._root, self._table, day, self._named)
        self._open[day].write(pa.concat_tables(self._waiting.pop(day)))


class _OpenFile:
    def __init__(self, root: str, table: Table, day: str, named: str) -> None:
        self._day, self._path = day, f"{DAY}={day}/{named}{uuid.uuid4()}.parquet"
        self._files, folder = file_system(f"{root}/{table.name}")
        self._files.create_dir(f"{folder}/{DAY}={day}")
        self._place = f"{folder}/{self._path}"
        self._told: list[Any] = []
        self._schema = table.file_schema
        counted = [column.name for column in self._schema if _is_counted(column.type)]
        self._writer = pq.ParquetWriter(
            self._place,
            self._schema,
            filesystem=self._files,
            compression="zstd",
            use_dictionary=[name for name in self._schema.names if name not in counted],
            column_encoding=dict.fromkeys(counted, "DELTA_BINARY_PACKED"),
            write_page_index=True,
            metadata_collector=self._told,
        )

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows, ROW_GROUP)

    def close(self) -> DataFile:
        self._writer.close()
        metadata = self._told[0]
        size = self._files.get_file_info(self._place).size
        return DataFile(self._path, self._day, metadata.num_rows, size, time.time_ns() // 1_000_000, _stats(metadata))


def _is_counted(kind: pa.DataType) -> bool:
    """Offsets and times are different in every row: steps between them are smaller, and quicker made, than a list."""
    return bool(pa.types.is_int64(kind) or pa.types.is_timestamp(kind))


def stored_rows(
    root: str, table: Table, path: str, schema: pa.Schema, groups: slice = slice(None)
) -> Iterator[pa.RecordBatch]:
    """Rows of these row groups of a file of the table, with the columns of `schema`; those that it lacks are null.

    Texts that the schema has as dictionaries are read as such. Raises OSError.
    """
    files, folder = file_system(f"{root}/{table.name}")
    coded = [column.name for column in schema if pa.types.is_dictionary(column.type)]
    reader = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(dictionary_columns=coded))
    whole = reader.make_fragment(f"{folder}/{path}", files)
    some = whole.subset(row_group_ids=list(range(whole.num_row_groups)[groups]))
    if some.num_row_groups:
        yield from some.to_batches(schema, batch_size=ROW_GROUP, use_threads=False, batch_readahead=1)


def file_system(root: str) -> tuple[FileSystem, str]:
    """The file system that a path or URL names, and the path in it."""
    if "://" in root:
        found: tuple[FileSystem, str] = FileSystem.from_uri(re.sub("^s3a:", "s3:", root))  # Hadoop's name for S3
        return found
    return LocalFileSystem(), str(Path(root).absolute())


def write_whole(files: FileSystem, path: str, data: bytes) -> None:
    """Make that file, or put it in the place of what was there, whole or not at all: a kill may come at any moment."""
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
        told = [column.statistics for column in columns if column.is_stats_set]
        if len(told) < len(columns) or not all(one.has_null_count for one in told):
            continue
        nulls[name] = sum(one.null_count for one in told)
        known = [one for one in told if one.has_min_max]
        if len(known) == len(told):
            low, high = _bound(min(one.min for one in known)), _bound(max(one.max for one in known))
            lows |= {} if low is None else {name: low}
            highs |= {} if high is None else {name: high}
    stats = {"numRecords": metadata.num_rows, "minValues": lows, "maxValues": highs, "nullCount": nulls}
    return json.dumps(stats, allow_nan=False)


def _columns(metadata: Any) -> Iterator[tuple[str, list[Any]]]:
    """Each plain column, with its part in every row group."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    for at in range(metadata.num_columns):
        name = metadata.schema.column(at).path
        if "." not in name:
            yield name, [group.column(at) for group in groups]


def _bound(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None  # JSON has neither infinity nor NaN: a reader would refuse the log
