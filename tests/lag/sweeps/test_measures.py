"""A case's row is what the assignors make of it, and what What-if shows for the same scenario."""

import math
from dataclasses import replace
from typing import Any

import pytest

import assignors
from assignors.model import Group, TopicPartition
from assignors.scenario import dump, load_scenario
from assignors.whatif.comparison import Outcome, with_change_to
from assignors.whatif.events import CoordinatorDown, CoordinatorUp, Crash, Join, Leave, Restart, Scenario
from lag.sweeps.cases import FAIL_AT_MS, SCALE_AT_MS, case_scenario
from lag.sweeps.measures import current_row, row
from lag.sweeps.plan import Case, Failure, Plan, SweepRequest, parse_member_counts
from tests.lag.sweeps.scenarios import LAGS, empty, member, orders, shared
from tests.support.known import known, the


def made(base: Scenario, assignor: str, members: int, failure: Failure = Failure.NONE) -> dict[str, Any]:
    return row(base, Case(0, assignor, members, failure))


def counts(base: Scenario, assignor: str, members: int) -> list[int]:
    """Partitions of each member, planned afresh by the assignor itself."""
    group = tuple(member(f"c-{at}") for at in range(members))
    return [len(part) for part in assignors.get(assignor).assign(Group("g", group, base.topics)).by_member.values()]


def test_the_group_as_it_is_moves_nothing() -> None:
    found = made(orders(), "range", 3)
    assert {name: found[name] for name in ("moved", "stayed", "paused", "rebalances", "idle", "spread", "most")} == {
        "moved": 0, "stayed": 6, "paused": 0, "rebalances": 0, "idle": 0, "spread": 0, "most": 2,
    }  # fmt: skip
    assert (found["hot_by"], found["hot_member"], found["hot_share"]) == ("produced_per_s", "c-0", 70 / 100)
    assert found["hot_ratio"] == 70 * 3 / 100
    assert found["drain_s"] == 2 * 600 / (100 - 70)
    changes = ("failure", "moved", "stayed", "paused", "rebalances")
    assert current_row(orders()) == {name: value for name, value in found.items() if name not in changes}


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "uniform"])
@pytest.mark.parametrize("members", [4, 6, 8])
def test_more_members_have_what_the_assignor_gives_them(assignor: str, members: int) -> None:
    base = replace(orders(assignor), members=tuple(replace(m, owned=(), generation=None) for m in orders().members))
    found, each = made(base, assignor, members), counts(base, assignor, members)
    assert (found["most"], found["spread"], found["idle"]) == (max(each), max(each) - min(each), each.count(0))


def test_members_that_come_together_make_one_rebalance_and_what_is_kept_is_counted() -> None:
    found = made(orders("cooperative-sticky"), "cooperative-sticky", 6)
    assert (found["moved"], found["stayed"], found["paused"], found["rebalances"]) == (3, 3, 3, 2)
    eager = made(orders("sticky"), "sticky", 6)
    assert (eager["moved"], eager["stayed"], eager["paused"], eager["rebalances"]) == (3, 3, 6, 1)


def test_the_last_to_join_leave_first() -> None:
    assert [event.action for event in case_scenario(orders(), 2, Failure.NONE).events] == [Leave("c-2")]
    events = case_scenario(orders(), 1, Failure.NONE).events
    assert [event.action for event in events] == [CoordinatorDown(), Leave("c-1"), Leave("c-2"), CoordinatorUp()]
    assert {event.at_ms for event in events} == {SCALE_AT_MS}


