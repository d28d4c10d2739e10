"""Committed offsets of many groups per request (KIP-709), and start offsets and lag of share groups (KIP-932, 1226)."""

from collections.abc import Iterable

from kafka.protocol.consumer import OffsetFetchRequest

from lag.cluster.describe import error_name, partition_problem, refusal
from lag.cluster.messages import DescribeShareGroupOffsetsRequest, Message
from lag.cluster.requests import BrokerFailed, Unsupported, Wire, chunks
from lag.cluster.responses import Commits, RawGroup
from lag.model import GroupType, Problem, Scope
from lag.offsets import PartitionProblem

FETCH_CHUNK = 250
"""Groups per OffsetFetch: bounds what one answer makes us hold and decode at once."""

BATCHED = 8
"""OffsetFetch version that takes many groups (Kafka 3.0); before it there is one request per group."""


async def fetch(wire: Wire, node: int, groups: list[RawGroup], into: Commits) -> None:
    """Add the offsets of every group in `groups`, whose coordinator is `node`, to `into`."""
    plain = [g for g in groups if g.type != GroupType.SHARE]
    for chunk in chunks(plain, FETCH_CHUNK):
        await _guarded(_fetch_chunk(wire, node, chunk, into), chunk)
    for chunk in chunks([g for g in groups if g.type == GroupType.SHARE], FETCH_CHUNK):
        await _guarded(_fetch_share(wire, node, chunk, into), chunk)


async def _guarded(fetching: object, chunk: list[RawGroup]) -> None:
    try:
        await fetching  # type: ignore[misc]
    except BrokerFailed as failure:
        kind = PartitionProblem.TIMEOUT if failure.problem.kind == "timeout" else PartitionProblem.ERROR
        _give_up(chunk, kind, f"its offsets could not be read: {failure.problem.cause}")
    except Unsupported as error:
        _give_up(chunk, PartitionProblem.ERROR, f"its coordinator is too old to answer {error}")


def _give_up(chunk: Iterable[RawGroup], kind: PartitionProblem, cause: str) -> None:
    for group in chunk:
        group.offsets_problem = kind
        group.problems.append(Problem("offsets_unread", Scope.GROUP, group.group_id, cause))


async def _fetch_chunk(wire: Wire, node: int, chunk: list[RawGroup], into: Commits) -> None:
    request = OffsetFetchRequest
    ask = [request.OffsetFetchRequestGroup(group_id=group.group_id, topics=None) for group in chunk]
    try:
        response = await wire.ask(node, request(groups=ask, min_version=BATCHED, max_version=9))
    except Unsupported:
        await _fetch_one_by_one(wire, node, chunk, into)
        return
    answers = {answer.group_id: answer for answer in response.groups}
    for group in chunk:
        _add(group, answers.get(group.group_id), into)


async def _fetch_one_by_one(wire: Wire, node: int, chunk: list[RawGroup], into: Commits) -> None:
    for group in chunk:
        request = OffsetFetchRequest(group_id=group.group_id, topics=None, min_version=2, max_version=BATCHED - 1)
        _add(group, await wire.ask(node, request), into)


def _add(group: RawGroup, answer: Message | None, into: Commits) -> None:
    if answer is None or answer.error_code:
        _refused(group, answer)
        return
    number = into.add_group(group)
    for topic in answer.topics:
        name = into.topic_number(topic.name)
        for part in topic.partitions:
            problem = partition_problem(part.error_code) if part.error_code else None
            into.add(number, name, part.partition_index, part.committed_offset, problem=problem)


def _refused(group: RawGroup, answer: Message | None) -> None:
    if answer is None:
        _give_up([group], PartitionProblem.ERROR, "its coordinator left it out of the answer")
        return
    denied = "Authorization" in error_name(answer.error_code)
    group.offsets_problem = PartitionProblem.UNAUTHORIZED if denied else PartitionProblem.ERROR
    problem = refusal(group.group_id, answer.error_code)
    if problem not in group.problems:
        group.problems.append(problem)


async def _fetch_share(wire: Wire, node: int, chunk: list[RawGroup], into: Commits) -> None:
    request = DescribeShareGroupOffsetsRequest
    ask = [request.Group(group_id=group.group_id, topics=None) for group in chunk]
    response = await wire.ask(node, request(groups=ask))
    answers = {answer.group_id: answer for answer in response.groups}
    for group in chunk:
        _add_share(group, answers.get(group.group_id), into)


def _add_share(group: RawGroup, answer: Message | None, into: Commits) -> None:
    if answer is None or answer.error_code:
        _refused(group, answer)
        return
    number = into.add_group(group)
    for topic in answer.topics:
        name = into.topic_number(topic.topic_name)
        for part in topic.partitions:
            problem = partition_problem(part.error_code) if part.error_code else None
            lag = getattr(part, "lag", -1)
            into.add(number, name, part.partition_index, part.start_offset, -1 if lag is None else lag, problem)
