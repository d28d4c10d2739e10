"""Groups that are no longer listed, where their coordinator cannot be asked."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lag.cluster.hidden_groups import ListedGroups
from lag.cluster.requests.coordinators import Coordinators, OffsetsLeader
from lag.cluster.requests.poll_client import PollClient
from lag.cluster.requests.responses import GroupDescription
from lag.model import GroupType, Problem

NOT_ALLOWED = 30
"""GROUP_AUTHORIZATION_FAILED."""


class Client:
    """One broker, number 1, which lets nobody describe a group."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def nodes(self) -> list[int]:
        return [1]

    async def send(self, node: int, request: Any) -> Any:
        self.asked.append(node)
        return SimpleNamespace(
            groups=[SimpleNamespace(group_id=name, error_code=NOT_ALLOWED) for name in request.groups]
        )


def hidden(its: ListedGroups, client: Client, listed: list[GroupDescription], leader: int) -> list[Problem]:
    with pytest.raises(StopIteration) as done:
        its.hidden(cast(PollClient, client), listed, Coordinators((OffsetsLeader(leader, 3),))).send(None)
    return cast(list[Problem], done.value.value)


def test_a_group_without_a_coordinator_is_asked_for_when_there_is_one_again() -> None:
    its, client = ListedGroups(), Client()
    assert hidden(its, client, [GroupDescription("g", GroupType.CLASSIC, "Empty", 1)], leader=1) == []
    assert (hidden(its, client, [], leader=-1), client.asked) == ([], [])
    (problem,) = hidden(its, client, [], leader=1)
    assert (problem.kind, problem.subject, client.asked) == ("unauthorized", "g", [1])
