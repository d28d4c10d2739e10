"""The records about groups in fetched batches of `__consumer_offsets`; offset commits, most of the topic, are skipped.

Skipping a commit costs five varints and no object. Group records are never part of a transaction, so everything below
the high watermark counts (read_uncommitted).
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka.errors import KafkaError
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import decode_varint

from lag.cluster.compat.record_batch import record_bytes
from lag.records.record_types import OFFSET_COMMITS

_TYPE = struct.Struct(">h")
_LAST_COMMIT = OFFSET_COMMITS[-1]
UNREADABLE = (KafkaError, ValueError, IndexError, struct.error, EOFError, MemoryError, RuntimeError)
"""What kafka-python and its codecs raise for damaged bytes."""


class GroupRecord(NamedTuple):
    """A record that is not an offset commit; a `value` of None is a tombstone."""

    at_ms: int
    key: bytes
    value: bytes | None


class BatchContents(NamedTuple):
    """Group records, number of all records, number of unreadable batches, and the offset to continue from."""

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
        if size >= _TYPE.size and _TYPE.unpack_from(data, at)[0] > _LAST_COMMIT and batch.base_offset + delta >= first:
            yield GroupRecord(_time(batch, delta_ms), bytes(data[at : at + size]), _value(data, at + size))
        at = end


def _time(batch: DefaultRecordBatch, delta_ms: int) -> int:
    appended = batch.timestamp_type == batch.LOG_APPEND_TIME
    return int(batch.max_timestamp if appended else batch.first_timestamp + delta_ms)


def _value(data: memoryview, at: int) -> bytes | None:
    size, at = decode_varint(data, at)
    return None if size < 0 else bytes(data[at : at + size])
