"""Which assignor is recommended for a scenario, and the reasons given."""

import math
from dataclasses import replace

import pytest

from assignors.scenario import examples, load_scenario
from assignors.simulation.fold import fold
from assignors.whatif.comparison import Outcome, compatible_assignors, with_change_to
from assignors.whatif.events import Scenario
from assignors.whatif.recommendation import Change, Difference, Measure, Recommendation, recommendation
from tests.support.scenes import join, member, scenario


def outcome(its: Scenario, assignor: str) -> Outcome:
    return Outcome(assignor, tuple(fold(*with_change_to(its, assignor))))


def of(its: Scenario) -> Recommendation | None:
    return recommendation([outcome(its, name) for name in compatible_assignors(its)], its.assignor)


def example(name: str) -> Recommendation | None:
    return of(load_scenario(examples()[name]))


TWO_TOPICS = "a:2 b:2"
THREE = tuple(member(name, "a b") for name in ("c1", "c2", "c3"))


def test_an_assignor_without_idle_members_is_recommended() -> None:
    found = of(scenario("range", THREE, topics=TWO_TOPICS))
    assert found is not None
    assert (found.assignor, found.other) == ("roundrobin", "range")
    assert found.gains[0] == Difference(Measure.IDLE, 0, 1)


def test_the_own_assignor_is_kept_and_compared_with_the_best_other() -> None:
    assert example("cooperative-hand-over") == Recommendation(
        "cooperative-sticky",
        "sticky",
        (Difference(Measure.PAUSED, 2, 6),),
        (Difference(Measure.REBALANCES, 2, 1),),
    )


def test_what_a_change_costs_once_is_apart_from_what_the_events_cost_after_it() -> None:
    """A member leaves: an eager group pauses all of its seven partitions, a cooperative one the three that move."""
    assert example("sticky-from-range") == Recommendation(
        "cooperative-sticky",
        "sticky",
        (Difference(Measure.PAUSED, 3, 7),),
        (),
        Change(4, 7, 1),
    )


def test_fewer_paused_partitions_are_worth_more_rebalances_and_the_cost_is_named() -> None:
    assert example("5000-partitions") == Recommendation(
        "cooperative-sticky",
        "sticky",
        (Difference(Measure.PAUSED, 298, 20_000),),
        (Difference(Measure.REBALANCES, 6, 4),),
    )


def test_lag_that_drains_is_worth_more_moves() -> None:
    found = example("hot-member")
    assert found is not None
    assert (found.assignor, found.other) == ("server-range", "uniform")
    assert (found.gains[0].measure, found.gains[0].other) == (Measure.DRAIN, math.inf)
    assert [cost.measure for cost in found.costs] == [Measure.PAUSED, Measure.MOVES]


@pytest.mark.parametrize(
    ("own", "usable"),
    [
        ("range", {"range", "roundrobin", "sticky", "cooperative-sticky"}),
        ("uniform", {"uniform", "server-range"}),
    ],
)
def test_only_assignors_of_the_groups_type_are_recommended(own: str, usable: set[str]) -> None:
    found = of(scenario(own, "c1 c2", join("c3")))
    assert found is not None
    assert {found.assignor, found.other} <= usable


def test_a_share_group_has_no_choice() -> None:
    assert of(scenario("share-simple", "c1 c2", join("c3"))) is None


def test_an_assignor_that_splits_what_was_together_is_no_improvement_without_a_lasting_one() -> None:
    members = tuple(member(name, "a b") for name in ("c1", "c2"))
    its = scenario("range", members, join("c3", "a b"), topics="a:3 b:3")
    own, other = outcome(its, "range"), outcome(its, "cooperative-sticky")
    assert other.paused() < own.paused()
    found = recommendation([own, other], "range")
    assert found is not None
    assert found.assignor == "range"
    assert found.gains[0].measure is Measure.SPLIT


def test_equal_results_keep_the_own_assignor() -> None:
    its = scenario("range", "c1")
    assert recommendation([outcome(its, "range"), outcome(its, "roundrobin")], "range") == Recommendation(
        "range", "roundrobin", (), ()
    )


def test_an_assignor_without_a_result_is_replaced_but_never_recommended() -> None:
    its = scenario("range", "c1 c2", join("c3"))
    fails, works = Outcome("range", error="no"), outcome(its, "sticky")
    assert recommendation([fails, works], "range") == Recommendation("sticky", "range", (), ())
    assert recommendation([works, fails], "sticky") is None


@pytest.mark.parametrize(("capacity", "counts"), [(10_000.0, False), (4_000.0, True)])
def test_a_drain_time_counts_from_ten_percent_on(capacity: float, counts: bool) -> None:
    """126.1 s and 126.8 s with the first capacity, 126.1 s and 181.3 s with the second."""
    its = load_scenario(examples()["hot-member"])
    found = of(replace(its, loads=replace(its.loads, capacity_per_s={}, default_capacity_per_s=capacity)))
    assert found is not None
    assert found.assignor == "uniform"
    assert any(one.measure is Measure.DRAIN for one in found.gains) == counts
