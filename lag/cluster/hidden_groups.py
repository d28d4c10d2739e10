"""Groups that brokers no longer list because an ACL is missing: ListGroups leaves them out without an error."""

from collections.abc import Iterable

from kafka.errors import GroupIdNotFoundError, for_code
from kafka.protocol.admin import DescribeGroupsRequest

from lag.cluster.requests.coordinators import Coordinators
from lag.cluster.requests.describe import DESCRIBE_CHUNK
from lag.cluster.requests.error_codes import group_problem, is_unauthorized
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest, chunks
from lag.cluster.requests.responses import GroupDescription
from lag.model import Problem


class ListedGroups:
    """The groups that polls have listed, by id, each with the broker that did."""

    def __init__(self) -> None:
        self._coordinators: dict[str, int] = {}

    async def hidden(
        self, client: PollClient, listed: Iterable[GroupDescription], coordinators: Coordinators
    ) -> list[Problem]:
        """The problems of groups that are no longer listed and that may not be described.

        Their coordinators are asked about all that are missing, also about groups of other types: the refusal comes
        before the type. A group is forgotten once its coordinator says that it is gone.
        """
        now = {group.group_id: group.coordinator for group in listed}
        gone: dict[int, list[str]] = {}
        for group_id, node in self._coordinators.items():
            if group_id not in now:
                leader = coordinators.of(group_id)
                gone.setdefault(node if leader is None else leader, []).append(group_id)
        unasked = [name for node in gone.keys() - client.nodes() for name in gone.pop(node)]  # no coordinator now
        codes = {group_id: code for node, its in gone.items() for group_id, code in await _codes(client, node, its)}
        left = [*unasked, *(group_id for group_id, code in codes.items() if _may_exist(code))]
        kept = {group_id: self._coordinators[group_id] for group_id in left}
        self._coordinators = now | kept
        return [group_problem(group_id, code) for group_id, code in codes.items() if code and is_unauthorized(code)]


async def _codes(client: PollClient, node: int, groups: list[str]) -> list[tuple[str, int | None]]:
    """Each group with the error that its coordinator answers; None without an answer."""
    found: dict[str, int | None] = dict.fromkeys(groups)
    for chunk in chunks(groups, DESCRIBE_CHUNK):
        try:
            response = await client.send(node, DescribeGroupsRequest(groups=chunk))
        except (BrokerFailed, UnsupportedRequest):
            break
        found |= {answer.group_id: answer.error_code for answer in response.groups}
    return list(found.items())


def _may_exist(code: int | None) -> bool:
    return code is None or (code != 0 and not issubclass(for_code(code), GroupIdNotFoundError))
