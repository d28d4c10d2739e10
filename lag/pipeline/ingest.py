"""A Python worker's part of a batch: decodes the records and writes the files of each table."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from lag.history.rows import CommitBuilder, SourceRecords, errors, events
from lag.model import is_internal_group
from lag.pipeline.worker_results import Writing, counted
from lag.records import BytesColumn, Decoded, Decoder

COLUMNS = ("key", "value", "partition", "offset", "timestamp")
STREAMED = ("commits", "group_events", "decode_errors")
RECORDS, OURS, UNKNOWN = "records", "ours", "unknown "


@dataclass(frozen=True, slots=True)
class Job:
    """One batch of one run: where to write, the tables that lack it, and the end offsets before the run."""

    root: str
    cluster: str
    bootstrap_until: tuple[int, ...]
    tables: tuple[str, ...]


def ingest(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Written files and counts (`RESULTS`). Raises OSError if a file cannot be written."""
    writing = Writing(job.root, *job.tables)
    counts: Counter[str] = Counter()
    for batch in filter(len, batches):
        _ingest_batch(job, batch, writing, counts)
    yield writing.result()
    yield counted(counts)


@cache
def _decoder() -> tuple[Decoder, CommitBuilder]:
    """One for each process: workers are reused, and a decoder is faster with names that it knows."""
    return Decoder(), CommitBuilder()


def _ingest_batch(job: Job, batch: pa.RecordBatch, writing: Writing, counts: Counter[str]) -> None:
    decoder, rows = _decoder()
    keys, values = _bytes_column(batch["key"]), _bytes_column(batch["value"])
    decoded, source = decoder.decode(keys, values), _source(job, batch)
    commits = rows.commits(decoded.commits, source)
    writing.add("commits", commits)
    if decoded.events:
        writing.add("group_events", events(decoded, source, keys, values))
    if decoded.errors:
        writing.add("decode_errors", errors(decoded, source, keys, values))
    _count(decoded, len(commits), counts)


def _count(decoded: Decoded, commits: int, counts: Counter[str]) -> None:
    counts[RECORDS] += decoded.records
    counts[OURS] += len(decoded.commits) - commits + sum(is_internal_group(event.group_id) for event in decoded.events)
    for record_type, number in decoded.unknown_counts.items():
        counts[f"{UNKNOWN}{record_type}"] += number


def _bytes_column(column: pa.Array) -> BytesColumn:
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int32)[column.offset : column.offset + len(column) + 1]
    valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    return BytesColumn.of_buffer(b"" if data is None else data, offsets, valid)


def _source(job: Job, batch: pa.RecordBatch) -> SourceRecords:
    partition, offset = batch["partition"].to_numpy(), batch["offset"].to_numpy()
    until = np.zeros(max(int(partition.max()) + 1, len(job.bootstrap_until)), np.int64)
    until[: len(job.bootstrap_until)] = job.bootstrap_until
    time_us = batch["timestamp"].cast(pa.int64()).to_numpy()
    return SourceRecords(job.cluster, partition, offset, time_us, offset < until[partition])
