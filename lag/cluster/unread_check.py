"""Whether anything is left to read: bounded read_committed fetches from the committed offset on.

A transaction ends with a control record, and the records of an aborted one stay in the log. A read_committed consumer
gets neither, so one that has read everything and commits the offset after its last record stays behind the log end.
"""

import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from kafka.future import Future
from kafka.protocol.consumer import IsolationLevel
from kafka.record import MemoryRecords
from kafka.record.default_records import DefaultRecordBatch

from assignors.model import TopicPartition
from lag.cluster.group_records import ABORT, UNREADABLE, control_type
from lag.cluster.requests.error_codes import error_name
from lag.cluster.requests.messages import Message, fetch_request
from lag.cluster.requests.metadata import NO_LEADER
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest
from lag.model import Unread, UnreadRange

FETCH_BYTES = 65_536
"""Of one fetch. A broker returns the first batch whole, however large it is (KIP-74)."""

MOST_FETCHES = 20
MOST_S = 0.5
"""Per poll and broker: the number of fetches, and the time after which none begins. The next poll continues."""

NO_REPLICA = -1


async def check(
    client: PollClient, leaders: Mapping[str, Sequence[int]], ranges: Sequence[UnreadRange]
) -> list[Unread | None]:
    """What is found in each of `ranges`, all brokers at the same time; None: there was no time.

    Each range gets one fetch before any gets a second one. What fails has a reason: one log must not fail a poll.
    """
    led: dict[int, list[UnreadRange]] = defaultdict(list)
    for its in dict.fromkeys(ranges):
        led[_leader(leaders, its.tp)].append(its)
    found = {its: Unread(its.first, reason="the partition has no leader") for its in led.pop(NO_LEADER, ())}
    until_s = time.monotonic() + MOST_S
    tasks: list[Future] = [client.start(_on_broker, client, node, mine, until_s, found) for node, mine in led.items()]
    for task in tasks:
        await task
    return [found.get(its) for its in ranges]


def _leader(leaders: Mapping[str, Sequence[int]], tp: TopicPartition) -> int:
    nodes = leaders.get(tp.topic, ())
    return nodes[tp.partition] if tp.partition < len(nodes) else NO_LEADER


async def _on_broker(
    client: PollClient, node: int, ranges: Sequence[UnreadRange], until_s: float, found: dict[UnreadRange, Unread]
) -> None:
    queue = deque(ranges)
    for _ in range(MOST_FETCHES):
        if not queue or time.monotonic() > until_s:
            return
        its = queue.popleft()
        at = found[its].passed if its in found else its.first
        found[its] = now = await _read_from(client, node, its, at)
        if at < now.passed < its.end and not now.has_records and now.reason is None:
            queue.append(its)


async def _read_from(client: PollClient, node: int, unread: UnreadRange, offset: int) -> Unread:
    try:
        answer = await client.send(node, _request(unread.tp, offset))
    except BrokerFailed as failure:
        return Unread(offset, reason=failure.problem.cause)
    except UnsupportedRequest:
        return Unread(offset, reason=f"broker {node} is too old to read committed records")
    parts = [part for topic in answer.responses for part in topic.partitions]
    if code := answer.error_code or next((part.error_code for part in parts), 0):
        return Unread(offset, reason=error_name(code))
    if len(parts) != 1:  # so answers a broker that throttles us
        return Unread(offset, reason=f"the answer of broker {node} does not include it")
    return read_on(parts[0], offset, unread.end)


def _request(tp: TopicPartition, offset: int) -> Message:
    return fetch_request(
        tp.topic,
        {tp.partition: offset},
        IsolationLevel.READ_COMMITTED,
        partition_bytes=FETCH_BYTES,
        answer_bytes=FETCH_BYTES,
        wait_ms=0,
    )


def read_on(part: Message, offset: int, end: int) -> Unread:
    """What a read_committed consumer gets of this answer to a fetch from `offset` on, as in Java's `CompletedFetch`."""
    pending = sorted((its.first_offset, its.producer_id) for its in part.aborted_transactions or ())
    aborting, reached = set[int](), offset
    try:
        for batch in _batches(part.records):
            while pending and pending[0][0] <= batch.last_offset:
                aborting.add(pending.pop(0)[1])
            if batch.is_control_batch:
                if _is_abort(batch):
                    aborting.discard(batch.producer_id)
            elif not (batch.is_transactional and batch.producer_id in aborting):
                has_record, record_ms = _first_record(batch, offset)
                if has_record:
                    return Unread(reached, has_records=True, record_ms=record_ms)
            reached = max(reached, batch.next_offset)
    except UNREADABLE as error:
        return Unread(reached, reason=f"the batch at offset {reached:,} cannot be decoded: {error}")
    if _is_empty_to(part, end):
        return Unread(end)
    return Unread(reached, reason=None if reached > offset else "the broker returned no records")


def _batches(records: bytes | None) -> Iterator[DefaultRecordBatch]:
    """Raises one of UNREADABLE, also for formats 0 and 1, which are from before 0.11."""
    memory = MemoryRecords(bytes(records or b""))
    while memory.has_next():
        batch = memory.next_batch()
        if not isinstance(batch, DefaultRecordBatch):
            raise ValueError("a format without producer ids")
        yield batch


def _first_record(batch: DefaultRecordBatch, offset: int) -> tuple[bool, int | None]:
    """Whether it has a record at `offset` or later, and the timestamp of the first one.

    None if that has none, or the batch's codec is not installed. A batch keeps its offsets when compaction removes
    records of it.
    """
    if batch.last_offset < offset or not batch.records_count:
        return False, None
    is_certain = batch.records_count > offset - batch.base_offset
    try:
        found = next((record.timestamp for record in batch if record.offset >= offset), None)  # read once: an iterator
    except UNREADABLE:
        if is_certain:
            return True, None
        raise
    return found is not None, None if found is None or found < 0 else int(found)


def _is_abort(batch: DefaultRecordBatch) -> bool:
    record = next(iter(batch), None)
    if record is None:  # compaction has removed the marker, and with it the records of its transaction
        return True
    return control_type(record) == ABORT


def _is_empty_to(part: Message, end: int) -> bool:
    """Whether the leader has no batch up to `end`: compaction has removed what was there."""
    is_from_leader = part.preferred_read_replica == NO_REPLICA
    return is_from_leader and not part.records and part.last_stable_offset >= end
