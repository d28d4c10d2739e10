"""Whether a small lag is records or only transaction markers: a bounded read_committed fetch from the committed offset.

A committed transaction ends with a control record. A consumer that has read all data and commits the next offset stays
1 behind; from offsets alone, that looks like an unread record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka.protocol.consumer import IsolationLevel
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatch

from assignors.model import TopicPartition
from lag.cluster.group_records import ABORT, UNREADABLE, control_type
from lag.cluster.requests.messages import Message, fetch_request
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest
from lag.model import Remainder

FETCH_BYTES = 65_536

Aborted = Sequence[tuple[int, int]]
"""(first offset, producer id) of aborted transactions, ascending."""


@dataclass(frozen=True, slots=True)
class UnreadRange:
    """The offsets from `committed` to `log_end`, on leader `node`."""

    tp: TopicPartition
    committed: int
    log_end: int
    node: int


async def check(client: PollClient, unread: UnreadRange) -> Remainder:
    """What a read_committed consumer would still read.

    UNKNOWN if one fetch does not reach the log end, and for what cannot be decoded: one log must not fail a poll.
    """
    try:
        answer = await client.send(unread.node, _request(unread))
    except (BrokerFailed, UnsupportedRequest):
        return Remainder.UNKNOWN
    parts = [part for topic in answer.responses for part in topic.partitions]
    if answer.error_code or len(parts) != 1 or parts[0].error_code:
        return Remainder.UNKNOWN
    aborted = sorted((its.first_offset, its.producer_id) for its in parts[0].aborted_transactions or ())
    try:
        return remainder(list(_batches(parts[0].records)), aborted, unread.committed, unread.log_end)
    except UNREADABLE:
        return Remainder.UNKNOWN


def _request(unread: UnreadRange) -> Message:
    return fetch_request(
        unread.tp.topic,
        {unread.tp.partition: unread.committed},
        IsolationLevel.READ_COMMITTED,
        partition_bytes=FETCH_BYTES,
        answer_bytes=FETCH_BYTES,
        wait_ms=0,
    )


def _batches(records: bytes | None) -> Iterator[DefaultRecordBatch]:
    """Raises one of UNREADABLE, also for formats 0 and 1, which are from before 0.11."""
    memory = MemoryRecords(bytes(records or b""))
    while memory.has_next():
        batch = memory.next_batch()
        if not isinstance(batch, DefaultRecordBatch):
            raise ValueError("a format without producer ids")
        yield batch


def remainder(batches: Sequence[DefaultRecordBatch], aborted: Aborted, committed: int, log_end: int) -> Remainder:
    """RECORDS if a batch has committed data from `committed` on; MARKERS_ONLY if there is none up to `log_end`."""
    pending, aborting = list(aborted), set[int]()
    reached = committed
    for batch in batches:
        while pending and pending[0][0] <= batch.base_offset:
            aborting.add(pending.pop(0)[1])
        if batch.is_control_batch:
            if _is_abort(batch):
                aborting.discard(batch.producer_id)
        elif batch.last_offset >= committed and not (batch.is_transactional and batch.producer_id in aborting):
            return Remainder.RECORDS
        reached = max(reached, batch.next_offset)
    return Remainder.MARKERS_ONLY if reached >= log_end else Remainder.UNKNOWN


def _is_abort(batch: DefaultRecordBatch) -> bool:
    record = next(iter(batch), None)
    if record is None:  # compaction has removed the marker, and with it the records of its transaction
        return True
    return control_type(record) == ABORT
