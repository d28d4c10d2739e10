"""Advice on a scenario: its settings, its members and what happens in it."""

from collections.abc import Mapping

from app.ui.advice.scenario_advice import for_scenario
from assignors.advice import Finding
from assignors.model import Member, Topic
from assignors.whatif.events import Crash, CreateTopic, Event, Join, Restart, Scenario, Slow, Subscribe

TOPICS = {"orders": Topic("orders", 2), "payments": Topic("payments", 1)}


def member(name: str, instance: str | None = None) -> Member:
    return Member(name, instance, topics=("orders",))


def scenario(*members: Member, events: tuple[Event, ...] = (), protocol: Mapping[str, int] | None = None) -> Scenario:
    return Scenario("checkout", "cooperative-sticky", TOPICS, members, events, protocol=protocol or {})


def reported(found: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(its.key, its.reason, its.better) for its in found]


def test_more_members_than_partitions_stay_idle() -> None:
    found = for_scenario(scenario(member("c1"), member("c2"), member("c3")))
    assert reported(found) == [("members", "3 members share 2 partitions: 1 stay idle.", "2")]
    assert for_scenario(scenario(member("c1"), member("c2"))) == []


def test_members_that_come_later_count_and_those_that_died_do_not() -> None:
    joins = Event(1_000, Join(member("c3")))
    found = for_scenario(scenario(member("c1"), member("c2"), events=(joins,)))
    assert [its.key for its in found] == ["members"]
    dies_first = (Event(500, Crash("c1")), joins)
    assert for_scenario(scenario(member("c1"), member("c2"), events=dies_first)) == []


def test_only_partitions_that_somebody_reads_count() -> None:
    events = tuple(Event(1_000, Subscribe(name, ("payments",))) for name in ("c1", "c2"))
    found = for_scenario(scenario(member("c1"), member("c2"), events=events))
    assert reported(found) == [("members", "2 members share 1 partitions: 1 stay idle.", "1")]


def test_members_that_wait_for_their_topic_are_not_idle() -> None:
    events = (Event(1_000, CreateTopic(Topic("logs", 2))),)
    waits = Member("c1", topics=("logs",))
    assert for_scenario(scenario(waits, events=events)) == []


def test_processing_longer_than_the_poll_interval_is_named() -> None:
    expected = (
        "The time between two polls is 400000 ms, more than max.poll.interval.ms 300000: "
        "the member leaves the group in every batch."
    )
    found = for_scenario(scenario(member("c1"), protocol={"simulated.processing.ms": 400_000}))
    assert reported(found) == [("max.poll.interval.ms", expected, "800000")]
    slow = Event(1_000, Slow("c1", 400_000))
    assert reported(for_scenario(scenario(member("c1"), events=(slow,)))) == [
        ("max.poll.interval.ms", expected, "800000")
    ]
    assert for_scenario(scenario(member("c1"), protocol={"simulated.processing.ms": 150_000})) == []


def test_a_static_member_that_joins_and_restarts_longer_than_its_session_is_named() -> None:
    slow_restart = {"simulated.restart.ms": 60_000}
    events = (Event(1_000, Join(member("c2", "pod-2"))), Event(2_000, Restart("c2")))
    found = for_scenario(scenario(member("c1"), events=events, protocol=slow_restart))
    reason = "A restart of 60000 ms outlasts the session of 45000 ms: the static member loses its partitions."
    assert reported(found) == [("session.timeout.ms", reason, "63000")]


def test_a_dynamic_member_that_restarts_beside_a_static_one_is_no_news() -> None:
    events = (Event(2_000, Restart("c1")),)
    found = for_scenario(
        scenario(member("c1"), member("c2", "pod-2"), events=events, protocol={"simulated.restart.ms": 60_000})
    )
    assert found == []


def test_two_members_of_one_instance_fence_each_other() -> None:
    found = for_scenario(scenario(member("c1", "pod"), events=(Event(1_000, Join(member("c2", "pod"))),)))
    assert [(its.key, its.reason) for its in found] == [
        ("group.instance.id", "c1 and c2 both have pod: one fences the other (FENCED_INSTANCE_ID, 82).")
    ]
