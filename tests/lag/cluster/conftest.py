"""Fixtures of the connection tests."""

from collections.abc import Iterator

import pytest

from tests.lag.cluster.broker import Listeners, broker_with_every_listener
from tests.lag.cluster.connection.certificates import Authority


@pytest.fixture(scope="session")
def listeners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listeners]:
    """A real broker with a listener of every kind."""
    with broker_with_every_listener(tmp_path_factory.mktemp("listeners")) as found:
        yield found


@pytest.fixture(scope="session")
def authority() -> Authority:
    """A certificate authority that no broker here belongs to."""
    return Authority()
