"""The records about groups in fetched batches of `__consumer_offsets`; offset commits, nearly all there is, are passed.

A commit costs five varints and no object. Group records are never part of a transaction: what is below the high
watermark counts (read_uncommitted), and an open transaction holds nobody up.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kafka.errors import KafkaError
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.util import decode_varint

from lag.records.record_types import OFFSET_COMMITS

_TYPE = struct.Struct(">h")
_LAST_COMMIT = OFFSET_COMMITS[-1]
UNREADABLE = (KafkaError, ValueError, IndexError, struct.error, EOFError, MemoryError, RuntimeError)
"""What damaged or badly compressed bytes make kafka-python and its codecs raise."""


class GroupRecord(NamedTuple):
    """A record that is no offset commit: when it was written (ms since 1970), its key and value (None: a tombstone)."""

    at_ms: int
    key: bytes
    value: bytes | None


class Skimmed(NamedTuple):
    """What was in some batches: group records, how many records in all, batches nobody can read, where to go on."""

    records: tuple[GroupRecord, ...]
    passed: int
    unreadable: int
    next_offset: int


def skim(data: bytes, first: int) -> Skimmed:
    """Everything from offset `first` on in whole batches; one that is cut off at the end is left for the next fetch."""
    found: list[GroupRecord] = []
    passed = unreadable = 0
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
        passed += batch.records_count
    return Skimmed(tuple(found), passed, unreadable, reached)


def _group_records(batch: DefaultRecordBatch, first: int) -> Iterator[GroupRecord]:
    batch._maybe_uncompress()
    data, at = memoryview(batch._buffer), batch._pos
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
