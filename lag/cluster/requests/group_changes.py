"""Finds the coordinator of a group, deletes the group, removes a static member (KIP-345)."""

from functools import partial

from kafka.protocol.admin import DeleteGroupsRequest
from kafka.protocol.consumer import LeaveGroupRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from lag.cluster.requests.error_codes import change_problem, raise_if_not_ready
from lag.cluster.requests.messages import Message
from lag.cluster.requests.poll_client import PollClient
from lag.errors import ResetRefused

GROUP = 0
LAST_FOR_ONE = 3
"""The last version of FindCoordinator for a single key."""


async def find_coordinator(client: PollClient, group_id: str) -> int:
    """The coordinator's node id. Raises ConnectError, CoordinatorNotReady, or ResetRefused."""
    make = partial(FindCoordinatorRequest, key=group_id, key_type=GROUP, min_version=1, max_version=LAST_FOR_ONE)
    answer = await client.send_to_any(make)
    if answer is None:
        raise client.no_answer()
    raise_if_not_ready([answer.error_code])
    if answer.error_code:
        problem = change_problem(answer.error_code, group_id, "DESCRIBE")
        raise ResetRefused(f"The coordinator of group {group_id} is not known: {problem}")
    return int(answer.node_id)


async def delete_group(client: PollClient, node: int, group_id: str) -> str | None:
    """Delete a group; returns why it was refused, in words. Raises BrokerFailed or CoordinatorNotReady."""
    answer = await client.send(node, DeleteGroupsRequest(groups_names=[group_id]))
    return _first_error([result.error_code for result in answer.results], group_id, "DELETE")


async def remove_member(client: PollClient, node: int, group_id: str, instance_id: str, reason: str) -> str | None:
    """Remove the static member; returns why it was refused, in words. Raises BrokerFailed or CoordinatorNotReady."""
    member = LeaveGroupRequest.MemberIdentity(member_id="", group_instance_id=instance_id, reason=reason)
    answer: Message = await client.send(node, LeaveGroupRequest(group_id=group_id, members=[member], min_version=3))
    return _first_error([answer.error_code, *(each.error_code for each in answer.members)], group_id, "READ")


def _first_error(codes: list[int], group_id: str, operation: str) -> str | None:
    wrong = [code for code in codes if code]
    raise_if_not_ready(wrong)
    return change_problem(wrong[0], group_id, operation) if wrong else None
