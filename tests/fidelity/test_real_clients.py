"""Each story as real Java consumers and a real broker play it, and as the simulator does: the same, at the same time.

Times may differ by a heartbeat interval and 200 ms (issue: fidelity), and by as long as this machine let a process wait
meanwhile: real consumers do nothing while it does something else.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from assignors.protocols import RebalanceProtocol
from lag.embedded.broker import EmbeddedKafka
from tests.fidelity.account import Account, accounts
from tests.fidelity.cast import Cast
from tests.fidelity.performance import Performance
from tests.fidelity.simulated import simulate
from tests.fidelity.stage import Stage
from tests.fidelity.stalls import Stalls
from tests.fidelity.stories import ASSIGNORS, BROKER, BROKER_ALONE, HEARTBEAT_MS, STORIES

TOLERANCE_MS = HEARTBEAT_MS + 200
Both = tuple[Performance, Performance]


@dataclass(frozen=True)
class Played:
    """What came of all stories, and by how much times may differ."""

    accounts: Mapping[tuple[str, RebalanceProtocol], Account]
    tolerance_ms: float


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    casts = [Cast(story, protocol) for story in STORIES.values() for protocol in ASSIGNORS]
    properties = {name: str(value) for name, value in {**BROKER, **BROKER_ALONE}.items()}
    with EmbeddedKafka(properties=properties, offsets_partitions=1) as kafka:
        stage, stalls = Stage(kafka, casts), Stalls()
        try:
            stage.play()
            yield Played(accounts(stage), TOLERANCE_MS + stalls.end())
        finally:
            stage.close()


@pytest.fixture(scope="module", params=ASSIGNORS)
def protocol(request: pytest.FixtureRequest) -> RebalanceProtocol:
    return request.param


@pytest.fixture(scope="module", params=STORIES)
def both(request: pytest.FixtureRequest, played: Played, protocol: RebalanceProtocol) -> Both:
    beginning, real = played.accounts[request.param, protocol]
    return real, simulate(STORIES[request.param], protocol, beginning)


def test_the_same_ownership_in_each_generation(both: Both) -> None:
    real, ours = both
    assert ours.ownership == real.ownership


def test_listeners_are_called_in_the_same_order(both: Both) -> None:
    real, ours = (
        {
            name: [(call.name, sorted(call.partitions)) for call in calls]
            for name, calls in performance.callbacks.items()
        }
        for performance in both
    )
    assert ours == real


def test_rebalances_begin_and_end_at_the_same_time(both: Both, played: Played) -> None:
    real, ours = both
    assert [rebalance.generation for rebalance in ours.rebalances] == [each.generation for each in real.rebalances]
    for one, other in zip(ours.rebalances, real.rebalances, strict=True):
        assert one.begins_ms == pytest.approx(other.begins_ms, abs=played.tolerance_ms)
        assert one.joined_ms == pytest.approx(other.joined_ms, abs=played.tolerance_ms)
        assert one.stable_ms == pytest.approx(other.stable_ms, abs=played.tolerance_ms)


def test_partitions_come_and_go_at_the_same_time(both: Both, played: Played) -> None:
    real, ours = both
    for name, calls in ours.callbacks.items():
        for one, other in zip(calls, real.callbacks[name], strict=True):
            assert one.at_ms == pytest.approx(other.at_ms, abs=played.tolerance_ms)
