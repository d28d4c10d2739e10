"""One story under several protocols: each as if played alone, and for as long as the longest."""

import random

import pytest

from assignors.model import AssignorError, Member
from assignors.simulation import kernel
from assignors.simulation.run import Simulation, simulate
from assignors.simulation.settings import read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.stories import STORIES
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import CoordinatorDown, CoordinatorUp, Freeze, Join, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import CONSUMER, COOPERATIVE, EAGER, QUICK, members, played, scenario
from tests.support.known import known, the

PROTOCOLS = (EAGER, COOPERATIVE, CONSUMER)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_each_goes_on_until_the_last_has_come_to_rest_as_if_played_alone(story: Scenario) -> None:
    settings = read(story.protocol)
    alone = {protocol: simulate(story, settings, protocol, seed=3).end_ms for protocol in PROTOCOLS}
    end_ms = max(alone.values())
    together = simulate_all(story, settings, PROTOCOLS, seed=3)
    for protocol in PROTOCOLS:
        assert together[protocol] == simulate(story, settings, protocol, seed=3, until_ms=end_ms)


def test_a_protocol_that_cannot_play_the_story_takes_nothing_from_the_others() -> None:
    story = scenario(2, members("a"), {1_000: Join(Member("a", topics=("t",)))})
    plain = scenario(2, members("a"), {})
    refused = simulate_all(story, read(story.protocol), PROTOCOLS)
    assert all(isinstance(its, AssignorError) for its in refused.values())
    share = simulate_all(plain, read(plain.protocol), (RebalanceProtocol.SHARE, EAGER))
    assert isinstance(share[RebalanceProtocol.SHARE], AssignorError)
    assert share[EAGER] == played(plain, EAGER)


def test_what_ended_because_it_never_ends_stays_as_it_is_while_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel, "MOST_EVENTS", 3_000)
    patient = QUICK | {"max.poll.interval.ms": 2_147_483_647}
    story = scenario(2, members("a", "b"), {31_000: Freeze("b")}, patient)
    together = simulate_all(story, read(story.protocol), PROTOCOLS)
    assert len({the(Timeline, its).end_ms for its in together.values()}) > 1
    for protocol, its in together.items():
        assert its == played(story, protocol)
        assert "more than 3,000 events" in known(its.unsettled)


def test_where_time_stood_still_nothing_happens_later_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MOST_EVENTS_AT_ONCE", 1_000)
    timeless = {"retry.backoff.ms": 0, "simulated.latency.ms": 0}
    story = scenario(2, members("a"), {20_000: CoordinatorDown(), 21_000: CoordinatorUp()}, timeless)
    world = Simulation(story, read(timeless), EAGER, random.Random(0))
    world.run(None)
    stood = world.timeline()
    world.run(60_000)
    assert (world.timeline(), stood.end_ms) == (stood, 20_000)
