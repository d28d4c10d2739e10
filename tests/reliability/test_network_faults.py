"""The network between the dashboard and the brokers; Kafka itself is well all the time."""

from collections.abc import Callable

import pytest

from tests.reliability.bench import Bench
from tests.reliability.dashboard import Look
from tests.reliability.proxy import Mode

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]

ALL: tuple[int, ...] = ()


def anything(_look: Look) -> bool:
    """Also what is shown as if nothing was wrong."""
    return True


def incomplete(look: Look) -> bool:
    """The dashboard says that something could not be read."""
    return not look.whole


@pytest.mark.parametrize(
    ("fault", "made", "mode", "nodes", "shows"),
    [
        ("Network 100 ms slow", "each byte 100 ms later, both ways", Mode.SLOW, ALL, anything),
        ("One broker cut off", "connections to one broker break, new ones too", Mode.CUT, (2,), incomplete),
        ("All brokers cut off", "the same for all three", Mode.CUT, ALL, incomplete),
        ("Network frozen", "connections stay open, nothing arrives", Mode.FROZEN, ALL, incomplete),
    ],
)
def test_network(
    bench: Bench, fault: str, made: str, mode: Mode, nodes: tuple[int, ...], shows: Callable[[Look], bool]
) -> None:
    network = bench.cluster.network
    bench.row(fault, made, lambda: network.set(mode, *nodes), lambda: network.set(Mode.PASS, *nodes), shows, 20)
