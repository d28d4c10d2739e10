"""Each story as real Java consumers and a real broker play it, and as the simulator does: the same, at the same time.

Times may differ by a heartbeat interval and 200 ms (issue: fidelity), and by as long as this machine let a process wait
meanwhile: real consumers do nothing while it does something else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from assignors.model import TopicPartition
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
BUSY_MS = 250
Both = tuple[Performance, Performance]


@dataclass(frozen=True)
class Played:
    """What came of all stories, and by how much times may differ."""

    accounts: Mapping[tuple[str, RebalanceProtocol], Account]
    tolerance_ms: float


@pytest.fixture(scope="module")
def played() -> Played:
    """What the real ones did; once more when the machine was so busy with other things that chance had its say."""
    first = _play()
    return (
        first if first.tolerance_ms <= TOLERANCE_MS + BUSY_MS else min(first, _play(), key=lambda it: it.tolerance_ms)
    )


def _play() -> Played:
    casts = [Cast(story, protocol) for story in STORIES.values() for protocol in ASSIGNORS]
    properties = {name: str(value) for name, value in {**BROKER, **BROKER_ALONE}.items()}
    with EmbeddedKafka(properties=properties, offsets_partitions=1) as kafka:
        stage, stalls = Stage(kafka, casts), Stalls()
        try:
            stage.play()
            return Played(accounts(stage), TOLERANCE_MS + stalls.end())
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
    real, ours = map(_calls, both)
    assert ours == real


def _calls(performance: Performance) -> dict[str, list[tuple[str, list[TopicPartition]]]]:
    return {
        name: [(call.name, sorted(call.partitions)) for call in calls] for name, calls in performance.callbacks.items()
    }


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


@pytest.mark.parametrize("protocol", [RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE])
@pytest.mark.parametrize(
    ("name", "setting"), [("sigkill", "session.timeout.ms"), ("slow-loop", "max.poll.interval.ms")]
)
def test_a_simulator_that_waits_too_long_is_told_apart(
    played: Played, name: str, setting: str, protocol: RebalanceProtocol
) -> None:
    beginning, real = played.accounts[name, protocol]
    patient = replace(STORIES[name], settings={**STORIES[name].settings, setting: 60_000})
    ours = simulate(patient, protocol, beginning)
    assert (len(real.rebalances) > 0, len(ours.rebalances)) == (True, 0)
    assert ours.ownership != real.ownership


def test_a_simulator_that_takes_eager_for_cooperative_is_told_apart(played: Played) -> None:
    beginning, real = played.accounts["join", RebalanceProtocol.EAGER]
    ours = simulate(STORIES["join"], RebalanceProtocol.COOPERATIVE, beginning)
    assert _calls(ours) != _calls(real)


def test_a_simulator_that_forgets_static_members_is_told_apart(played: Played) -> None:
    beginning, real = played.accounts["static-restart", RebalanceProtocol.EAGER]
    dynamic = replace(beginning, members=tuple(replace(member, instance_id=None) for member in beginning.members))
    ours = simulate(STORIES["static-restart"], RebalanceProtocol.EAGER, dynamic)
    assert len(ours.rebalances) > len(real.rebalances)
