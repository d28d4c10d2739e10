"""One scenario has one answer: what `assign` says is what the simulated coordinator does."""

from dataclasses import replace

import pytest

import assignors
from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.whatif.events import (
    Action,
    Crash,
    Event,
    Freeze,
    Join,
    Leave,
    Resume,
    Scenario,
    Slow,
    UseAssignor,
)
from assignors.whatif.generations import in_turn
from assignors.whatif.timing import overlaps, settled_ms
from tests.oracle import plans
from tests.support.scenes import join, scenario


def three(assignor: str, *events: tuple[int, Action], static: bool = False, session_s: int = 45) -> Scenario:
    """Three members that own four of twelve partitions each."""
    members = tuple(
        Member(
            f"c{at}",
            f"i{at}" if static else None,
            topics=("a",),
            owned=[TopicPartition("a", number) for number in range(4 * at - 4, 4 * at)],
            generation=5,
        )
        for at in (1, 2, 3)
    )
    made = tuple(Event(1_000 * at_s, action) for at_s, action in events)
    settings = {"session.timeout.ms": session_s * 1_000}
    return Scenario("s", assignor, {"a": Topic("a", 12)}, members, made, protocol=settings)


def new(name: str, instance: str | None = None) -> Join:
    return Join(Member(name, instance, topics=("a",)))


def test_a_member_that_resumes_before_its_timeout_was_never_out_of_the_group() -> None:
    made = assignors.fold(three("range", (60, Freeze("c2")), (120, Resume("c2"))))
    assert [(its.number, its.quality.rebalances, its.quality.paused) for its in made] == [(5, 0, 0)]


def test_a_static_member_that_returns_in_time_has_what_it_had() -> None:
    made = assignors.fold(three("range", (60, Leave("c2")), (90, new("c2", "i2")), static=True))
    assert [its.number for its in made] == [5]


def test_a_new_process_under_the_instance_id_has_what_the_old_one_had_without_a_rebalance() -> None:
    made = assignors.fold(three("range", (60, Leave("c2")), (90, new("c2b", "i2")), static=True))
    assert [(its.number, its.quality.rebalances, its.quality.paused) for its in made] == [(5, 0, 0), (5, 0, 4)]
    assert made[1].event == "c2 leaves; c2b joins"
    assert {who: len(held) for who, held in made[1].after.by_member.items()} == {"c1": 4, "c2b": 4, "c3": 4}


@pytest.mark.parametrize(("assignor", "there"), [("range", "p2"), ("cooperative-sticky", "p2"), ("uniform", "p1")])
def test_of_two_members_with_one_instance_id_one_is_in_the_group(assignor: str, there: str) -> None:
    """The classic protocol fences the first one (FENCED_INSTANCE_ID), KIP-848 refuses the second one."""
    both = tuple(Member(name, "edge", topics=("t",)) for name in ("p1", "p2"))
    (only,) = assignors.fold(scenario(assignor, both))
    assert {who: len(held) for who, held in only.after.by_member.items()} == {there: 6}


def test_a_member_with_the_instance_id_of_another_takes_its_place() -> None:
    made = assignors.fold(three("range", (60, new("c4", "i2")), static=True))
    assert [(one.number, sorted(one.after.by_member)) for one in made] == [
        (5, ["c1", "c2", "c3"]),
        (5, ["c1", "c3", "c4"]),
    ]


def test_two_owners_with_one_instance_id_are_refused_with_the_fix() -> None:
    both = tuple(Member(name, "edge", topics=("t",), owned=[TopicPartition("t", at)]) for at, name in enumerate("pq"))
    with pytest.raises(AssignorError, match=r"Several members have the instance id 'edge'\..*Give each member its own"):
        assignors.fold(scenario("range", both))


def test_a_join_while_the_session_of_a_crashed_member_lasts_waits_for_its_end() -> None:
    first, second = assignors.fold(three("range", (60, Crash("c2")), (70, new("c4"))))
    assert (first.number, second.number, second.event) == (5, 6, "c2 crashes; c4 joins")
    assert sorted(second.after.by_member) == ["c1", "c3", "c4"]
    assert 60_000 + 45_000 - 3_000 <= second.at_ms <= 60_000 + 45_000


