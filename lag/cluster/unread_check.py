"""Is there anything left to read? A bounded read_committed look at the log from a committed offset on.

A committed transaction leaves a control record behind its data. A consumer that has read all data and commits the
offset after it stays "1 behind" for ever; offsets alone cannot tell that from a record it has not read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka.protocol.consumer import FetchRequest, IsolationLevel
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatch

from assignors.model import TopicPartition
from lag.cluster.messages import Message
from lag.cluster.requests import BrokerFailed, Unsupported, Wire
from lag.model import Remainder

FETCH_BYTES = 65_536
LAST_VERSION_BY_NAME = 12
"""From version 13 on, Fetch names topics by id."""

ABORT = 0
"""The type of an abort marker, in the control record's key (KIP-98)."""

Aborted = Sequence[tuple[int, int]]
"""(first offset, producer id) of transactions that were aborted, in order."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is between `committed` and `log_end`, on leader `node`?"""

    tp: TopicPartition
    committed: int
    log_end: int
    node: int


async def ask(wire: Wire, question: Question) -> Remainder:
    """What a read_committed consumer would still get. UNKNOWN when one fetch does not reach the log end."""
    try:
        answer = await wire.ask(question.node, _request(question))
    except (BrokerFailed, Unsupported):
        return Remainder.UNKNOWN
    parts = [part for topic in answer.responses for part in topic.partitions]
    if answer.error_code or len(parts) != 1 or parts[0].error_code:
        return Remainder.UNKNOWN
    return judge(list(_batches(parts[0].records)), _aborted(parts[0]), question.committed, question.log_end)


def _request(question: Question) -> Message:
    topic, partition = FetchRequest.FetchTopic, FetchRequest.FetchTopic.FetchPartition
    part = partition(partition=question.tp.partition, fetch_offset=question.committed, partition_max_bytes=FETCH_BYTES)
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=FETCH_BYTES,
        isolation_level=IsolationLevel.READ_COMMITTED,
        topics=[topic(topic=question.tp.topic, partitions=[part])],
        forgotten_topics_data=[],
        min_version=4,
        max_version=LAST_VERSION_BY_NAME,
    )


def _batches(records: bytes | None) -> Iterator[DefaultRecordBatch]:
    memory = MemoryRecords(bytes(records or b""))
    while memory.has_next():
        yield memory.next_batch()


def _aborted(part: Message) -> Aborted:
    return sorted((aborted.first_offset, aborted.producer_id) for aborted in part.aborted_transactions or ())


def judge(batches: Sequence[DefaultRecordBatch], aborted: Aborted, committed: int, log_end: int) -> Remainder:
    """RECORDS if a batch holds committed data at or after `committed`; MARKERS_ONLY if the log ends without any."""
    pending, dead = list(aborted), set[int]()
    reached = committed
    for batch in batches:
        while pending and pending[0][0] <= batch.base_offset:
            dead.add(pending.pop(0)[1])
        if batch.is_control_batch:
            if _is_abort(batch):
                dead.discard(batch.producer_id)
        elif batch.last_offset >= committed and not (batch.is_transactional and batch.producer_id in dead):
            return Remainder.RECORDS
        reached = max(reached, batch.next_offset)
    return Remainder.MARKERS_ONLY if reached >= log_end else Remainder.UNKNOWN


def _is_abort(batch: DefaultRecordBatch) -> bool:
    key = next(iter(batch)).key
    return key is not None and int.from_bytes(key[2:4], "big") == ABORT
