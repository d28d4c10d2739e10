"""The names and subscriptions of members that a prediction lets join."""

from dataclasses import replace

from assignors.model import Member, Topic
from assignors.whatif.events import Event, Scenario
from assignors.whatif.suggested_joins import suggested_joins, usual_topics

MEMBERS = tuple(Member(f"c{n}-uuid", client_id=f"c{n}", topics=("t",)) for n in (1, 2))
SCENARIO = Scenario("s", "range", {"t": Topic("t", 4)}, MEMBERS)


def test_newcomers_are_named_as_the_next_clients() -> None:
    assert [join.member.member_id for join in suggested_joins(SCENARIO, 2, ("t",), None)] == ["c3", "c4"]


def test_newcomers_follow_those_that_join_before_them() -> None:
    first = suggested_joins(SCENARIO, 1, ("t",), "a")
    after = replace(SCENARIO, events=tuple(Event(0, join) for join in first))
    assert [join.member.client_id for join in suggested_joins(after, 1, ("t",), None)] == ["c4"]


def test_newcomers_take_no_name_that_is_an_instance_id() -> None:
    static = replace(SCENARIO, members=(*MEMBERS, Member("x", instance_id="c3", topics=("t",))))
    assert [join.member.member_id for join in suggested_joins(static, 1, ("t",), None)] == ["c4"]


def test_newcomers_of_a_group_without_numbers() -> None:
    scenario = Scenario("s", "range", {}, (Member("a3f9-8e"), Member("x")))
    assert [join.member.member_id for join in suggested_joins(scenario, 2, (), None)] == ["new-1", "new-2"]


def test_newcomers_subscribe_by_the_pattern_of_those_that_have_the_topics() -> None:
    by_pattern = tuple(replace(member, pattern="t.*") for member in MEMBERS)
    scenario = replace(SCENARIO, members=(*by_pattern, Member("x", topics=("t",))))
    assert suggested_joins(scenario, 1, ("t",), None)[0].member.pattern == "t.*"
    assert suggested_joins(scenario, 1, (), None)[0].member.pattern is None
    assert suggested_joins(SCENARIO, 1, ("t",), None)[0].member.pattern is None


def test_the_usual_subscription_is_the_most_frequent() -> None:
    members = [Member("a", topics=("t",)), Member("b", topics=("t", "u")), Member("c", topics=("t", "u")), Member("d")]
    assert usual_topics(members) == ("t", "u")
    assert usual_topics([]) == ()