def test_new_instance_ids_leave_partitions_of_the_old_ones_without_an_owner_for_a_session_each() -> None:
    """A rolling deployment that makes new instance ids, with a session of 180 s."""
    old = tuple(Member(f"old{at}", f"gen-7f-{at}", topics=("a",)) for at in range(3))
    rolling = [(60 + 20 * at, new(f"new{at}", f"gen-9c-{at}")) for at in range(3)]
    rolling += [(70 + 20 * at, Leave(f"old{at}")) for at in range(3)]  # type: ignore[misc]
    events = tuple(Event(1_000 * at_s, action) for at_s, action in sorted(rolling, key=lambda its: its[0]))
    its = three("cooperative-sticky", session_s=180)
    made = assignors.fold(replace(its, members=old, events=events))
    assert [one.number for one in made] == [1, 2, 3, 4, 5]
    assert sorted(made[-1].after.by_member) == ["new0", "new1", "new2"]
    assert made[-1].at_ms > 6 * 60_000


def test_members_that_crash_at_once_are_removed_in_one_rebalance() -> None:
    made = assignors.fold(three("range", (60, Crash("c1")), (60, Crash("c2"))))
    assert [one.number for one in made] == [5, 6]
    assert {who: len(held) for who, held in made[1].after.by_member.items()} == {"c3": 12}


def test_a_group_whose_last_members_are_gone_owns_nothing() -> None:
    gone = [(60 + at, Crash(f"c{at}")) for at in (1, 2, 3)]
    last = assignors.fold(three("sticky", *gone))[-1]
    assert (last.members, last.after.by_member) == ((), {})


def test_a_member_that_processes_longer_than_max_poll_interval_leaves_and_joins_again() -> None:
    made = assignors.fold(three("range", (60, Slow("c2", 400_000))))
    assert len(made) > 3
    assert {len(one.members) for one in made} == {2, 3}


def test_the_change_to_another_assignor_comes_first() -> None:
    its = three("range", (60, Crash("c2")), (70, new("c4")))
    made = assignors.fold(replace(its, events=(Event(0, UseAssignor("cooperative-sticky")), *its.events)))
    assert [(one.number, one.assignor) for one in made[:3]] == [
        (5, "range"),
        (6, "cooperative-sticky"),
        (7, "cooperative-sticky"),
    ]
    assert sorted(made[-1].after.by_member) == ["c1", "c3", "c4"]


def test_events_have_their_numbers_in_the_file_in_errors() -> None:
    its = three("range", (60, Crash("c2")), (61, Freeze("c9")))
    with pytest.raises(AssignorError, match=r"^Event 2 at 61 s \(freeze c9\)"):
        assignors.fold(its)


def test_a_scenario_that_has_to_be_simulated_and_is_too_large_is_refused_with_the_limit() -> None:
    its = scenario("range", "A B", Crash("A"), join("C"), topics="t:20001", every_ms=10_000)
    with pytest.raises(AssignorError, match=r"20,001 partitions\. A simulation has at most 20,000\. .*put more time"):
        assignors.fold(its)
    assert len(assignors.fold(scenario("range", "A B", Crash("A"), join("C"), topics="t:20001"))) == 3


def test_when_every_event_has_had_its_effect() -> None:
    assert settled_ms(three("range"), "range") == 0
    assert settled_ms(three("range", (60, Leave("c2"))), "range") == 72_000
    assert settled_ms(three("range", (60, Crash("c2"))), "range") == 117_000
    assert settled_ms(three("range", (60, Crash("c2"))), "uniform") == 125_000
    assert settled_ms(three("range", (60, Leave("c2")), static=True, session_s=180), "range") == 252_000
    assert settled_ms(three("range", (60, Freeze("c2"))), "range") == 372_000
    assert settled_ms(three("range", (60, Freeze("c2")), static=True), "range") == 417_000


def test_a_boundary_between_in_turn_and_within() -> None:
    assert not overlaps(three("range", (60, Crash("c2")), (117, new("c4"))), "range")
    assert overlaps(three("range", (60, Crash("c2")), (116, new("c4"))), "range")
    far, near = (assignors.fold(three("range", (60, Crash("c2")), (at, new("c4")))) for at in (117, 116))
    assert [one.after.by_member.keys() for one in far] == [one.after.by_member.keys() for one in near]
    assert [one.number for one in far] == [one.number for one in near] == [5, 6, 7]


@pytest.mark.parametrize("number", range(8))
def test_assign_and_simulate_have_one_answer_and_events_in_turn_that_of_the_coordinator(number: int) -> None:
    """`make fuzz` goes on: the subject is `plans`."""
    found = [checked for at in range(10) for checked in plans.check(3719, 10 * number + at)]
    assert len(found) > 20
    assert [checked.difference for checked in found if checked.difference] == []


def test_in_turn_alone_would_say_otherwise() -> None:
    """The course of a scenario that the coordinator decides: what is compared above is not the same by construction."""
    assert len(in_turn(three("range", (60, Freeze("c2")), (120, Resume("c2"))))) == 3
