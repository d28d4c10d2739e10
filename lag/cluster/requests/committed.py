"""Committed offsets of many groups per request (KIP-709), and start offsets and lag of share groups (KIP-932, 1226)."""

from collections.abc import Awaitable, Iterable

from kafka.protocol.consumer import OffsetFetchRequest

from lag.cluster.requests.error_codes import group_problem, is_unauthorized, partition_problem
from lag.cluster.requests.messages import DescribeShareGroupOffsetsRequest, Message
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest, chunks
from lag.cluster.requests.responses import CommittedOffsets, GroupDescription
from lag.model import GroupType, Problem, Scope
from lag.offsets import PartitionProblem, problem_code

FETCH_CHUNK = 250
"""Groups per OffsetFetch request: limits the memory that one answer needs."""

BATCHED = 8
"""The first OffsetFetch version for many groups (Kafka 3.0, KIP-709)."""


async def fetch(client: PollClient, node: int, groups: list[GroupDescription], into: CommittedOffsets) -> None:
    """Add the offsets of every group in `groups`, whose coordinator is `node`, to `into`."""
    for chunk in chunks([g for g in groups if g.type != GroupType.SHARE], FETCH_CHUNK):
        await _guarded(_fetch_chunk(client, node, chunk, into), chunk)
    for chunk in chunks([g for g in groups if g.type == GroupType.SHARE], FETCH_CHUNK):
        await _guarded(_fetch_share(client, node, chunk, into), chunk)


async def _guarded(fetching: Awaitable[None], chunk: list[GroupDescription]) -> None:
    try:
        await fetching
    except BrokerFailed as failure:
        problem = PartitionProblem.TIMEOUT if failure.problem.kind == "timeout" else PartitionProblem.ERROR
        _unread(chunk, problem, f"its offsets could not be read: {failure.problem.cause}")
    except UnsupportedRequest as error:
        _unread(chunk, PartitionProblem.ERROR, f"its coordinator is too old to answer {error}")


def _unread(chunk: Iterable[GroupDescription], problem: PartitionProblem, cause: str) -> None:
    for group in chunk:
        group.offsets_problem = problem
        group.problems.append(Problem("offsets_unread", Scope.GROUP, group.group_id, cause))


async def _fetch_chunk(client: PollClient, node: int, chunk: list[GroupDescription], into: CommittedOffsets) -> None:
    request = OffsetFetchRequest
    ask = [request.OffsetFetchRequestGroup(group_id=group.group_id, topics=None) for group in chunk]
    try:
        response = await client.send(node, request(groups=ask, min_version=BATCHED, max_version=9))
    except UnsupportedRequest:
        await _fetch_one_by_one(client, node, chunk, into)
        return
    answers = {answer.group_id: answer for answer in response.groups}
    for group in chunk:
        _add(group, answers.get(group.group_id), into)


async def _fetch_one_by_one(
    client: PollClient, node: int, chunk: list[GroupDescription], into: CommittedOffsets
) -> None:
    for group in chunk:
        request = OffsetFetchRequest(group_id=group.group_id, topics=None, min_version=2, max_version=BATCHED - 1)
        _add(group, await client.send(node, request), into)


def _add(
    group: GroupDescription,
    answer: Message | None,
    into: CommittedOffsets,
    is_share: bool = False,
) -> None:
    """Add the offsets of one group."""
    if answer is None or answer.error_code:
        _refused(group, answer)
        return
    number = into.add_group(group)
    for topic in answer.topics:
        parts = topic.partitions
        partitions = [part.partition_index for part in parts]
        problems = [problem_code(partition_problem(part.error_code)) if part.error_code else 0 for part in parts]
        if is_share:
            offsets, lags = [part.start_offset for part in parts], list(map(_share_lag, parts))
            into.add(number, into.topic_number(topic.topic_name), partitions, offsets, lags, problems)
        else:
            offsets = [part.committed_offset for part in parts]
            into.add(number, into.topic_number(topic.name), partitions, offsets, problems=problems)


def _share_lag(part: Message) -> int:
    """The lag of a share partition; -1: unknown, as from a broker that is too old to report it."""
    lag = getattr(part, "lag", None)
    return -1 if lag is None else int(lag)


def _refused(group: GroupDescription, answer: Message | None) -> None:
    if answer is None:
        _unread([group], PartitionProblem.ERROR, "the answer of its coordinator does not include it")
        return
    denied = is_unauthorized(answer.error_code)
    group.offsets_problem = PartitionProblem.UNAUTHORIZED if denied else PartitionProblem.ERROR
    problem = group_problem(group.group_id, answer.error_code)
    if problem not in group.problems:
        group.problems.append(problem)


async def _fetch_share(client: PollClient, node: int, chunk: list[GroupDescription], into: CommittedOffsets) -> None:
    request = DescribeShareGroupOffsetsRequest
    ask = [request.Group(group_id=group.group_id, topics=None) for group in chunk]
    response = await client.send(node, request(groups=ask))
    answers = {answer.group_id: answer for answer in response.groups}
    for group in chunk:
        _add(group, answers.get(group.group_id), into, is_share=True)
