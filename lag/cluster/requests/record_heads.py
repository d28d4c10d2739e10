"""The next records of a partition: offset, time, key, headers and size; and how many records a range has."""

from collections.abc import Iterator

from kafka.protocol.consumer import IsolationLevel
from kafka.record import MemoryRecords
from kafka.record.abc import ABCRecord
from kafka.record.default_records import DefaultRecordBatch

from assignors.model import TopicPartition
from lag.cluster.group_records import UNREADABLE
from lag.cluster.requests.error_codes import error_name
from lag.cluster.requests.messages import Message, fetch_request
from lag.cluster.requests.poll_client import PollClient
from lag.reset.model import RecordHead

ONE_BATCH = 1
"""Bytes asked for: a broker returns at least one whole batch (KIP-74)."""
COUNT_BYTES = 1 << 20
MOST_COUNT_BYTES = 8 << 20
"""Bytes of one partition that are read to count its records."""
NOT_BATCHES = "its records have a format from before Kafka 0.11"


async def first_records(
    client: PollClient, node: int, tp: TopicPartition, offset: int, most: int, with_values: bool
) -> tuple[RecordHead, ...] | str:
    """Up to `most` records at or after the offset; a text says why they could not be read. Raises BrokerFailed."""
    found: list[RecordHead] = []
    while len(found) < most:
        batches = await _fetch(client, node, tp, offset, ONE_BATCH)
        if isinstance(batches, str):
            return batches
        if not batches:
            break
        try:
            found += [_head(r, b, with_values) for b in batches for r in b if r.offset >= offset]
        except UNREADABLE as error:
            return f"a batch at offset {offset:,} cannot be decoded: {error}"
        offset = batches[-1].next_offset
    return tuple(found[:most])


async def count(client: PollClient, node: int, tp: TopicPartition, low: int, high: int) -> int | str:
    """How many records, markers left out, have an offset in low..high-1; a text says why it is unknown.

    Raises BrokerFailed.
    """
    records, read, offset = 0, 0, low
    while offset < high:
        if read > MOST_COUNT_BYTES:
            return f"there are more than {MOST_COUNT_BYTES >> 20} MB of them"
        batches = await _fetch(client, node, tp, offset, COUNT_BYTES)
        if isinstance(batches, str):
            return batches
        if not batches:
            break
        try:
            records += sum(_count(batch, low, high) for batch in batches)
        except UNREADABLE as error:
            return f"a batch at offset {offset:,} cannot be decoded: {error}"
        read += sum(batch.size_in_bytes for batch in batches)
        offset = batches[-1].next_offset
    return records


def _count(batch: DefaultRecordBatch, low: int, high: int) -> int:
    if batch.is_control_batch:
        return 0
    if low <= batch.base_offset and batch.last_offset < high:
        return int(batch.records_count)
    return sum(low <= record.offset < high for record in batch)


async def _fetch(
    client: PollClient, node: int, tp: TopicPartition, offset: int, most_bytes: int
) -> list[DefaultRecordBatch] | str:
    request = fetch_request(
        tp.topic,
        {tp.partition: offset},
        IsolationLevel.READ_UNCOMMITTED,
        partition_bytes=most_bytes,
        answer_bytes=most_bytes,
        wait_ms=0,
    )
    answer = await client.send(node, request)
    parts = [part for topic in answer.responses for part in topic.partitions]
    if answer.error_code or len(parts) != 1 or parts[0].error_code:
        return error_name(parts[0].error_code if parts else answer.error_code)
    batches = list(_batches(parts[0], offset))
    return batches if all(isinstance(batch, DefaultRecordBatch) for batch in batches) else NOT_BATCHES


def _batches(part: Message, offset: int) -> Iterator[DefaultRecordBatch]:
    memory = MemoryRecords(bytes(part.records or b""))
    while memory.has_next():
        batch = memory.next_batch()
        if not isinstance(batch, DefaultRecordBatch) or batch.next_offset > offset:
            yield batch


def _head(record: ABCRecord, batch: DefaultRecordBatch, with_values: bool) -> RecordHead:
    if batch.is_control_batch:
        return RecordHead(record.offset, record.timestamp, is_marker=True)
    return RecordHead(
        offset=record.offset,
        timestamp_ms=record.timestamp,
        key=None if record.key is None else bytes(record.key),
        headers=tuple((name, None if value is None else bytes(value)) for name, value in record.headers),
        value_bytes=None if record.value is None else len(record.value),
        value=bytes(record.value) if with_values and record.value is not None else None,
    )
