"""Scenarios that are too large are refused before the simulation starts."""

import time
from collections.abc import Iterable
from dataclasses import replace

import pytest

from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.simulation import kernel
from assignors.simulation.budget import (
    MOST_DAYS,
    MOST_HEARTBEATS,
    MOST_MEMBERS,
    MOST_PARTITIONS,
    MOST_REBALANCES,
    MOST_SUBSCRIPTIONS,
    check_budget,
)
from assignors.simulation.settings import read
from assignors.simulation.timeline.summary import summarize
from assignors.whatif.events import AddPartitions, CreateTopic, Event, Join, Leave, Restart, Scenario, Subscribe
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
        (
            group(members=[replace(A, topics=tuple(f"t{number}" for number in range(MOST_SUBSCRIPTIONS + 1)))]),
            "500,001 subscriptions to topics. A simulation has at most 500,000.",
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


def test_a_pattern_counts_as_a_subscription_to_every_topic() -> None:
    topics = {f"t{number}": Topic(f"t{number}", 1) for number in range(1_000)}
    members = [Member(f"m{number}", pattern="t7") for number in range(500)]
    scenario = replace(group(members=members), topics=topics)
    check(scenario)
    with pytest.raises(AssignorError, match="501,000 subscriptions"):
        check(replace(scenario, events=(Event(0, Subscribe("m0", pattern="t8")),)))


UNEVEN = {name: Topic(name, 2) for name in ("t", "u", "v")}
ENDLESS = Scenario(
    "endless", "sticky", UNEVEN, (Member("a", topics=("t", "u", "v")), Member("b", topics=("t", "v", "v")))
)
"""`sticky` gives b a partition of u, as Kafka's class does for such a list, and b joins again for ever."""


def test_a_group_that_rebalances_without_end_is_stopped_and_says_since_when() -> None:
    instant = {"simulated.append.ms": 0, "group.initial.rebalance.delay.ms": 0, "heartbeat.interval.ms": 1}
    timeline = played(replace(ENDLESS, protocol=instant), EAGER)
    assert timeline.unsettled == (
        "it rebalances without end: more than 1,008 rebalances since 'first assignment' at 0.000 s, "
        f"by {timeline.end_ms / 1_000:.3f} s, and the rest is not simulated"
    )
    assert len(timeline.plans) == MOST_REBALANCES + 4 * len(ENDLESS.members)
    assert timeline.end_ms < 60_000


def test_rebalances_that_never_end_in_an_assignment_count_too() -> None:
    """The coordinator waits 1 ms for the leader's plan, which takes as long. Found by `make fuzz`."""
    hasty = {"max.poll.interval.ms": 1, "simulated.latency.ms": 0}
    start = [replace(A, owned=(TopicPartition("t", 0),), generation=1), Member("b", topics=("t",))]
    began_s = time.process_time()
    timeline = played(replace(group(Event(0, Restart("a")), members=start), protocol=hasty), EAGER)
    assert "more than 1,008 rebalances since 'restart a' at 0.000 s" in str(timeline.unsettled)
    assert time.process_time() - began_s < 20


def test_the_summary_of_many_rebalances_takes_time_in_proportion() -> None:
    """It was quadratic in the rebalances: 60 s and more for these."""
    began_s = time.process_time()
    assert summarize(played(ENDLESS, EAGER)).rebalances > 500
    assert time.process_time() - began_s < 20


def test_a_rebalance_counts_for_its_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MOST_EVENTS", 3_000)
    assert played(group(partitions=5_000), EAGER).unsettled is None
    assert "more than 3,000 events" in str(played(group(partitions=20_000), EAGER).unsettled)


def test_a_wait_of_weeks_is_bounded_though_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The group is looked at once a second until it has settled. Found by `make fuzz`."""
    monkeypatch.setattr(kernel, "MOST_EVENTS", 20_000)
    weeks = {"simulated.processing.ms": 2**31 - 1, "simulated.restart.ms": 2**31 - 1}
    timeline = played(replace(group(Event(0, Restart("a"))), protocol=weeks), CONSUMER)
    assert "more than 20,000 events" in str(timeline.unsettled)
    assert timeline.end_ms < 20_000_000
