"""A draft of a what-if: events with undo, the names of newcomers, and its way into a link and back."""

import pytest
from hypothesis import given

from app import links
from app.drafts import EVERY_MS, Draft, newcomers, usual_topics
from assignors.events import Crash, Event, Leave, Scenario
from assignors.model import AssignorError, Member, Topic
from assignors.scenario import dump, examples, load_scenario
from tests.assignors.scenario.strategies import scenarios

MEMBERS = tuple(Member(f"c{n}-uuid", client_id=f"c{n}", topics=("t",)) for n in (1, 2))
SCENARIO = Scenario("s", "range", {"t": Topic("t", 4)}, MEMBERS)
DRAFT = Draft("k", "s", SCENARIO)


def test_actions_come_after_the_last_event_and_together() -> None:
    draft = DRAFT.then([Leave("c1-uuid")]).then([Crash("c2-uuid"), Leave("c3")])
    assert draft.scenario.events == (
        Event(EVERY_MS, Leave("c1-uuid")),
        Event(2 * EVERY_MS, Crash("c2-uuid")),
        Event(2 * EVERY_MS, Leave("c3")),
    )


def test_undo_and_redo_walk_the_same_way() -> None:
    one = DRAFT.then([Leave("c1-uuid")])
    two = one.without(0)
    assert (two.scenario.events, two.undo().scenario.events) == ((), one.scenario.events)
    assert two.undo().undo().scenario.events == ()
    assert two.undo().undo().redo().redo().scenario == two.scenario


def test_undo_of_nothing_is_nothing() -> None:
    assert DRAFT.undo() is DRAFT
    assert DRAFT.redo() is DRAFT


def test_a_change_after_undo_forgets_what_was_undone() -> None:
    assert DRAFT.then([Leave("c1-uuid")]).undo().then([Leave("c2-uuid")]).undone == ()


def test_newcomers_are_named_as_the_next_clients() -> None:
    assert [join.member.member_id for join in newcomers(SCENARIO, 2, ("t",), None)] == ["c3", "c4"]


def test_newcomers_follow_those_that_join_before_them() -> None:
    draft = DRAFT.then(newcomers(SCENARIO, 1, ("t",), "a"))
    assert [join.member.client_id for join in newcomers(draft.scenario, 1, ("t",), None)] == ["c4"]


def test_newcomers_of_a_group_without_numbers() -> None:
    scenario = Scenario("s", "range", {}, (Member("a3f9-8e"), Member("x")))
    assert [join.member.member_id for join in newcomers(scenario, 2, (), None)] == ["new-1", "new-2"]


def test_the_usual_subscription_is_the_most_frequent() -> None:
    members = [Member("a", topics=("t",)), Member("b", topics=("t", "u")), Member("c", topics=("t", "u")), Member("d")]
    assert usual_topics(members) == ("t", "u")
    assert usual_topics([]) == ()


@given(scenarios())
def test_a_link_holds_the_whole_scenario(scenario: Scenario) -> None:
    packed = links.pack(scenario)
    assert packed is None or links.unpack(packed) == load_scenario(dump(scenario))


def test_bundled_examples_fit_into_links() -> None:
    assert all(links.pack(load_scenario(path)) for path in examples().values())


@pytest.mark.parametrize("text", ["", "junk", "&%$", "é", "AAAA", "eJw" * 40])
def test_a_broken_link_is_told(text: str) -> None:
    with pytest.raises(AssignorError):
        links.unpack(text)


def test_a_link_that_was_cut_off_is_told() -> None:
    packed = links.pack(SCENARIO)
    assert packed is not None
    with pytest.raises(AssignorError, match="cannot be read"):
        links.unpack(packed[: len(packed) // 2])
