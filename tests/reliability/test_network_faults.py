"""The network between the dashboard and the brokers; Kafka itself is well all the time."""

from collections.abc import Callable

import pytest

from tests.reliability.bench import Bench, Fault, anything, incomplete
from tests.reliability.dashboard import Look
from tests.reliability.proxy import Mode

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]

ALL: tuple[int, ...] = ()


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
    bench.row(Fault(fault, made, lambda: network.set(mode, *nodes), lambda: network.set(Mode.PASS, *nodes), shows))


def test_acl_taken_away_and_given_back(bench: Bench) -> None:
    cluster = bench.cluster
    # Kafka does not list the groups meanwhile: their samples begin again, and the suite's policy asks for three.
    made = "DESCRIBE on groups taken from the dashboard's account, and given back"
    bench.row(
        Fault(
            "ACL taken away and given back", made, cluster.forbid_groups, cluster.allow_groups, incomplete, most_polls=3
        )
    )


def test_certificate_expired(bench: Bench) -> None:
    cluster = bench.cluster

    def expire() -> None:
        cluster.certificate.expire()
        cluster.network.hang_up()

    made = "the listener shows a certificate that expired an hour ago; connections break; later a valid one"
    bench.row(Fault("Certificate expired", made, expire, cluster.certificate.renew, incomplete))
