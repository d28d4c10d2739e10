"""The records of `__consumer_offsets` in fetched batches: about groups and their members, and offset commits.

Everything below the high watermark is read (read_uncommitted): one open transaction would hold back the records of all
groups in its partition. `lag.records.transactions` holds back the commits of that transaction alone.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka.errors import KafkaError
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecord, DefaultRecordBatch
from kafka.record.util import decode_varint

from lag.cluster.compat.record_batch import record_bytes
from lag.records.transactions import NO_PRODUCER, GroupRecord, Marker

ABORT, COMMIT = 0, 1
"""The types of the control records that end a transaction (KIP-98)."""

_TYPE_BYTES = 2
UNREADABLE = (KafkaError, ValueError, IndexError, struct.error, EOFError, MemoryError, RuntimeError)
"""What kafka-python and its codecs raise for damaged bytes."""


class BatchContents(NamedTuple):
    """Records and markers, number of all records, number of unreadable batches, and the offset to continue from."""

    records: tuple[GroupRecord | Marker, ...]
    records_read: int
    unreadable: int
    next_offset: int


def read_batches(data: bytes, first: int) -> BatchContents:
    """The records from offset `first` on, in whole batches; a batch that is cut off at the end is ignored."""
    found: list[GroupRecord | Marker] = []
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
            found += _markers(batch) if batch.is_control_batch else _group_records(batch, first)
        except UNREADABLE:
            unreadable += 1
        records_read += batch.records_count
    return BatchContents(tuple(found), records_read, unreadable, reached)


def control_type(record: DefaultRecord) -> int | None:
    """The type of a control record, which is in its key after a version (KIP-98)."""
    return int.from_bytes(record.key[_TYPE_BYTES : 2 * _TYPE_BYTES], "big") if record.key else None


def _markers(batch: DefaultRecordBatch) -> Iterator[Marker]:
    """Control records of types other than COMMIT and ABORT end no transaction."""
    for record in batch:
        if (kind := control_type(record)) in (ABORT, COMMIT):
            yield Marker(batch.producer_id, kind == COMMIT)


def _group_records(batch: DefaultRecordBatch, first: int) -> Iterator[GroupRecord]:
    producer_id = batch.producer_id if batch.is_transactional else NO_PRODUCER
    data, at = record_bytes(batch)
    for _ in range(batch.records_count):
        length, at = decode_varint(data, at)
        end = at + length
        delta_ms, at = decode_varint(data, at + 1)  # after the attributes
        delta, at = decode_varint(data, at)
        size, at = decode_varint(data, at)
        if size >= _TYPE_BYTES and batch.base_offset + delta >= first:
            yield GroupRecord(_time(batch, delta_ms), bytes(data[at : at + size]), _value(data, at + size), producer_id)
        at = end


def _time(batch: DefaultRecordBatch, delta_ms: int) -> int:
    appended = batch.timestamp_type == batch.LOG_APPEND_TIME
    return int(batch.max_timestamp if appended else batch.first_timestamp + delta_ms)


def _value(data: memoryview, at: int) -> bytes | None:
    size, at = decode_varint(data, at)
    return None if size < 0 else bytes(data[at : at + size])
