"""Batches that a broker rarely gives to a test: of formats 0 and 1, emptied by compaction, damaged."""

import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.legacy_records import LegacyRecordBatchBuilder

from assignors.model import TopicPartition
from lag.cluster.group_records import read_batches
from lag.cluster.requests.poll_client import PollClient
from lag.cluster.unread_check import UnreadRange, check
from lag.model import Remainder

UNREAD = UnreadRange(TopicPartition("t", 0), committed=5, log_end=7, node=1)
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


class Broker:
    """Answers a fetch with these bytes."""

    def __init__(self, records: bytes) -> None:
        self._records = records

    async def send(self, _node: int, _request: object) -> Any:
        part = SimpleNamespace(error_code=0, aborted_transactions=None, records=self._records)
        return SimpleNamespace(error_code=0, responses=[SimpleNamespace(partitions=[part])])


def checked(records: bytes) -> Remainder:
    with pytest.raises(StopIteration) as done:
        check(cast(PollClient, Broker(records)), UNREAD).send(None)  # nothing in it waits
    return cast(Remainder, done.value.value)


@pytest.mark.parametrize("records", [batch(5, magic=0), batch(5, magic=1), DAMAGED])
def test_a_log_that_cannot_be_read_leaves_the_remainder_unknown(records: bytes) -> None:
    assert checked(records) is Remainder.UNKNOWN


def test_a_marker_that_compaction_removed_is_no_record() -> None:
    assert checked(emptied(5) + emptied(6)) is Remainder.MARKERS_ONLY
    assert checked(emptied(5) + batch(6)) is Remainder.RECORDS


def test_batches_of_an_old_format_are_passed_over() -> None:
    found = read_batches(batch(5, magic=1) + batch(6, magic=0), 5)
    assert (found.records, found.unreadable, found.next_offset) == ((), 2, 7)
