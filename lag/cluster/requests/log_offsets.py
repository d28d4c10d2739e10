"""Log start, log end (high watermark) and last stable offset of every partition, from its leader (ListOffsets)."""

from collections.abc import Iterator, Sequence

from kafka.protocol.consumer import IsolationLevel, ListOffsetsRequest, OffsetSpec

from assignors.model import TopicPartition, by_topic
from lag.cluster.requests.error_codes import error_name, partition_problem
from lag.cluster.requests.messages import Message
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest
from lag.cluster.requests.responses import LogOffsets
from lag.offsets import PartitionProblem, problem_code

LIST_CHUNK = 10_000
"""Partitions per ListOffsets request."""

LOG_START, LOG_END, LAST_STABLE = KINDS = range(3)

_ASK = {
    LOG_START: (OffsetSpec.EARLIEST, IsolationLevel.READ_UNCOMMITTED),
    LOG_END: (OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED),
    LAST_STABLE: (OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED),
}

LedPartitions = Sequence[tuple[str, int, Sequence[int]]]
"""(topic, its number, the partitions that one broker leads)."""


async def fetch(
    client: PollClient, node: int, led: LedPartitions, into: LogOffsets, kinds: Sequence[int] = KINDS
) -> None:
    """Add the offsets of the partitions that `node` leads to `into`; what fails is added with its problem."""
    for chunk in _chunks(led):
        for kind in kinds:
            await _fetch_kind(client, node, chunk, kind, into)


async def at_timestamp(
    client: PollClient, node: int, partitions: Sequence[TopicPartition], timestamp_ms: int
) -> dict[TopicPartition, int | str]:
    """The first offset with this timestamp or a later one; -1: there is none; a text says why it is unknown."""
    led = [(name, 0, numbers) for name, numbers in by_topic(sorted(partitions)).items()]
    found: dict[TopicPartition, int | str] = dict.fromkeys(partitions, "its leader's response does not include it")
    for chunk in _chunks(led):
        mine = {TopicPartition(name, number) for name, _, numbers in chunk for number in numbers}
        try:
            response = await client.send(node, _request(chunk, timestamp_ms, IsolationLevel.READ_UNCOMMITTED))
        except BrokerFailed as failure:
            found |= dict.fromkeys(mine, failure.problem.cause)
            continue
        for topic in response.topics:
            for part in topic.partitions:
                tp = TopicPartition(topic.name, part.partition_index)
                found[tp] = error_name(part.error_code) if part.error_code else part.offset
    return found


async def _fetch_kind(client: PollClient, node: int, chunk: LedPartitions, kind: int, into: LogOffsets) -> None:
    try:
        response = await client.send(node, _request(chunk, *_ASK[kind]))
    except BrokerFailed as failure:
        timeout = failure.problem.kind == "timeout"
        _fail(chunk, kind, PartitionProblem.TIMEOUT if timeout else PartitionProblem.ERROR, into)
        return
    except UnsupportedRequest:
        if kind != LAST_STABLE:  # brokers before 0.11 have no transactions
            _fail(chunk, kind, PartitionProblem.ERROR, into)
        return
    numbers = {name: number for name, number, _ in chunk}
    for topic in response.topics:
        number = numbers[topic.name]
        for part in topic.partitions:
            problem = problem_code(partition_problem(part.error_code)) if part.error_code else 0
            into.add(number, part.partition_index, kind, part.offset, problem, part.leader_epoch)


def _request(chunk: LedPartitions, timestamp: int, isolation: IsolationLevel) -> Message:
    request = ListOffsetsRequest
    topic, partition = request.ListOffsetsTopic, request.ListOffsetsTopic.ListOffsetsPartition
    topics = [
        topic(
            name=name,
            partitions=[partition(partition_index=p, timestamp=timestamp, current_leader_epoch=-1) for p in parts],
        )
        for name, _, parts in chunk
    ]
    return request(
        replica_id=-1,
        isolation_level=isolation,
        topics=topics,
        min_version=2 if isolation is IsolationLevel.READ_COMMITTED else 1,
    )


def _fail(chunk: LedPartitions, kind: int, problem: PartitionProblem, into: LogOffsets) -> None:
    code = problem_code(problem)
    for _, number, parts in chunk:
        for partition in parts:
            into.add(number, partition, kind, -1, code)


def _chunks(led: LedPartitions) -> Iterator[LedPartitions]:
    """`led` in parts of at most LIST_CHUNK partitions; larger topics are split."""
    pieces = (
        (name, number, parts[at : at + LIST_CHUNK])
        for name, number, parts in led
        for at in range(0, len(parts), LIST_CHUNK)
    )
    chunk: list[tuple[str, int, Sequence[int]]] = []
    size = 0
    for piece in pieces:
        if chunk and size + len(piece[2]) > LIST_CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(piece)
        size += len(piece[2])
    if chunk:
        yield chunk