def test_newcomers_go_round_the_racks_and_want_what_the_others_want() -> None:
    base = orders(racks=("a", "b", "b"))
    joined = [
        event.action.member for event in case_scenario(base, 6, Failure.NONE).events if isinstance(event.action, Join)
    ]
    assert [(it.member_id, it.rack, it.topics) for it in joined] == [
        ("c-3", "a", ("t",)), ("c-4", "b", ("t",)), ("c-5", "a", ("t",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("failure", "members", "gone"), [(Failure.CRASH, 3, 1), (Failure.THIRD, 3, 1), (Failure.THIRD, 7, 3)]
)
def test_the_member_that_fails_is_drawn_from_the_case_and_the_same_each_time(
    failure: Failure, members: int, gone: int
) -> None:
    events = case_scenario(orders(), members, failure).events
    crashed = [event.action.member_id for event in events if isinstance(event.action, Crash)]
    assert len(set(crashed)) == len(crashed) == gone
    assert case_scenario(orders("sticky"), members, failure).events == events
    firsts = (case_scenario(replace(orders(), name=f"g{n}"), 3, Failure.CRASH).events[0].action for n in range(30))
    drawn = {the(Crash, first).member_id for first in firsts}
    assert drawn == {"c-0", "c-1", "c-2"}


def test_a_rack_that_fails_takes_all_its_members_at_once() -> None:
    base = orders(racks=("a", "b", "b"))
    events = case_scenario(base, 3, Failure.RACK).events
    crashed = {event.action.member_id for event in events if isinstance(event.action, Crash)}
    assert crashed in ({"c-0"}, {"c-1", "c-2"})
    assert {event.at_ms for event in events} == {FAIL_AT_MS}


@pytest.mark.parametrize(
    ("racks", "why"),
    [((None, None, None), "No rack can fail: no member has one."), (("a", "a", None), "all members are in one.")],
)
def test_without_two_racks_none_can_fail_and_the_row_says_why(racks: tuple[str | None, ...], why: str) -> None:
    found = made(orders(racks=racks), "range", 3, Failure.RACK)
    assert found.pop("reason").endswith(why)
    assert found == {"group_id": "orders", "assignor": "range", "members": 3, "failure": "rack"}


def test_in_a_rolling_restart_dynamic_members_leave_and_come_back_one_by_one() -> None:
    events = case_scenario(orders(), 2, Failure.RESTART).events
    assert [event.action for event in events[1:]] == [Restart("c-0"), Restart("c-1")]
    found = made(orders(), "range", 2, Failure.RESTART)
    assert found["rebalances"] == 1 + 2 * 2


def test_without_members_load_and_drain_are_unknown() -> None:
    found = made(orders(), "range", 1, Failure.CRASH)
    assert (found["partitions"], found["idle"], found.get("hot_share")) == (0, 0, None)
    assert (found["drain_s"], found["drain_reason"]) == (None, "the group has no members")


def test_a_member_that_cannot_keep_up_never_drains() -> None:
    base = orders()
    slow = replace(base, loads=replace(base.loads, default_capacity_per_s=65.0))
    assert made(slow, "range", 3)["drain_s"] == math.inf
    assert made(slow, "range", 3)["drain_reason"] == "70 records a second arrive, and it can process 65"
    assert made(slow, "range", 6)["drain_s"] == 600 / (65 - 60)


def test_what_is_not_known_is_missing_and_says_why() -> None:
    base = orders()
    unknown = replace(base, loads=replace(base.loads, produced_per_s={}))
    found, share = made(unknown, "range", 3), 2 * 600 / sum(LAGS.values())
    assert (found["drain_s"], found["drain_reason"]) == (None, "the produce rate of 2 of its 2 partitions is unknown")
    assert (found["hot_by"], found["hot_share"], found["rack_hits"]) == ("lag_records", share, None)
    bare = made(replace(base, loads=replace(base.loads, produced_per_s={}, lag_records={})), "range", 4)
    assert (bare["hot_by"], bare["hot_member"], bare["hot_share"]) == ("partitions", None, 2 / 6)
    assert bare["hot_ratio"] == pytest.approx(8 / 6)


def test_a_load_that_is_not_known_for_every_partition_gives_no_busiest_member() -> None:
    """One rate of six would make its owner the only busy one."""
    base, one = orders(), {TopicPartition("t", 5): 5.0}
    found = made(replace(base, loads=replace(base.loads, produced_per_s=one)), "range", 3)
    assert (found["hot_by"], found["hot_share"]) == ("lag_records", 2 * 600 / sum(LAGS.values()))
    found = made(replace(base, loads=replace(base.loads, produced_per_s=one, lag_records=one)), "range", 3)
    assert (found["hot_by"], found["hot_share"]) == ("partitions", 2 / 6)


def test_a_share_group_knows_one_assignor_and_an_empty_group_starts_with_newcomers() -> None:
    assert made(shared(), "range", 2)["reason"] == "range cannot plan a group of share-simple."
    assert made(shared(), "share-simple", 2)["unassigned"] == 0
    assert (made(empty(), "range", 2)["most"], current_row(empty())["unassigned"]) == (3, 0)


def test_a_case_is_the_scenario_that_what_if_opens() -> None:
    """Through the file, as a link has it, and with the assignor chosen there."""
    base = orders(racks=("a", "b", None))
    plan = Plan(
        [base],
        SweepRequest(("range", "sticky", "cooperative-sticky"), parse_member_counts("2,3,5"), tuple(Failure)[:4]),
    )
    for number in range(len(plan)):
        case = plan.case(number)
        shown = load_scenario(dump(case_scenario(base, case.members, case.failure)))
        scenario, first = with_change_to(shown, case.assignor)
        outcome = Outcome(case.assignor, tuple(assignors.fold(scenario, first)))
        found, last = row(base, case), outcome.last
        reported = (outcome.moved(), outcome.stayed(), outcome.paused(), outcome.rebalances())
        assert tuple(found[name] for name in ("moved", "stayed", "paused", "rebalances")) == reported
        shown_last = (known(last).spread, len(known(last).idle_members), known(last).drain.seconds)
        assert (found["spread"], found["idle"], found["drain_s"]) == shown_last


def test_events_of_one_moment_are_one_rebalance_only_where_several_come_together() -> None:
    alone = case_scenario(orders(), 4, Failure.NONE)
    assert [type(event.action) for event in alone.events] == [Join]
    assert "in one rebalance" not in alone.description
    assert "in one rebalance" in case_scenario(orders(), 5, Failure.NONE).description
    assert case_scenario(orders(), 3, Failure.NONE).events == ()
