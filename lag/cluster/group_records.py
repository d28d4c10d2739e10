"""The records of `__consumer_offsets` in fetched batches: about groups and their members, and offset commits.

Everything below the high watermark counts (read_uncommitted). Group records are never part of a transaction. A commit
of a transaction counts before the transaction ends; one that is aborted has an offset that no poll finds committed.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka.errors import KafkaError
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import decode_varint

from lag.cluster.compat.record_batch import record_bytes

_TYPE_BYTES = 2
UNREADABLE = (KafkaError, ValueError, IndexError, struct.error, EOFError, MemoryError, RuntimeError)
"""What kafka-python and its codecs raise for damaged bytes."""


class GroupRecord(NamedTuple):
    """A record and its time; a `value` of None is a tombstone."""

    at_ms: int
    key: bytes
    value: bytes | None


class BatchContents(NamedTuple):
    """Records, number of all records, number of unreadable batches, and the offset to continue from."""

    records: tuple[GroupRecord, ...]
    records_read: int
    unreadable: int
    next_offset: int


def read_batches(data: bytes, first: int) -> BatchContents:
    """The records from offset `first` on, in whole batches; a batch that is cut off at the end is ignored."""
    found: list[GroupRecord] = []
    records_read = unreadable = 0
    reached = first
    memory = MemoryRecords(data)
    while memory.has_next():
        batch = memory.next_batch()
        if not isinstance(batch, DefaultRecordBatch):  # formats 0 and 1 are from before 0.11
            unreadable += 1
            reached = max(reached, batch.base_offset + 1)
            continue
        reached = max(reached, batch.next_offset)
        try:
            if not batch.is_control_batch:
                found += _group_records(batch, first)
        except UNREADABLE:
            unreadable += 1
        records_read += batch.records_count
    return BatchContents(tuple(found), records_read, unreadable, reached)


def _group_records(batch: DefaultRecordBatch, first: int) -> Iterator[GroupRecord]:
    data, at = record_bytes(batch)
    for _ in range(batch.records_count):
        length, at = decode_varint(data, at)
        end = at + length
        delta_ms, at = decode_varint(data, at + 1)  # after the attributes
        delta, at = decode_varint(data, at)
        size, at = decode_varint(data, at)
        if size >= _TYPE_BYTES and batch.base_offset + delta >= first:
            yield GroupRecord(_time(batch, delta_ms), bytes(data[at : at + size]), _value(data, at + size))
        at = end


def _time(batch: DefaultRecordBatch, delta_ms: int) -> int:
    appended = batch.timestamp_type == batch.LOG_APPEND_TIME
    return int(batch.max_timestamp if appended else batch.first_timestamp + delta_ms)


def _value(data: memoryview, at: int) -> bytes | None:
    size, at = decode_varint(data, at)
    return None if size < 0 else bytes(data[at : at + size])
