"""Splits rows of the history's files into shares, so that each partition, or each topic, is in one share.

Spark transports the rows as bytes; as rows they would pass through its JVM one by one, which takes longer than the
whole computation. Texts stay dictionaries, each with the values of its rows only.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
import pyarrow as pa
from pyspark import SparkContext

from lag.history.files import read_rows
from lag.history.rewrites.file_replacement import StoredFile
from lag.history.schemas import BYTES, TABLES, TEXT
from lag.offsets import Flags, Ints
from lag.pipeline.worker_results import arrow_stream

PART_ROWS = 2_000_000
"""The row groups of a larger file are divided between several workers."""

TURNS = 4
"""Read tasks for each core, so that a core that finishes early takes another task."""

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Every `of`-th row group of a file of the table, beginning with `first`."""

    table: str
    path: str
    first: int = 0
    of: int = 1


def file_parts(table: str, files: Iterable[StoredFile]) -> list[FilePart]:
    """The parts of these files; a file with an unknown number of rows is one part."""
    return [
        FilePart(table, file.path, first, of)
        for file in files
        for of in [1 + (file.rows or 0) // PART_ROWS]
        for first in range(of)
    ]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """What is read: columns of tables below `root`, the rows to keep, and a number that determines each row's share."""

    root: str
    columns: dict[str, tuple[str, ...]]
    keep: Callable[[str, pa.RecordBatch], Flags]
    number: Callable[[pa.RecordBatch], Ints]

    def shares_of(self, shares: int, parts: Iterable[FilePart]) -> Iterator[tuple[int, tuple[str, bytes]]]:
        """Share number, table name and bytes of rows. Raises OSError."""
        for part in parts:
            for rows in read(self.root, part, self.columns[part.table]):
                mine = rows.filter(pa.array(self.keep(part.table, rows)))
                for share, shuffled in _by_share(mine, self.number(mine) % shares, shares):
                    yield share, (part.table, shuffled)


def computed(
    spark: SparkContext,
    shuffle: Shuffle,
    shares: int,
    parts: Sequence[FilePart],
    compute: Callable[[int, Iterator[tuple[str, pa.RecordBatch]]], Batches],
) -> list[pa.RecordBatch]:
    """The results of `compute` for each share: it gets the share's number, and rows with the names of their tables."""
    slices = max(1, min(len(parts), TURNS * spark.defaultParallelism))
    shuffled = spark.parallelize(parts, slices).mapPartitions(lambda mine: shuffle.shares_of(shares, mine))
    results = shuffled.partitionBy(shares, int).mapPartitionsWithIndex(lambda share, rows: compute(share, _rows(rows)))
    return list(results.collect())


def by_partition(rows: pa.RecordBatch) -> Ints:
    """int64[n]: spreads the partitions of a topic over the shares."""
    numbers: Ints = by_topic(rows) + rows["partition"].to_numpy()
    return numbers


def by_topic(rows: pa.RecordBatch) -> Ints:
    """int64[n]: puts each topic in one share."""
    coded = rows["topic"].dictionary_encode()
    of = np.array([crc32(text.encode()) for text in coded.dictionary.to_pylist()], np.int64)
    numbers: Ints = of[coded.indices.to_numpy()]
    return numbers


def read(root: str, part: FilePart, columns: Sequence[str]) -> Batches:
    """The rows of the part, texts as dictionaries; missing columns are null."""
    table = TABLES[part.table]
    kinds = {name: table.schema.field(name).type for name in columns}
    texts = {name: pa.dictionary(pa.int32(), kind) for name, kind in kinds.items() if kind in (TEXT, BYTES)}
    return read_rows(root, table, part.path, pa.schema(kinds | texts), slice(part.first, None, part.of))


def _by_share(rows: pa.RecordBatch, shares: Ints, of: int) -> Iterator[tuple[int, bytes]]:
    order = np.argsort(shares, kind="stable")
    bounds = np.searchsorted(shares[order], np.arange(of + 1))
    sorted_rows = rows.take(pa.array(order))
    for share, (since, until) in enumerate(pairwise(bounds.tolist())):
        if until > since:
            yield share, arrow_stream(_compact(sorted_rows.slice(since, until - since)), "lz4")


def _compact(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with dictionaries that have only their own values."""
    columns = [
        column.dictionary_decode().dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in rows.columns
    ]
    return pa.record_batch(columns, rows.schema)


def _rows(shuffled: Iterable[tuple[int, tuple[str, bytes]]]) -> Iterator[tuple[str, pa.RecordBatch]]:
    for _, (table, data) in shuffled:
        for rows in pa.ipc.open_stream(data):
            yield table, rows
