"""Rows of the history's files, dealt out to shares: every partition, or every topic, is whole in one of them.

Spark carries them as bytes: as rows they would go through its JVM one by one, which takes longer than all that is
computed of them. Texts stay dictionaries, each with the words that its rows need.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

import numpy as np
import pyarrow as pa
from pyspark import SparkContext

from lag.history.file_replacement import StoredFile
from lag.history.files import read_rows
from lag.history.schemas import BYTES, TABLES, TEXT
from lag.offsets import Ints
from lag.verdict.rates import Flags

PART_ROWS = 2_000_000
"""Of a larger file several workers read some row groups each."""

TURNS = 4
"""Each core reads so many times, so that one which is done early takes more."""

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Every `of`-th row group of a file of that table, from the `first` on."""

    table: str
    path: str
    first: int = 0
    of: int = 1


def file_parts(table: str, files: Iterable[StoredFile]) -> list[FilePart]:
    """What is to be read of these files; a file of an unknown number of rows is one part."""
    return [
        FilePart(table, file.path, first, of)
        for file in files
        for of in [1 + (file.rows or 0) // PART_ROWS]
        for first in range(of)
    ]


@dataclass(frozen=True, slots=True)
class Deal:
    """What is read of which tables below `root`, which rows count, and a number for each that says whose it is."""

    root: str
    columns: dict[str, tuple[str, ...]]
    keep: Callable[[str, pa.RecordBatch], Flags]
    number: Callable[[pa.RecordBatch], Ints]

    def out(self, shares: int, some: Iterable[FilePart]) -> Iterator[tuple[int, tuple[str, bytes]]]:
        """Bytes of rows of a table, with the number of their share. Raises OSError."""
        for part in some:
            for rows in read(self.root, part, self.columns[part.table]):
                mine = rows.filter(pa.array(self.keep(part.table, rows)))
                for share, dealt in _dealt(mine, self.number(mine) % shares, shares):
                    yield share, (part.table, dealt)


def computed(
    spark: SparkContext,
    deal: Deal,
    shares: int,
    some: Sequence[FilePart],
    compute: Callable[[int, Iterator[tuple[str, pa.RecordBatch]]], Batches],
) -> list[pa.RecordBatch]:
    """What `compute` makes of each share: of its number, and of its rows with the names of their tables."""
    slices = max(1, min(len(some), TURNS * spark.defaultParallelism))
    dealt = spark.parallelize(some, slices).mapPartitions(lambda mine: deal.out(shares, mine))
    made = dealt.partitionBy(shares, int).mapPartitionsWithIndex(lambda share, rows: compute(share, _rows(rows)))
    return list(made.collect())


def by_partition(rows: pa.RecordBatch) -> Ints:
    """A partition's rows go to one share, and the partitions of a topic to all of them."""
    numbers: Ints = by_topic(rows) + rows["partition"].to_numpy()
    return numbers


def by_topic(rows: pa.RecordBatch) -> Ints:
    """A topic's rows go to one share."""
    coded = rows["topic"].dictionary_encode()
    of = np.array([crc32(text.encode()) for text in coded.dictionary.to_pylist()], np.int64)
    numbers: Ints = of[coded.indices.to_numpy()]
    return numbers


def read(root: str, part: FilePart, columns: Sequence[str]) -> Batches:
    """Texts as dictionaries; columns that the file does not have are null."""
    table = TABLES[part.table]
    kinds = {name: table.schema.field(name).type for name in columns}
    texts = {name: pa.dictionary(pa.int32(), kind) for name, kind in kinds.items() if kind in (TEXT, BYTES)}
    return read_rows(root, table, part.path, pa.schema(kinds | texts), slice(part.first, None, part.of))


def _dealt(rows: pa.RecordBatch, shares: Ints, of: int) -> Iterator[tuple[int, bytes]]:
    order = np.argsort(shares, kind="stable")
    bounds = np.searchsorted(shares[order], np.arange(of + 1))
    sorted_rows = rows.take(pa.array(order))
    for share, (since, until) in enumerate(pairwise(bounds.tolist())):
        if until > since:
            yield share, _bytes(_compact(sorted_rows.slice(since, until - since)))


def _compact(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Without the words that only other shares need."""
    columns = [
        column.dictionary_decode().dictionary_encode() if pa.types.is_dictionary(column.type) else column
        for column in rows.columns
    ]
    return pa.record_batch(columns, rows.schema)


def _bytes(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_batch(rows)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _rows(dealt: Iterable[tuple[int, tuple[str, bytes]]]) -> Iterator[tuple[str, pa.RecordBatch]]:
    for _, (table, data) in dealt:
        for rows in pa.ipc.open_stream(data):
            yield table, rows
