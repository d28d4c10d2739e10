"""Which groups a broker coordinates, and what it says of each: state, epochs, assignor, members."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafka.errors import for_code
from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest

from lag.cluster import members
from lag.cluster.messages import (
    ConsumerGroupDescribeRequest,
    Message,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from lag.cluster.requests import BrokerFailed, Unsupported, Wire, chunks
from lag.cluster.responses import RawGroup
from lag.model import GroupType, Problem, Scope
from lag.offsets import PartitionProblem

DESCRIBE_CHUNK = 500
"""Groups per describe request: large enough that the round trip does not count, small enough for steady answers."""

GONE = {"GroupIdNotFoundError", "InvalidGroupIdError"}
UNAUTHORIZED = {"GroupAuthorizationFailedError", "TopicAuthorizationFailedError"}


async def list_groups(wire: Wire, node: int) -> list[RawGroup]:
    """The groups that broker `node` coordinates. Raises BrokerFailed."""
    response = await wire.ask(node, ListGroupsRequest())
    if response.error_code:
        raise BrokerFailed(_listing_problem(node, response.error_code))
    return [_listed(group, node) for group in response.groups]


def _listing_problem(node: int, code: int) -> Problem:
    name = error_name(code)
    cause = f"broker {node} does not list its groups: {name}"
    hint = "Its part of __consumer_offsets is still loading; the next poll will tell" if code in (14, 15) else ""
    return Problem("groups_unlisted", Scope.BROKER, str(node), cause, hint)


def _listed(group: Message, node: int) -> RawGroup:
    """Before ListGroups v4 there is no state, before v5 no type: classic is all there was."""
    kind = (getattr(group, "group_type", None) or GroupType.CLASSIC).lower()
    return RawGroup(
        group_id=group.group_id,
        type=GroupType(kind) if kind in set(GroupType) else GroupType.UNKNOWN,
        state=getattr(group, "group_state", None) or "Unknown",
        coordinator=node,
        protocol_type=group.protocol_type or "",
    )


@dataclass(frozen=True, slots=True)
class _Describe:
    request: Callable[[list[str]], Message]
    fill: Callable[[RawGroup, Message], None]


async def describe_groups(wire: Wire, node: int, groups: list[RawGroup]) -> None:
    """Fill in what the coordinator `node` knows of `groups`; what it refuses becomes a problem of that group."""
    for kind, how in _DESCRIBES.items():
        wanted = [g for g in groups if g.type == kind and not _needs_no_describe(g)]
        for chunk in chunks(wanted, DESCRIBE_CHUNK):
            await _describe_chunk(wire, node, chunk, how)


def _needs_no_describe(group: RawGroup) -> bool:
    """An Empty classic group has no members and names no assignor: the listing said all there is to say."""
    return group.type == GroupType.CLASSIC and group.state in ("Empty", "Dead")


async def _describe_chunk(wire: Wire, node: int, chunk: list[RawGroup], how: _Describe) -> None:
    try:
        response = await wire.ask(node, how.request([g.group_id for g in chunk]))
    except BrokerFailed as failure:
        _note_all(chunk, "undescribed", failure.problem.cause)
        return
    except Unsupported:
        _note_all(chunk, "unsupported", f"broker {node} lists it but is too old to describe it")
        return
    answers = {answer.group_id: answer for answer in response.groups}
    for group in chunk:
        _fill(group, answers.get(group.group_id), how)


def _note_all(groups: Iterable[RawGroup], kind: str, cause: str) -> None:
    for group in groups:
        group.problems.append(Problem(kind, Scope.GROUP, group.group_id, cause))


def _fill(group: RawGroup, answer: Message | None, how: _Describe) -> None:
    if answer is None:
        _note_all([group], "undescribed", "the broker left it out of its answer")
    elif answer.error_code:
        group.problems.append(refusal(group.group_id, answer.error_code))
        if error_name(answer.error_code) in UNAUTHORIZED:
            group.state = "Unknown"
    else:
        how.fill(group, answer)


def refusal(group_id: str, code: int) -> Problem:
    """Why a coordinator does not describe a group or give its offsets."""
    name = error_name(code)
    if name == "TopicAuthorizationFailedError":
        cause = "its members cannot be read: a topic they subscribe to may not be described"
        return Problem("unauthorized", Scope.GROUP, group_id, cause, "Grant DESCRIBE on the group's topics")
    if name in UNAUTHORIZED:
        cause = "not authorised to describe it"
        return Problem("unauthorized", Scope.GROUP, group_id, cause, f"Grant DESCRIBE on group {group_id}")
    if name in GONE:
        return Problem("gone", Scope.GROUP, group_id, "it was deleted or changed its type while we read it")
    return Problem("undescribed", Scope.GROUP, group_id, f"its coordinator answers {name}")


def error_name(code: int) -> str:
    """kafka-python's name of a protocol error."""
    return str(for_code(code).__name__)


def partition_problem(code: int) -> PartitionProblem:
    """A partition-level error as the reason why an offset is unknown."""
    name = error_name(code)
    if "Authorization" in name:
        return PartitionProblem.UNAUTHORIZED
    if name in ("LeaderNotAvailableError", "NotLeaderForPartitionError", "ReplicaNotAvailableError"):
        return PartitionProblem.LEADERLESS
    if name in ("UnknownTopicOrPartitionError", "UnknownTopicIdError"):
        return PartitionProblem.TOPIC_DELETED
    return PartitionProblem.TIMEOUT if name == "RequestTimedOutError" else PartitionProblem.ERROR


def _classic(group: RawGroup, answer: Message) -> None:
    group.state = answer.group_state or group.state
    group.protocol_type = answer.protocol_type or group.protocol_type
    group.assignor = answer.protocol_data or None
    group.members = tuple(members.classic(member, group.protocol_type) for member in answer.members)


def _modern(group: RawGroup, answer: Message) -> None:
    group.state = answer.group_state
    group.epoch, group.assignment_epoch = answer.group_epoch, answer.assignment_epoch
    group.assignor = answer.assignor_name or None
    group.members = tuple(members.modern(member) for member in answer.members)


def _streams(group: RawGroup, answer: Message) -> None:
    group.state = answer.group_state
    group.epoch, group.assignment_epoch = answer.group_epoch, answer.assignment_epoch
    sources = members.source_topics(answer.topology)
    group.members = tuple(members.streams(member, sources) for member in answer.members)


_DESCRIBES = {
    GroupType.CLASSIC: _Describe(lambda ids: DescribeGroupsRequest(groups=ids), _classic),
    GroupType.CONSUMER: _Describe(lambda ids: ConsumerGroupDescribeRequest(group_ids=ids), _modern),
    GroupType.SHARE: _Describe(lambda ids: ShareGroupDescribeRequest(group_ids=ids), _modern),
    GroupType.STREAMS: _Describe(lambda ids: StreamsGroupDescribeRequest(group_ids=ids), _streams),
}

DESCRIBED_BY = {
    GroupType.CLASSIC: DescribeGroupsRequest.API_KEY,
    GroupType.CONSUMER: ConsumerGroupDescribeRequest.API_KEY,
    GroupType.SHARE: ShareGroupDescribeRequest.API_KEY,
    GroupType.STREAMS: StreamsGroupDescribeRequest.API_KEY,
}
"""The request that describes groups of each type."""
