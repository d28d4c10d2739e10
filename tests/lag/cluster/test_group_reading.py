"""A group is read from a broker that is still loading another group's part of `__consumer_offsets`."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lag.cluster.group_reading import read_group
from lag.cluster.requests.error_codes import CoordinatorNotReady
from lag.cluster.requests.metadata import Metadata
from lag.cluster.requests.poll_client import PollClient

LOADING = 14
"""COORDINATOR_LOAD_IN_PROGRESS."""


class Client:
    async def send(self, _node: int, _request: object) -> Any:
        return SimpleNamespace(error_code=LOADING, groups=[])


def test_a_coordinator_that_is_loading_is_asked_again() -> None:
    meta = Metadata("c", 1, (), {}, {})
    with pytest.raises(CoordinatorNotReady, match="broker 2 does not list its groups: CoordinatorLoadInProgressError"):
        read_group(cast(PollClient, Client()), meta, 2, "g", frozenset(), 0).send(None)
