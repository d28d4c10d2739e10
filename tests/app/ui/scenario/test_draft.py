"""A draft of a what-if: events with undo, the names of newcomers, and its way into a link and back."""

import pytest
from hypothesis import given

from app.ui.groups.member_names import member_names
from app.ui.labs import link_codec
from app.ui.scenario.draft import (
    EVERY_MS,
    Draft,
    brackets,
    is_together,
    joining_together,
    members_at_end,
    topics_at_end,
)
from assignors.model import AssignorError, Member, Topic
from assignors.scenario import dump, examples, load_scenario
from assignors.scenario.values import MOST_MS
from assignors.whatif.events import (
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    DeleteTopic,
    Event,
    GcPause,
    Join,
    Leave,
    Scenario,
)
from tests.assignors.scenario.strategies import scenarios
from tests.support.known import known

MEMBERS = tuple(Member(f"c{n}-uuid", client_id=f"c{n}", topics=("t",)) for n in (1, 2))
SCENARIO = Scenario("s", "range", {"t": Topic("t", 4)}, MEMBERS)
DRAFT = Draft("k", "s", SCENARIO)


def test_an_action_comes_after_a_pause_and_within_the_longest_scenario() -> None:
    paused = DRAFT.with_events([Event(10_000, GcPause("c1-uuid", 60_000)), Event(20_000, Leave("c2-uuid"))])
    assert paused.then([Leave("c1-uuid")]).scenario.events[-1] == Event(70_000 + EVERY_MS, Leave("c1-uuid"))
    last = DRAFT.with_events([Event(MOST_MS, Leave("c1-uuid"))]).then([Leave("c2-uuid")])
    assert link_codec.unpack(known(link_codec.pack(last.scenario))).events[-1] == Event(MOST_MS, Leave("c2-uuid"))


def test_actions_come_when_the_group_has_noticed_all_before_them() -> None:
    """The session of a crashed member, 45 s, and a rebalance."""
    draft = DRAFT.then([Leave("c1-uuid")]).then([Crash("c2-uuid"), Leave("c3")])
    assert draft.scenario.events == (
        Event(EVERY_MS, Leave("c1-uuid")),
        Event(2 * EVERY_MS, Crash("c2-uuid")),
        Event(4 * EVERY_MS, Leave("c3")),
    )


def test_undo_and_redo_walk_the_same_way() -> None:
    one = DRAFT.then([Leave("c1-uuid")])
    two = one.without(0)
    assert (two.scenario.events, two.undo().scenario.events) == ((), one.scenario.events)
    assert two.undo().undo().scenario.events == ()
    assert two.undo().undo().redo().redo().scenario == two.scenario


def test_undo_and_redo_take_back_what_a_member_can_process() -> None:
    changed = DRAFT.then([Leave("c1-uuid")]).with_capacity(5.0)
    assert changed.undo().scenario.loads.default_capacity_per_s is None
    assert changed.undo().scenario.events == changed.scenario.events
    assert changed.undo().undo().scenario == SCENARIO
    assert changed.undo().redo().scenario == changed.scenario


def test_undo_of_nothing_is_nothing() -> None:
    assert DRAFT.undo() is DRAFT
    assert DRAFT.redo() is DRAFT


def test_a_change_after_undo_forgets_what_was_undone() -> None:
    assert DRAFT.then([Leave("c1-uuid")]).undo().then([Leave("c2-uuid")]).undone == ()


@given(scenarios())
def test_a_link_holds_the_whole_scenario(scenario: Scenario) -> None:
    packed = link_codec.pack(scenario)
    assert packed is None or link_codec.unpack(packed) == load_scenario(dump(scenario))


def test_bundled_examples_fit_into_links() -> None:
    assert all(link_codec.pack(load_scenario(path)) for path in examples().values())


@pytest.mark.parametrize("text", ["", "junk", "&%$", "é", "AAAA", "eJw" * 40])
def test_a_broken_link_is_reported(text: str) -> None:
    with pytest.raises(AssignorError):
        link_codec.unpack(text)


def test_a_truncated_link_is_reported() -> None:
    packed = link_codec.pack(SCENARIO)
    assert packed is not None
    with pytest.raises(AssignorError, match="cannot be read"):
        link_codec.unpack(packed[: len(packed) // 2])


def test_who_and_what_is_there_at_the_end() -> None:
    draft = DRAFT.then([Join(Member("c3", topics=("t",))), Leave("c1-uuid"), Crash("nobody")])
    draft = draft.then([CreateTopic(Topic("new", 2)), AddPartitions("new", 5), DeleteTopic("t")])
    assert [member.member_id for member in members_at_end(draft.scenario)] == ["c2-uuid", "c3"]
    assert topics_at_end(draft.scenario) == {"new": 5}


def test_members_are_called_by_instance_then_client_then_id() -> None:
    members = [Member("id-1", instance_id="i"), Member("id-2", client_id="c"), Member("id-3"), Member("id-3")]
    assert member_names(members) == {"id-1": "i", "id-2": "c", "id-3": "id-3"}


def test_members_of_one_name_have_the_end_of_their_id_and_the_id_where_that_is_the_same() -> None:
    members = [Member(id_, client_id="app") for id_ in ("app-0a1b", "app-ffff", "other-ffff")]
    assert member_names(members) == {"app-0a1b": "app…0a1b", "app-ffff": "app-ffff", "other-ffff": "other-ffff"}


def named(*client_ids: str) -> list[str]:
    members = [Member(f"id-{at}", client_id=client_id) for at, client_id in enumerate(client_ids)]
    return list(member_names(members).values())


def test_long_names_lose_the_words_that_all_members_share() -> None:
    assert named("warehouse-loader-1", "warehouse-loader-2") == ["loader-1", "loader-2"]
    assert named("prod.billing.charge", "prod.billing.refund") == ["charge", "refund"]
    assert named("warehouse-loader-1", "warehouse-12") == ["warehouse-loader-1", "warehouse-12"]
    assert named("warehouse-loader-1") == ["warehouse-loader-1"]
    assert named("app-one", "app-two") == ["app-one", "app-two"]


def test_joins_together_are_one_rebalance_and_removing_them_leaves_nothing() -> None:
    joins = [Join(Member(name, topics=("t",))) for name in ("c3", "c4")]
    its = DRAFT.then(joining_together(joins))
    events, start = its.scenario.events, len(DRAFT.scenario.events)
    assert len({event.at_ms for event in events[start:]}) == 1
    assert brackets(events) == [start, start + 3]
    assert [is_together(events, start + at) for at in (1, 2)] == [True, True]
    fewer = its.without(start + 1)
    assert [event.action for event in fewer.scenario.events[start:]][1] == joins[1]
    assert fewer.without(start + 1).scenario.events == DRAFT.scenario.events
    assert joining_together(joins[:1]) == joins[:1]


def test_a_coordinator_that_is_unavailable_for_a_time_holds_nothing_together() -> None:
    events = (Event(1, CoordinatorDown()), Event(2, Leave("c1-uuid")), Event(3, CoordinatorUp()))
    assert brackets(events) == []
    assert not is_together(events, 1)
