"""What a Python worker does with its share of a batch: decode the records, write the files of each table.

Only the list of files goes back through Spark: rows that went back would be written by the JVM, at several times the
cost. The files count for nothing until the driver commits them, so a task that dies or runs twice leaves no trace.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from lag.history.files import DataFile, TableFiles
from lag.history.rows import Origin, Rows, errors, events
from lag.history.schemas import TABLES
from lag.model import is_ours
from lag.records import Blobs, Decoded, Decoder

COLUMNS = ("key", "value", "partition", "offset", "timestamp")
STREAMED = ("commits", "group_events", "decode_errors")
RECORDS, OURS, UNKNOWN = "records", "ours", "unknown"

REPORT = pa.schema(
    [
        ("count", pa.string()), ("table", pa.string()), ("rows", pa.int64()), ("path", pa.string()),
        ("day", pa.string()), ("size_bytes", pa.int64()), ("written_ms", pa.int64()), ("stats", pa.string()),
    ]
)  # fmt: skip
REPORT_DDL = (
    "count string, table string, rows long, path string, day string, size_bytes long, written_ms long, stats string"
)


@dataclass(frozen=True, slots=True)
class Job:
    """One batch of one run: where to write, which tables still lack it, which offsets were there before the run."""

    root: str
    cluster: str
    bootstrap_until: tuple[int, ...]
    tables: tuple[str, ...]


def ingest(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Files that were written, and counts. Raises OSError when one cannot be written."""
    files = {name: TableFiles(job.root, TABLES[name]) for name in job.tables}
    counts: Counter[str] = Counter()
    for batch in filter(len, batches):
        _take_in(job, batch, files, counts)
    written = {name: table.close() for name, table in files.items()}
    yield _report(written, counts)


@cache
def _decoder() -> tuple[Decoder, Rows]:
    """Of this process: workers are used again, and a decoder is quick with names that it knows."""
    return Decoder(), Rows()


def _take_in(job: Job, batch: pa.RecordBatch, files: dict[str, TableFiles], counts: Counter[str]) -> None:
    decoder, rows = _decoder()
    keys, values = _blobs(batch["key"]), _blobs(batch["value"])
    decoded, origin = decoder.decode(keys, values), _origin(job, batch)
    commits = rows.commits(decoded.commits, origin)
    made = {"commits": commits}
    if decoded.events:
        made["group_events"] = events(decoded, origin, keys, values)
    if decoded.errors:
        made["decode_errors"] = errors(decoded, origin, keys, values)
    for name, found in made.items():
        if name in files and len(found):
            files[name].add(found)
    _count(decoded, len(commits), counts)


def _count(decoded: Decoded, commits: int, counts: Counter[str]) -> None:
    counts[RECORDS] += decoded.records
    counts[OURS] += len(decoded.commits) - commits + sum(is_ours(event.group_id) for event in decoded.events)
    for record_type, number in decoded.unknown_counts.items():
        counts[f"{UNKNOWN} {record_type}"] += number


def _blobs(column: pa.Array) -> Blobs:
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int32)[column.offset : column.offset + len(column) + 1]
    valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    return Blobs.of_buffer(b"" if data is None else data, offsets, valid)


def _origin(job: Job, batch: pa.RecordBatch) -> Origin:
    partition, offset = batch["partition"].to_numpy(), batch["offset"].to_numpy()
    until = np.zeros(max(int(partition.max()) + 1, len(job.bootstrap_until)), np.int64)
    until[: len(job.bootstrap_until)] = job.bootstrap_until
    time_us = batch["timestamp"].cast(pa.int64()).to_numpy()
    return Origin(job.cluster, partition, offset, time_us, offset < until[partition])


def _report(written: dict[str, list[DataFile]], counts: Counter[str]) -> pa.RecordBatch:
    files = [{"table": name, **asdict(file)} for name, listed in written.items() for file in listed]
    counted = [{"count": name, "rows": number} for name, number in counts.items()]
    return pa.RecordBatch.from_pylist([*files, *counted], REPORT)
