"""A group is read from a broker that does not list its groups, as while it loads a part of `__consumer_offsets`."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lag.cluster.group_reading import read_group
from lag.cluster.requests.describe import LOADING
from lag.cluster.requests.error_codes import CoordinatorNotReady
from lag.cluster.requests.metadata import Metadata
from lag.cluster.requests.poll_client import BrokerFailed, PollClient

COORDINATOR_NOT_AVAILABLE, CLUSTER_AUTHORIZATION_FAILED, UNKNOWN_SERVER_ERROR = 15, 31, -1


class Client:
    """Lists no group, but this error."""

    def __init__(self, code: int) -> None:
        self._code = code

    async def send(self, _node: int, _request: object) -> Any:
        return SimpleNamespace(error_code=self._code, groups=[])


def read_from(code: int) -> None:
    read_group(cast(PollClient, Client(code)), Metadata("c", 1, (), {}, {}), 2, "g", frozenset(), 0).send(None)


@pytest.mark.parametrize(
    ("code", "named"),
    [(LOADING, "CoordinatorLoadInProgressError"), (COORDINATOR_NOT_AVAILABLE, "CoordinatorNotAvailableError")],
)
def test_a_coordinator_that_is_loading_or_starting_is_asked_again(code: int, named: str) -> None:
    with pytest.raises(CoordinatorNotReady, match=f"broker 2 does not list its groups: {named}"):
        read_from(code)


@pytest.mark.parametrize(
    ("code", "kind", "named", "hint"),
    [
        (
            CLUSTER_AUTHORIZATION_FAILED,
            "unauthorized",
            "ClusterAuthorizationFailedError",
            "Grant DESCRIBE on the cluster",
        ),
        (UNKNOWN_SERVER_ERROR, "groups_refused", "UnknownError", "See the log of broker 2"),
    ],
)
def test_a_broker_that_refuses_to_list_its_groups_is_not_asked_again(
    code: int, kind: str, named: str, hint: str
) -> None:
    with pytest.raises(BrokerFailed) as failed:
        read_from(code)
    problem = failed.value.problem
    assert (problem.kind, problem.hint) == (kind, hint)
    assert problem.cause == f"broker 2 does not list its groups: {named}"
