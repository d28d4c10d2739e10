"""Each story as real Java consumers and a real broker play it, and as the simulator does: the same, at the same time.

Times may differ by a heartbeat interval and 200 ms (issue: fidelity), and by as long as this machine let a process wait
meanwhile (a second at most): real consumers do nothing while it does something else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pytest

from assignors.model import TopicPartition
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from lag.embedded.broker import EmbeddedKafka
from tests.fidelity.account import accounts
from tests.fidelity.cast import Cast
from tests.fidelity.performance import Beginning, Performance
from tests.fidelity.simulated import simulate
from tests.fidelity.stage import Stage
from tests.fidelity.stalls import Stalls
from tests.fidelity.stories import ASSIGNORS, BROKER, BROKER_ALONE, HEARTBEAT_MS, STORIES
from tests.support.known import the

pytestmark = pytest.mark.timeout(900)  # whoever comes first waits for all that is played

TOLERANCE_MS = HEARTBEAT_MS + 200
MOST_STALL_MS = 1_000
"""So much of a stall counts at most: sessions and polls end after several seconds, and that has to show."""
PLAYED_AGAIN = 2
"""How often, at most, what differs is played once more. On a busy machine the answer to one member passes that to
another, and Kafka itself takes another course then. A wrong simulator differs each time: the tests at the end."""


@dataclass(frozen=True)
class Played:
    """A story as the real ones played it, from where it began, and by how much times may differ."""

    beginning: Beginning
    real: Performance
    tolerance_ms: float


@dataclass(frozen=True)
class Both:
    """A story as the real ones played it, and as the simulator did."""

    real: Performance
    ours: Performance
    tolerance_ms: float


Key = tuple[str, RebalanceProtocol]


@pytest.fixture(scope="module")
def played() -> Mapping[Key, Played]:
    """What the real ones did."""
    wanted = [Cast(story, protocol) for story in STORIES.values() for protocol in ASSIGNORS]
    found = _play(wanted)
    for _ in range(PLAYED_AGAIN):
        again = [Cast(STORIES[name], protocol) for name, protocol in found if not _agree(_both(found, name, protocol))]
        found |= _play(again) if again else {}
    return found


def _play(casts: Iterable[Cast]) -> dict[Key, Played]:
    properties = {name: str(value) for name, value in {**BROKER, **BROKER_ALONE}.items()}
    with EmbeddedKafka(properties=properties, offsets_partitions=1) as kafka:
        stage, stalls = Stage(kafka, list(casts)), Stalls()
        try:
            stage.play()
            tolerance_ms = TOLERANCE_MS + min(stalls.end(), MOST_STALL_MS)
            return {key: Played(*account, tolerance_ms) for key, account in accounts(stage).items()}
        finally:
            stage.close()


def _both(played: Mapping[Key, Played], name: str, protocol: RebalanceProtocol) -> Both:
    one = played[name, protocol]
    return Both(one.real, simulate(STORIES[name], protocol, one.beginning), one.tolerance_ms)


def _agree(both: Both) -> bool:
    real, ours = both.real, both.ours
    alike = (
        ours.ownership == real.ownership and _calls(ours) == _calls(real) and _generations(ours) == _generations(real)
    )
    return alike and _times(ours) == pytest.approx(_times(real), abs=both.tolerance_ms)


def _calls(performance: Performance) -> dict[str, list[tuple[str, list[TopicPartition]]]]:
    return {
        name: [(call.name, sorted(call.partitions)) for call in calls] for name, calls in performance.callbacks.items()
    }


def _generations(performance: Performance) -> list[tuple[int, bool]]:
    return [(rebalance.generation, rebalance.joined_ms is None) for rebalance in performance.rebalances]


def _times(performance: Performance) -> list[int]:
    return [*_rebalance_times(performance), *_callback_times(performance)]


def _rebalance_times(performance: Performance) -> list[int]:
    each = [(one.begins_ms, one.joined_ms, one.stable_ms) for one in performance.rebalances]
    return [at_ms for times in each for at_ms in times if at_ms is not None]


def _callback_times(performance: Performance) -> list[int]:
    return [call.at_ms for _, calls in sorted(performance.callbacks.items()) for call in calls]


@pytest.fixture(scope="module", params=ASSIGNORS)
def protocol(request: pytest.FixtureRequest) -> RebalanceProtocol:
    return the(RebalanceProtocol, request.param)


@pytest.fixture(scope="module", params=STORIES)
def both(request: pytest.FixtureRequest, played: Mapping[Key, Played], protocol: RebalanceProtocol) -> Both:
    return _both(played, request.param, protocol)


def test_the_same_ownership_in_each_generation(both: Both) -> None:
    assert both.ours.ownership == both.real.ownership


def test_listeners_are_called_in_the_same_order(both: Both) -> None:
    assert _calls(both.ours) == _calls(both.real)


def test_rebalances_begin_and_end_at_the_same_time(both: Both) -> None:
    assert _generations(both.ours) == _generations(both.real)
    assert _rebalance_times(both.ours) == pytest.approx(_rebalance_times(both.real), abs=both.tolerance_ms)


def test_partitions_come_and_go_at_the_same_time(both: Both) -> None:
    assert _callback_times(both.ours) == pytest.approx(_callback_times(both.real), abs=both.tolerance_ms)


@pytest.mark.parametrize("protocol", [RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE])
@pytest.mark.parametrize(
    ("name", "setting"), [("sigkill", "session.timeout.ms"), ("slow-loop", "max.poll.interval.ms")]
)
def test_a_simulator_that_waits_too_long_is_distinguished(
    played: Mapping[Key, Played], name: str, setting: str, protocol: RebalanceProtocol
) -> None:
    one = played[name, protocol]
    patient = replace(STORIES[name], settings={**STORIES[name].settings, setting: 60_000})
    ours = simulate(patient, protocol, one.beginning)
    assert (len(one.real.rebalances) > 0, len(ours.rebalances)) == (True, 0)
    assert ours.ownership != one.real.ownership


def test_a_simulator_that_takes_eager_for_cooperative_is_distinguished(played: Mapping[Key, Played]) -> None:
    one = played["join", RebalanceProtocol.EAGER]
    ours = simulate(STORIES["join"], RebalanceProtocol.COOPERATIVE, one.beginning)
    assert _calls(ours) != _calls(one.real)


def test_a_simulator_that_forgets_static_members_is_distinguished(played: Mapping[Key, Played]) -> None:
    one = played["static-restart", RebalanceProtocol.EAGER]
    members = tuple(replace(member, instance_id=None) for member in one.beginning.members)
    ours = simulate(STORIES["static-restart"], RebalanceProtocol.EAGER, replace(one.beginning, members=members))
    assert len(ours.rebalances) > len(one.real.rebalances)
