"""What a sweep asks: its cases by number, and what its flags may say."""

from dataclasses import replace

import pytest

from assignors.registry import BUILT_IN
from lag.errors import ConfigError
from lag.sweeps.plan import (
    Case,
    Failure,
    MemberCount,
    Plan,
    SweepRequest,
    parse_assignors,
    parse_failures,
    parse_member_counts,
)
from tests.lag.sweeps.scenarios import empty, orders, shared


def test_cases_go_group_by_group_assignor_by_assignor_members_by_members() -> None:
    asked = SweepRequest(
        ("range", "sticky"), (MemberCount(count=1), MemberCount(factor=2)), (Failure.NONE, Failure.CRASH)
    )
    plan = Plan([orders(), shared()], asked)
    assert [plan.case(number) for number in range(len(plan))] == [
        Case(group, assignor, members, failure)
        for group, member_counts in enumerate(((1, 6), (1, 4)))
        for assignor in ("range", "sticky")
        for members in member_counts
        for failure in (Failure.NONE, Failure.CRASH)
    ]


def test_without_names_all_assignors_that_fit_the_group_are_tried() -> None:
    plan = Plan([orders("sticky"), shared()], SweepRequest())
    fitting = ["sticky", *(name for name in BUILT_IN if name not in ("sticky", "share-simple"))]
    assert [plan.case(number).assignor for number in range(len(plan))] == [*fitting, "share-simple"]


def test_equal_numbers_of_members_are_one_case() -> None:
    plan = Plan([orders()], SweepRequest(("range",), parse_member_counts("3,x1,x1.1,2..3")))
    assert [plan.case(number).members for number in range(len(plan))] == [2, 3]


@pytest.mark.parametrize(("text", "of_three"), [("1..4", [1, 2, 3, 4]), ("x0.5, x1,x2", [2, 3, 6]), ("x0.1", [1])])
def test_numbers_of_members_are_counts_ranges_or_factors(text: str, of_three: list[int]) -> None:
    assert [size.of(3) for size in parse_member_counts(text)] == of_three


def test_a_group_without_members_has_one_at_least() -> None:
    assert Plan([empty()], SweepRequest(("range",), parse_member_counts("x2"))).case(0).members == 1


@pytest.mark.parametrize("text", ["", "0", "3..1", "1..", "x0", "-1", "1..10001", "many", "1;2", "٣"])
def test_what_is_no_number_of_members_is_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a number of members") as refused:
        parse_member_counts(text)
    assert repr(text) in refused.value.cause


def test_unknown_assignors_and_failures_are_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"There is no assignor 'stiky'. Choose from range, roundrobin, "):
        parse_assignors(["range", "stiky"])
    with pytest.raises(ConfigError, match=r"There is no failure 'fire'. Choose from none, crash, third, rack, restart"):
        parse_failures(["fire"])
    assert parse_assignors(["range", "all"]) == ()
    assert parse_assignors(["range", "sticky", "range"]) == ("range", "sticky")
    assert parse_failures([]) == (Failure.NONE,)
    assert parse_failures(["rack", "crash", "rack"]) == (Failure.NONE, Failure.RACK, Failure.CRASH)


def test_a_factor_makes_no_more_members_than_a_case_may_have() -> None:
    """A group that has more already may be swept as it is."""
    with pytest.raises(ConfigError, match=r"30,000 members of orders are more than one case allows \(10,000\)"):
        Plan(
            [shared(), replace(orders(), members=orders().members * 10)],
            SweepRequest(("range",), parse_member_counts("x1,x999.999")),
        )
    large = replace(orders(), members=orders().members * 3_334)
    assert len(Plan([large], SweepRequest(("range",), parse_member_counts("x0.5,x1")))) == 2


def test_a_sweep_without_groups_or_with_too_many_cases_is_refused() -> None:
    with pytest.raises(ConfigError, match="There is no group to sweep"):
        Plan([], SweepRequest())
    with pytest.raises(ConfigError, match=r"6,000,000 cases are more than one sweep allows \(5,000,000\)"):
        Plan([orders()] * 120, SweepRequest(tuple(BUILT_IN)[:5], parse_member_counts("1..10000")))


def test_a_group_is_done_when_all_its_cases_are() -> None:
    plan = Plan([orders(), shared()], SweepRequest(("range",), parse_member_counts("1,2,3")))
    assert [plan.groups_done(cases) for cases in (0, 2, 3, 5, 6)] == [0, 0, 1, 1, 2]
