"""Scenarios that are too large are refused before the simulation starts."""

from collections.abc import Iterable

import pytest

from assignors.model import AssignorError, Member, Topic
from assignors.simulation import kernel
from assignors.simulation.budget import MOST_DAYS, MOST_HEARTBEATS, MOST_MEMBERS, MOST_PARTITIONS, check_budget
from assignors.simulation.settings import read
from assignors.whatif.events import AddPartitions, CreateTopic, Event, Join, Leave, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import CONSUMER, EAGER, played

DAY_MS = 86_400_000
A = Member("a", topics=("t",))


def group(*events: Event, members: Iterable[Member] = (A,), partitions: int = 4) -> Scenario:
    return Scenario("large", "range", {"t": Topic("t", partitions)}, tuple(members), events)


def crowd(size: int) -> list[Member]:
    return [Member(f"m{number}", topics=("t",)) for number in range(size)]


def check(scenario: Scenario, protocol: RebalanceProtocol = EAGER) -> None:
    check_budget(scenario, read({}), protocol)


@pytest.mark.parametrize(
    ("scenario", "limit"),
    [
        (group(members=crowd(MOST_MEMBERS + 1)), "2,001 members. A simulation has at most 2,000."),
        (group(Event(0, Join(A)), members=crowd(MOST_MEMBERS)), "2,001 members. A simulation has at most 2,000."),
        (group(partitions=MOST_PARTITIONS + 1), "20,001 partitions. A simulation has at most 20,000."),
        (group(Event(0, AddPartitions("t", 99_999))), "99,999 partitions. A simulation has at most 20,000."),
        (
            group(Event(0, CreateTopic(Topic("u", MOST_PARTITIONS)))),
            "20,004 partitions. A simulation has at most 20,000.",
        ),
        (group(Event(10_000_000_000, Leave("a"))), "after 115.7 days. A simulation lasts at most 7 days."),
        (group(Event(DAY_MS, Leave("m0")), members=crowd(100)), "2,880,000 heartbeats until the last event. "),
    ],
)
def test_each_limit_is_named_before_anything_is_simulated(
    scenario: Scenario, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "MOST_EVENTS", 0)
    with pytest.raises(AssignorError) as refusal:
        played(scenario, EAGER)
    assert limit in str(refusal.value)


def test_a_scenario_at_each_limit_is_simulated() -> None:
    check(group(members=crowd(MOST_MEMBERS), partitions=MOST_PARTITIONS))
    check(group(Event(MOST_DAYS * DAY_MS, Leave("a"))))
    at_ms = MOST_HEARTBEATS * 3_000 // 1_000
    check(group(Event(at_ms, Leave("m0")), members=crowd(1_000)))
    with pytest.raises(AssignorError, match="500,001 heartbeats"):
        check(group(Event(at_ms + 3, Leave("m0")), members=crowd(1_000)))


def test_the_heartbeat_interval_is_that_of_the_protocol() -> None:
    scenario = group(Event(2_000_000, Leave("m0")), members=crowd(1_000))
    check(scenario, CONSUMER)
    with pytest.raises(AssignorError, match="666,666 heartbeats"):
        check(scenario, EAGER)
