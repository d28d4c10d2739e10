"""Brokers that die, freeze, or hand over what they lead."""

import pytest

from tests.reliability.bench import Bench
from tests.reliability.dashboard import Look
from tests.reliability.workload import STUCK

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]


def incomplete(look: Look) -> bool:
    """The dashboard says that something could not be read."""
    return not look.whole


def coordinator(bench: Bench) -> int:
    """The broker that the dashboard asks about `stuck`."""
    return int(bench.dashboard.looks[-1].groups[STUCK]["coordinator"])


def test_broker_killed(bench: Bench) -> None:
    bench.settled()
    one = bench.cluster.broker(coordinator(bench))
    bench.row("Broker killed", "SIGKILL of a group's coordinator; later started again", one.kill, one.restart, incomplete, 10)


def test_broker_frozen(bench: Bench) -> None:
    bench.settled()
    one = bench.cluster.broker(coordinator(bench))
    bench.row("Broker frozen", "SIGSTOP of a group's coordinator, later SIGCONT", one.pause, one.resume, incomplete, 10)


def test_controller_killed(bench: Bench) -> None:
    bench.settled()
    one = bench.cluster.broker(bench.cluster.controller())
    made = "SIGKILL of the active controller; later started again"
    bench.row("Controller killed", made, one.kill, one.restart, incomplete, 10)
