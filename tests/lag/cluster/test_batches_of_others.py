"""Batches that a broker rarely gives to a test: of formats 0 and 1, emptied by compaction, damaged."""

import struct
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.legacy_records import LegacyRecordBatchBuilder

from lag.cluster.group_records import read_batches
from lag.cluster.unread_check import read_on
from lag.model import Unread

TRANSACTIONAL, CONTROL = 0x10, 0x20
DAMAGED = bytes(8) + struct.pack(">i", 40) + b"\x09" * 60


def batch(at: int, magic: int = 2) -> bytes:
    """One record."""
    builder: Any = (
        DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
        if magic == 2
        else LegacyRecordBatchBuilder(magic, 0, 1 << 20)
    )
    builder.append(0, 1000, b"\0\1kk", b"v", *([[]] if magic == 2 else []))
    data = bytearray(builder.build())
    struct.pack_into(">q", data, 0, at)
    return bytes(data)


def emptied(at: int, producer: int = 7) -> bytes:
    """What the log cleaner leaves of a producer's last marker: the head of its batch, without a record."""
    head: struct.Struct = DefaultRecordBatch.HEADER_STRUCT
    return head.pack(at, head.size - 12, 0, 2, 0, TRANSACTIONAL | CONTROL, 0, -1, -1, producer, 0, -1, 0)


def several(at: int, offsets: Sequence[int], last: int, producer: int = -1) -> bytes:
    """A batch from `at` to `last` with records at these offsets alone, as compaction leaves it."""
    builder: Any = DefaultRecordBatchBuilder(2, 0, producer >= 0, producer, 0, 0, 1 << 20)
    for offset in offsets:
        builder.append(offset - at, 1000, b"k", b"v", [])
    data = bytearray(builder.build())
    struct.pack_into(">q", data, 0, at)
    struct.pack_into(">i", data, 23, last - at)
    return bytes(data)


def found(records: bytes, first: int = 5, end: int = 7, *, stable: int = 7, **rest: Any) -> Unread:
    """What is found from `first` to `end` in an answer with these batches."""
    answer = {"aborted_transactions": None, "preferred_read_replica": -1, "last_stable_offset": stable} | rest
    return read_on(SimpleNamespace(records=records, **answer), first, end)


@pytest.mark.parametrize("records", [batch(5, magic=0), batch(5, magic=1), DAMAGED])
def test_a_log_that_cannot_be_read_leaves_the_remainder_unknown(records: bytes) -> None:
    its = found(records)
    assert (its.passed, its.has_records) == (5, False)
    assert str(its.reason).startswith("the batch at offset 5 cannot be decoded: ")


def test_what_was_passed_before_a_damaged_batch_is_kept() -> None:
    its = found(emptied(5) + DAMAGED)
    assert (its.passed, its.has_records, its.reason is None) == (6, False, False)


def test_a_marker_that_compaction_removed_is_no_record() -> None:
    assert found(emptied(5) + emptied(6)) == Unread(7)
    assert found(emptied(5) + batch(6)) == Unread(6, has_records=True, record_ms=1_000)


def test_a_batch_of_which_compaction_left_only_records_that_were_read_has_none() -> None:
    assert found(several(0, [0, 3], last=6)) == Unread(7)
    assert found(several(0, [0, 3, 5], last=6)) == Unread(5, has_records=True, record_ms=1_000)
    assert found(several(0, range(7), last=6)) == Unread(5, has_records=True, record_ms=1_000)


def test_records_are_aborted_as_long_as_their_transaction_is() -> None:
    """The list of an answer has a transaction that began before the first offset, and ends at its marker."""
    aborted = [SimpleNamespace(first_offset=2, producer_id=7)]
    assert found(several(5, [5, 6], 6, producer=7), aborted_transactions=aborted) == Unread(7)
    record = Unread(5, has_records=True, record_ms=1_000)
    assert found(several(5, [5, 6], 6, producer=8), aborted_transactions=aborted) == record
    after = emptied(5) + several(6, [6], 6, producer=7)
    assert found(after, aborted_transactions=aborted) == Unread(6, has_records=True, record_ms=1_000)


def test_offsets_whose_records_compaction_removed_at_the_end_of_the_log_are_passed() -> None:
    assert found(b"") == Unread(7)
    assert found(b"", stable=6) == Unread(5, reason="the broker returned no records")
    assert found(b"", preferred_read_replica=2) == Unread(5, reason="the broker returned no records")


def test_batches_of_an_old_format_are_passed_over() -> None:
    found = read_batches(batch(5, magic=1) + batch(6, magic=0), 5)
    assert (found.records, found.unreadable, found.next_offset) == ((), 2, 7)
