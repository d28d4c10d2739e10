"""Lists the groups that a broker coordinates and describes them: state, epochs, assignor, members."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest

from lag.cluster.requests import members
from lag.cluster.requests.error_codes import error_name, group_problem, is_not_ready, is_unauthorized
from lag.cluster.requests.messages import (
    ConsumerGroupDescribeRequest,
    Message,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest, chunks
from lag.cluster.requests.responses import GroupDescription
from lag.model import UNAUTHORIZED, UNLISTED, GroupType, Problem, Scope, undecoded

DESCRIBE_CHUNK = 500
"""Groups per describe request: many enough to hide the round trip, few enough for quick answers."""

LOADING = 14
"""COORDINATOR_LOAD_IN_PROGRESS."""


async def list_groups(client: PollClient, node: int) -> list[GroupDescription]:
    """The groups that broker `node` coordinates. Raises BrokerFailed."""
    response = await client.send(node, ListGroupsRequest())
    if response.error_code:
        raise BrokerFailed(_listing_problem(node, response.error_code))
    return [_listed(group, node) for group in response.groups]


def _listing_problem(node: int, code: int) -> Problem:
    """UNLISTED is only for what passes by itself: any other error stays until its cause is removed."""
    cause = f"broker {node} does not list its groups: {error_name(code)}"
    if is_not_ready(code):
        what = "Its part of __consumer_offsets is still loading" if code == LOADING else "Its coordinator is starting"
        return Problem(UNLISTED, Scope.BROKER, str(node), cause, f"{what}; wait for the next poll")
    if is_unauthorized(code):
        return Problem(UNAUTHORIZED, Scope.BROKER, str(node), cause, "Grant DESCRIBE on the cluster")
    return Problem("groups_refused", Scope.BROKER, str(node), cause, f"See the log of broker {node}")


def _listed(group: Message, node: int) -> GroupDescription:
    """ListGroups has a state from version 4 on, a type from version 5 on; before, all groups are classic."""
    kind = (getattr(group, "group_type", None) or GroupType.CLASSIC).lower()
    return GroupDescription(
        group_id=group.group_id,
        type=GroupType(kind) if kind in set(GroupType) else GroupType.UNKNOWN,
        state=getattr(group, "group_state", None) or "Unknown",
        coordinator=node,
        protocol_type=group.protocol_type or "",
    )


@dataclass(frozen=True, slots=True)
class _Describe:
    """A describe request, the name of its field for group ids, and what updates a group with its answer."""

    request: Any
    ids: str
    update: Callable[[GroupDescription, Message], None]


async def describe_groups(client: PollClient, node: int, groups: list[GroupDescription]) -> None:
    """Complete `groups` with what their coordinator `node` answers; an error becomes a problem of the group."""
    for kind, describe in _DESCRIBES.items():
        wanted = [g for g in groups if g.type == kind and not _needs_no_describe(g)]
        for chunk in chunks(wanted, DESCRIBE_CHUNK):
            await _describe_chunk(client, node, chunk, describe)


def _needs_no_describe(group: GroupDescription) -> bool:
    """An empty classic group has no members and no assignor: its listing is complete."""
    return group.type == GroupType.CLASSIC and group.state in ("Empty", "Dead")


async def _describe_chunk(client: PollClient, node: int, chunk: list[GroupDescription], describe: _Describe) -> None:
    try:
        response = await client.send(node, describe.request(**{describe.ids: [g.group_id for g in chunk]}))
    except BrokerFailed as failure:
        _add_problem(chunk, "undescribed", failure.problem.cause)
        return
    except UnsupportedRequest:
        _add_problem(chunk, "unsupported", f"broker {node} lists it but is too old to describe it")
        return
    answers = {answer.group_id: answer for answer in response.groups}
    for group in chunk:
        _update(group, answers.get(group.group_id), describe)


def _add_problem(groups: Iterable[GroupDescription], kind: str, cause: str) -> None:
    for group in groups:
        group.problems.append(Problem(kind, Scope.GROUP, group.group_id, cause))


def _update(group: GroupDescription, answer: Message | None, describe: _Describe) -> None:
    if answer is None:
        _add_problem([group], "undescribed", "the broker's response does not include it")
    elif answer.error_code:
        group.problems.append(group_problem(group.group_id, answer.error_code))
        if is_unauthorized(answer.error_code):
            group.state = "Unknown"
    else:
        describe.update(group, answer)


def _classic(group: GroupDescription, answer: Message) -> None:
    group.state = answer.group_state or group.state
    group.protocol_type = answer.protocol_type or group.protocol_type
    group.assignor = answer.protocol_data or None
    group.members = tuple(members.classic(member, group.protocol_type) for member in answer.members)
    if unread := [f"member {each.member_id}: {each.problem}" for each in group.members if each.problem is not None]:
        group.problems.append(undecoded(group.group_id, unread))


def _consumer_or_share(group: GroupDescription, answer: Message) -> None:
    group.state = answer.group_state
    group.epoch, group.assignment_epoch = answer.group_epoch, answer.assignment_epoch
    group.assignor = answer.assignor_name or None
    group.members = tuple(members.consumer_or_share(member) for member in answer.members)


def _streams(group: GroupDescription, answer: Message) -> None:
    group.state = answer.group_state
    group.epoch, group.assignment_epoch = answer.group_epoch, answer.assignment_epoch
    sources = members.source_topics(answer.topology)
    group.members = tuple(members.streams(member, sources) for member in answer.members)


_DESCRIBES = {
    GroupType.CLASSIC: _Describe(DescribeGroupsRequest, "groups", _classic),
    GroupType.CONSUMER: _Describe(ConsumerGroupDescribeRequest, "group_ids", _consumer_or_share),
    GroupType.SHARE: _Describe(ShareGroupDescribeRequest, "group_ids", _consumer_or_share),
    GroupType.STREAMS: _Describe(StreamsGroupDescribeRequest, "group_ids", _streams),
}

DESCRIBED_BY: Mapping[GroupType, int] = {kind: describe.request.API_KEY for kind, describe in _DESCRIBES.items()}
"""The API key of the request that describes groups of each type."""
