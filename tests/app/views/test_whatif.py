"""The What-if page: where it starts, what its events come to, what it refuses, and what is in the URL."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import assignors
from app.cli.shared.difference import lines
from app.pages import BY_NAME
from app.plugins import worked_examples
from app.server.settings import Settings
from app.server.source import Source
from app.server.workers import pool
from app.ui import state
from app.ui.groups import predictions
from app.ui.labs import link_codec
from app.ui.scenario import draft, draft_state
from app.views.whatif import editor, first_members, start
from assignors.model import Member, Topic
from assignors.scenario import examples, load_scenario
from assignors.whatif.events import (
    AddPartitions,
    ChangeRack,
    CreateTopic,
    DeleteTopic,
    Event,
    Join,
    Leave,
    Scenario,
    Subscribe,
)
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import page_text
from tests.support.known import the
from tests.support.scenes import join, scenario


def table(page: AppTest) -> pd.DataFrame:
    return page.dataframe[0].value.set_index("assignor")


def click(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def test_page_without_a_start_says_what_it_is_for(open_page: Open) -> None:
    page = open_page("whatif")
    assert not page.exception
    assert page.title[0].value == BY_NAME["whatif"].question
    shown = page.dataframe[0].value.set_index("example")
    assert list(shown.index) == list(examples())
    assert tuple(shown.loc["5000-partitions"][["members", "partitions", "events"]]) == (50, 5000, 4)


def test_the_conclusion_is_shown_before_any_widget_or_table(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = open_page("whatif", example="checkout-scales-out")

    def fails(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(start, "source", fails)
    begun = open_page("whatif", example="checkout-scales-out")
    assert begun.exception
    assert begun.title[0].value == whole.title[0].value
    assert not [*begun.selectbox, *begun.dataframe]


@pytest.mark.parametrize("name", [name for name in examples() if not name.startswith("100000")])
def test_every_example_opens_with_all_assignors_that_fit(open_page: Open, name: Any) -> None:
    page = open_page("whatif", example=name)
    assert not page.exception
    own = load_scenario(examples()[name]).assignor
    compared = table(page)
    assert compared.index[0] == own
    assert {"range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range"} <= set(compared.index)


def test_hand_over_of_two_partitions(open_page: Open) -> None:
    page = open_page("whatif", example="cooperative-hand-over")
    assert page.title[0].value == "`c3` joins: 2 of 6 partitions move, no idle members"
    row = table(page).loc["cooperative-sticky"]
    assert (row["moved"], row["paused"], row["rebalances"], row["idle"]) == (2, 2, 2, 0)


@pytest.mark.parametrize(
    ("name", "choice", "reason"),
    [
        ("hot-member", "Change to `server-range`", "drains in 3 min 1 s (otherwise never)"),
        ("5000-partitions", "Change to `cooperative-sticky`", "298 partitions paused instead of 20,000"),
        (
            "sticky-from-range",
            "Change to `cooperative-sticky`",
            "The change itself, once: 4 moves, 7 partitions paused",
        ),
    ],
)
def test_the_recommendation_names_the_assignor_and_the_reason(
    open_page: Open, name: str, choice: str, reason: str
) -> None:
    shown = page_text(open_page("whatif", example=name))
    assert choice in shown
    assert reason in shown


def test_a_group_without_members_has_no_recommendation(open_page: Open) -> None:
    its = replace(load_scenario(examples()["cooperative-hand-over"]), events=(), members=())
    assert "rather than change to" not in page_text(open_page("whatif", scenario=link_codec.pack(its)))


def test_a_live_group_without_events_is_as_it_is(open_page: Open) -> None:
    page = open_page("whatif", group="orders-enrichment")
    assert page.title[0].value.startswith("12 partitions on 4 members")
    assert not page.exception


def test_add_undo_and_redo_of_a_member(open_page: Open) -> None:
    page = open_page("whatif", group="orders-enrichment")
    before = page.title[0].value
    page = click(page, "Add")
    after = page.title[0].value
    assert after.startswith("`enrich-4` joins: ")
    assert page.query_params["scenario"]
    assert the(Join, link_codec.unpack(page.query_params["scenario"]).events[0].action).member.member_id == "enrich-4"
    page = click(page, "Undo")
    assert page.title[0].value == before
    assert click(page, "Redo").title[0].value == after


def test_two_members_join_one_after_the_other_or_together(open_page: Open) -> None:
    page = open_page("whatif", example="cooperative-hand-over")
    page = click(click(page, "Clear").number_input(key="whatif_count").set_value(2).run(), "Add")
    its = link_codec.unpack(page.query_params["scenario"])
    assert [event.at_ms for event in its.events] == [30_000, 60_000]
    one_by_one = table(page).loc["range"]["rebalances"]
    page = click(page, "Undo")
    page = click(page.button_group(key="whatif_together").set_value("together").run(), "Add")
    assert not page.exception
    assert page_text(page).count("in one rebalance with the others") == 2
    assert "2 events" in page_text(page)
    assert (one_by_one, table(page).loc["range"]["rebalances"]) == (3, 2)  # with the change to range


def test_a_link_opens_the_same_what_if(open_page: Open) -> None:
    page = click(open_page("whatif", group="orders-enrichment"), "Add")
    again = open_page("whatif", scenario=page.query_params["scenario"])
    assert again.title[0].value == page.title[0].value


def test_another_assignor_and_step_are_in_the_url(open_page: Open) -> None:
    page = open_page("whatif", example="cooperative-hand-over", assignor="range", gen="1")
    assert page.title[0].value.startswith("`c3` joins, with `range`: ")
    assert "Generation 8: all members change to range" in page_text(page).replace("\\", "")


@pytest.mark.parametrize("step", ["99", "-1", "x", "1e9", "٣"])
def test_a_step_that_is_not_there_is_the_nearest_or_the_default(open_page: Open, step: str) -> None:
    assert not open_page("whatif", example="cooperative-hand-over", gen=step).exception


@pytest.mark.parametrize(
    ("query", "reported"),
    [
        ({"example": "nonsense"}, "There is no example 'nonsense'"),
        ({"scenario": "junk"}, "cannot be read"),
        ({"group": "no-such-group"}, "is not on this cluster"),
    ],
)
def test_a_start_that_is_not_there_is_reported(open_page: Open, query: dict[str, str], reported: str) -> None:
    page = open_page("whatif", **query)
    assert not page.exception
    assert reported in page_text(page)


def test_a_group_that_changes_meanwhile_is_reported(open_page: Open, feed: feeds.HandFeed) -> None:
    page = open_page("whatif", group="orders-enrichment")
    gone = [spec for spec in synthetic.specs() if spec.group_id != "orders-enrichment"]
    feed.report = feeds.report(gone, number=2, at_ms=state.now_ms())
    page = page.run()
    assert not page.exception
    assert "`orders-enrichment` no longer exists" in page_text(page)


def test_a_changed_group_says_how_it_changed_and_can_be_started_from_again(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    page = click(open_page("whatif", group="orders-enrichment"), "Add")
    now = [
        replace(spec, members=spec.members[:3]) if spec.group_id == "orders-enrichment" else spec
        for spec in synthetic.specs()
    ]
    feed.report = feeds.report(now, number=2, at_ms=state.now_ms())
    page = page.run()
    reported = "The group has changed"
    assert reported in page_text(page)
    assert "enrich\\-static\\-3 timed out or was removed" in page_text(page)
    page = click(page, "Start again")
    assert not page.exception
    assert reported not in page_text(page)
    assert "scenario" not in page.query_params
    assert page.title[0].value.startswith("12 partitions on 3 members")


@pytest.mark.parametrize("page_name", ["whatif", "generations"])
def test_the_topic_that_is_looked_at_is_in_the_url(open_page: Open, page_name: str) -> None:
    page = open_page(page_name, example="rack-aware", topic="refunds")
    assert not page.exception
    assert page.selectbox(key="movement_topic").value == "refunds"
    page = page.selectbox(key="movement_topic").select("orders").run()
    assert page.query_params["topic"] == "orders"
    page = page.selectbox(key="movement_topic").select("All topics").run()
    assert "topic" not in page.query_params


def test_a_topic_in_the_url_that_is_not_there_is_all_of_them(open_page: Open) -> None:
    page = open_page("whatif", example="rack-aware", topic="nonsense")
    assert not page.exception
    assert page.selectbox(key="movement_topic").value == "All topics"


def test_what_the_brokers_plans_rest_on_stands_under_the_table(open_page: Open) -> None:
    page = open_page("whatif", example="cooperative-hand-over")
    assert "`uniform`, `server-range`: the topic ids are unknown" in page_text(page)
    assert "older than 21" in page_text(page)


def test_topic_ids_that_are_known_are_marked_as_known(open_page: Open) -> None:
    its = load_scenario(examples()["cooperative-hand-over"])
    known = {name: replace(topic, topic_id="q6lCBgVqOKRKTHAPNzudtg") for name, topic in its.topics.items()}
    page = open_page("whatif", scenario=link_codec.pack(replace(its, topics=known)))
    assert "`uniform`, `server-range`: computed with the topics' ids" in page_text(page)
    created = Event(90_000, CreateTopic(Topic("new", 1)))
    more = replace(its, topics=known, events=(*its.events, created))
    assert "`server-range`: 1 of 2 topic ids is unknown" in page_text(
        open_page("whatif", scenario=link_codec.pack(more))
    )


def test_without_a_cluster_examples_still_work(open_page: Open) -> None:
    its = feeds.source(demo=feeds.HandFeed())
    assert not open_page("whatif", its=its, example="rack-aware").exception


def with_plugins(*references: str) -> Source:
    return replace(feeds.source(demo=feeds.HandFeed()), settings=Settings(plugins=references))


@pytest.mark.process
def test_worked_examples_stand_beside_kafkas_assignors(open_page: Open) -> None:
    page = open_page("whatif", its=with_plugins(*worked_examples()), example="cooperative-hand-over")
    assert not page.exception
    assert set(table(page).index) == {*assignors.names(), "Weighted", "Consistent"} - {"share-simple"}
    assert table(page).loc["Weighted", "moved"] == 2


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("Raises", "raised ZeroDivisionError"),
        ("Forgets", "orders-0, orders-1, orders-2 and 3 more have no owner"),
        ("Doubles", "orders-0 goes to both"),
        ("Absent", "cannot be loaded"),
    ],
)
def test_a_plugin_that_fails_is_reported_and_the_others_stand(open_page: Open, name: str, reported: str) -> None:
    its = with_plugins(f"tests.app.bad_plugins:{name}")
    page = open_page("whatif", its=its, example="cooperative-hand-over")
    assert not page.exception
    assert f"`{name}` cannot compute an assignment:" in page_text(page)
    assert reported in page_text(page).replace("\\", "")
    assert table(page).loc["range", "moved"] == 3


def test_an_event_on_a_member_that_never_came_is_reported_once_and_can_be_undone(open_page: Open) -> None:
    scenario = load_scenario(examples()["cooperative-hand-over"])
    left = replace(scenario, events=(*scenario.events, Event(60_000, Leave("c3"))))
    page = open_page("whatif", scenario=link_codec.pack(left))
    before = page.title[0].value
    page = page.button(key="whatif_drop_0").click().run()
    assert not page.exception
    assert page.title[0].value == "`cooperative-sticky` cannot compute an assignment"
    reason = "No assignor can compute an assignment:] Event 1 at 60 s (leave c3): No member is named 'c3'."
    assert page_text(page).replace("\\", "").count(reason) == 1
    assert click(page, "Undo").title[0].value == before


def test_a_member_that_left_and_a_topic_that_is_gone_are_not_offered(open_page: Open) -> None:
    scenario = load_scenario(examples()["cooperative-hand-over"])
    events = (Event(1000, Leave("c1")), Event(2000, CreateTopic(Topic("new", 3))), Event(3000, DeleteTopic("orders")))
    page = open_page("whatif", scenario=link_codec.pack(replace(scenario, events=events)))
    page = page.selectbox(key="whatif_what").select("A member leaves").run()
    assert page.selectbox(key="whatif_member").options == ["c2"]
    page = page.selectbox(key="whatif_what").select("A topic grows").run()
    assert page.selectbox(key="whatif_topic").options == ["new"]


def test_long_and_odd_names_are_cut_and_stay_text(open_page: Open) -> None:
    long, odd = "m" * 249, "**b** <i>`x`</i> $a$ :red[y] ünï"
    members = tuple(Member(name, topics=("orders",)) for name in (long, odd))
    scenario = Scenario("s", "range", {"orders": Topic("orders", 4)}, members, (Event(60_000, Leave(long)),))
    page = open_page("whatif", its=feeds.source(demo=feeds.HandFeed()), scenario=link_codec.pack(scenario))
    assert not page.exception
    cut = "m" * 15 + "…" + "m" * 16
    assert page.title[0].value.startswith(f"`{cut}` leaves: ")
    assert f"Generation 2: {cut} leaves; " in page_text(page).replace("\\", "")


def test_members_of_one_client_id_are_distinguished_by_the_end_of_their_id(open_page: Open) -> None:
    members = tuple(Member(f"app-{n}", client_id="app", topics=("orders",)) for n in ("aaaa1", "bbbb2"))
    scenario = Scenario("s", "range", {"orders": Topic("orders", 4)}, members, (Event(60_000, Leave("app-bbbb2")),))
    page = open_page("whatif", scenario=link_codec.pack(scenario))
    assert page.title[0].value.startswith("`app…bbb2` leaves: ")
    assert "Generation 2: app…bbb2 leaves; " in page_text(page).replace("\\", "")


def test_a_lag_that_never_drains_names_who_cannot_keep_up(open_page: Open) -> None:
    page = open_page("whatif", example="hot-member")
    assert page.title[0].value.endswith("the lag never drains: `small-2` cannot keep up")


def test_an_unknown_drain_time_has_its_reason(open_page: Open) -> None:
    scenario = load_scenario(examples()["hot-member"])
    page = open_page(
        "whatif", scenario=link_codec.pack(replace(scenario, loads=replace(scenario.loads, produced_per_s={})))
    )
    assert "Drain time unknown: the produce rate of " in page_text(page)


def test_an_edited_example_leaves_its_name_in_the_url_behind(open_page: Open) -> None:
    page = click(open_page("whatif", example="cooperative-hand-over"), "Add")
    assert "example" not in page.query_params
    assert the(Join, link_codec.unpack(page.query_params["scenario"]).events[-1].action).member.member_id == "c4"


def test_a_number_and_the_click_that_follow_each_other_at_once_count_both(open_page: Open) -> None:
    """The browser sends them together when the click comes before the page has answered to the number."""
    page = open_page("whatif", example="cooperative-hand-over")
    before = len(link_codec.unpack(click(page, "Add").query_params["scenario"]).events)
    page = open_page("whatif", example="cooperative-hand-over")
    page.number_input(key="whatif_count").set_value(2)
    page = click(page, "Add")
    assert len(link_codec.unpack(page.query_params["scenario"]).events) == before + 1


def test_a_field_that_forbids_it_and_the_click_that_follow_each_other_at_once_add_nothing(open_page: Open) -> None:
    """When the browser sent the click, the button was enabled."""
    page = open_page("whatif", example="cooperative-hand-over")
    page = page.selectbox(key="whatif_what").select("A topic is created").run()
    page = page.text_input(key="whatif_created").input("new").run()
    page.text_input(key="whatif_created").input("orders")
    page = click(page, "Add")
    assert "scenario" not in page.query_params


def test_a_click_on_add_outlives_the_run_that_it_started(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page("whatif", example="cooperative-hand-over")
    joins, interrupted = editor.FORMS["Members join"], list[bool]()

    def refreshed_once(its: draft.Draft) -> editor.Made:
        if not interrupted:
            interrupted.append(True)
            st.rerun()
        return joins(its)

    monkeypatch.setitem(editor.FORMS, "Members join", refreshed_once)
    page = click(page, "Add")
    assert interrupted
    assert "scenario" in page.query_params


def test_events_stop_at_a_thousand(open_page: Open) -> None:
    scenario = load_scenario(examples()["cooperative-hand-over"])
    events = tuple(Event(0, ChangeRack("c1", "r")) for _ in range(draft.MOST_EVENTS))
    page = open_page("whatif", scenario=link_codec.pack(replace(scenario, events=events)))
    assert not page.exception
    assert "993 to 1,000 of 1,000" in page_text(page)
    assert page.button(key="whatif_add").disabled


def test_every_event_of_many_can_be_seen_and_taken_out(open_page: Open) -> None:
    scenario = load_scenario(examples()["cooperative-hand-over"])
    events = tuple(Event(1000 * at, ChangeRack("c1", f"r{at}")) for at in range(1, 21))
    page = open_page("whatif", scenario=link_codec.pack(replace(scenario, events=events)))
    assert page.button(key="whatif_later").disabled
    page = page.button(key="whatif_earlier").click().run().button(key="whatif_earlier").click().run()
    assert "1 to 4 of 20" in page_text(page)
    assert page.button(key="whatif_earlier").disabled
    page = page.button(key="whatif_drop_0").click().run()
    assert "1 to 3 of 19" in page_text(page)
    assert link_codec.unpack(page.query_params["scenario"]).events == events[1:]
    assert "4 to 11 of 19" in page_text(page.button(key="whatif_later").click().run())


def test_an_event_that_is_added_is_seen_among_many(open_page: Open) -> None:
    scenario = load_scenario(examples()["cooperative-hand-over"])
    events = tuple(Event(1000 * at, ChangeRack("c1", f"r{at}")) for at in range(1, 21))
    page = open_page("whatif", scenario=link_codec.pack(replace(scenario, events=events)))
    page = click(page.button(key="whatif_earlier").click().run(), "Add")
    assert "14 to 21 of 21" in page_text(page)


def test_what_a_member_can_process_is_taken_back_by_undo(open_page: Open) -> None:
    its = load_scenario(examples()["hot-member"])
    loads = replace(its.loads, capacity_per_s={}, default_capacity_per_s=0.5)
    page = open_page("whatif", scenario=link_codec.pack(replace(its, loads=loads)))

    def field() -> Any:
        return next(box for box in page.number_input if "Capacity" in box.label)

    before, drains = field().value, page.title[0].value
    page = field().set_value(100_000.0).run()
    assert (field().value, page.title[0].value == drains) == (100_000.0, False)
    page = click(page, "Undo")
    assert not page.exception
    assert (field().value, page.title[0].value) == (before, drains)
    assert (click(page, "Redo"), field().value)[1] == 100_000.0


def test_a_topic_that_is_deleted_leaves_the_subscription_of_newcomers(open_page: Open) -> None:
    page = open_page("whatif", example="rack-aware")
    assert page.multiselect[0].value == ["orders", "refunds"]
    page = page.selectbox(key="whatif_what").select("A topic is deleted").run()
    page = click(page.selectbox(key="whatif_topic").select("refunds").run(), "Add")
    page = page.selectbox(key="whatif_what").select("Members join").run()
    assert not page.exception
    assert page.multiselect[0].value == ["orders"]


def test_capacity_of_a_live_group_says_over_what_time_it_was_seen(open_page: Open) -> None:
    page = open_page("whatif", group="orders-enrichment")
    reported = "the highest rate of a member that had records waiting, over 14 min 50 s: 120.0 records a second"
    assert reported in page_text(page).replace("\\", "")


def test_a_scenario_too_large_for_a_page_is_reported(open_page: Open) -> None:
    events = tuple(Event(at, AddPartitions("t", 100_000 + at)) for at in range(1, 30))
    scenario = Scenario("s", "range", {"t": Topic("t", 100_000)}, (Member("a", topics=("t",)),), events)
    page = open_page("whatif", scenario=link_codec.pack(scenario))
    assert not page.exception
    assert "too many for a page" in page_text(page)


def test_a_partition_that_moves_twice_is_two_moves_and_one_partition(open_page: Open) -> None:
    """Three partitions move when c joins, and back when it leaves."""
    its = scenario("range", "a b", join("c"), Leave("c"))
    page = open_page("whatif", scenario=link_codec.pack(its))
    assert "3 of 6 partitions move, 6 moves in 2 rebalances" in page.title[0].value
    row = table(page).loc["range"]
    assert (row["moved"], row["stayed"], row["rebalances"]) == (6, 6, 2)
    assert "4 moves instead of 6" in page_text(page)
    titles = [open_page("generations", scenario=link_codec.pack(its), gen=at).title[0].value for at in ("1", "2")]
    assert [one.partition("; ")[2] for one in titles] == ["3 of 6 partitions moved"] * 2
    printed = [line for made in assignors.fold(its) for line in lines(made)]
    assert sum("3 kept, 3 moved" in line for line in printed) == 2


NOTHING_READ = (Event(1, Subscribe("c1", ())), Event(60_000, Subscribe("c2", ())))
NOBODY_LEFT = (Event(1, Leave("c1")), Event(60_000, Leave("c2")))
NO_TOPIC = (Event(1, DeleteTopic("orders")),)
NOT_READ = (Event(1, CreateTopic(Topic("new", 1))),)


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"events": NOTHING_READ}, "6 of 6 partitions move, 2 members idle"),
        ({"events": NOBODY_LEFT}, "6 of 6 partitions move, 9 moves in 2 rebalances, no members left"),
        ({"events": NO_TOPIC}, "`orders` is deleted: none of 6 partitions move, 2 members idle"),
        ({"events": NOT_READ}, "`new` is created with 1 partition: no rebalance"),
        ({"events": (), "members": ()}, "This group has 6 partitions and no members: choose how many to start"),
        ({"events": (), "members": (), "topics": {}}, "This group has no members: add one to see its partitions"),
    ],
)
def test_groups_with_nothing_left(open_page: Open, changes: Any, reported: str) -> None:
    scenario = replace(load_scenario(examples()["cooperative-hand-over"]), **changes)
    page = open_page("whatif", scenario=link_codec.pack(scenario))
    assert not page.exception
    assert page.title[0].value.endswith(reported)


REFUSED = {"gdpr-erasure-worker", "returns-processor", "streams-order-totals"}
"""Not authorized, in mid-rebalance, and one that plans tasks."""


@pytest.mark.parametrize("group", [spec.group_id for spec in synthetic.specs()])
def test_every_live_group_opens_or_says_why_not(open_page: Open, group: Any) -> None:
    page = open_page("whatif", group=group)
    assert not page.exception
    assert ("The scenario cannot be loaded" in page_text(page)) == (group in REFUSED)


@pytest.mark.parametrize("name", ["ünï", "a/b", "..", "with blank"])
def test_a_topic_that_kafka_would_not_take_cannot_be_created(open_page: Open, name: str) -> None:
    page = open_page("whatif", example="cooperative-hand-over")
    page = page.selectbox(key="whatif_what").select("A topic is created").run()
    page = page.text_input(key="whatif_created").input(name).run()
    assert page.button(key="whatif_add").disabled
    assert "A topic name consists of ASCII letters" in page_text(page)
    assert not page.text_input(key="whatif_created").input("a.b-c_1").run().button(key="whatif_add").disabled


def test_each_form_works_on_a_group_without_members_and_topics(open_page: Open) -> None:
    empty = Scenario("s", "range", {}, ())
    page = open_page("whatif", scenario=link_codec.pack(empty))
    for form in page.selectbox(key="whatif_what").options:
        page = page.selectbox(key="whatif_what").select(form).run()
        assert not page.exception
        assert page.button(key="whatif_add").disabled == (form not in {"Members join", "The assignor changes"})


def test_a_group_without_members_shows_what_starting_some_would_do(open_page: Open) -> None:
    page = open_page("whatif", group="dlq-replayer")
    assert not page.exception
    assert page.title[0].value == "This group has 1 partition and no members: choose how many to start"
    (rows,) = page.dataframe
    assert rows.value.to_dict("records") == [{"members": "1 member", "each": "1", "idle": 0, "most_lag": 18_211}]
    assert page.multiselect[0].value == ["dlq"]


TWO_TOPICS = Scenario("s", "range", {"a": Topic("a", 3), "b": Topic("b", 9)}, ())


def test_members_that_start_share_the_partitions_of_all_topics(open_page: Open) -> None:
    page = open_page("whatif", scenario=link_codec.pack(TWO_TOPICS))
    rows = page.dataframe[0].value.set_index("members")
    assert list(rows["each"]) == ["12", "5 to 7", "4", "2 to 4", "1 to 3", "1 to 3", "1 to 3", "1 to 3", "0 to 2"]
    assert rows["idle"].to_dict()["12 members"] == 3


def test_members_that_are_started_join_in_one_rebalance() -> None:
    begun = first_members.started(draft.Draft("k", "t", TWO_TOPICS), 3)
    assert [generation.event for generation in assignors.fold(begun.scenario)][1:] == [
        "new-1 joins; new-2 joins; new-3 joins"
    ]
    assert not first_members.are_missing(begun)


def test_a_what_if_of_a_live_group_is_kept_as_a_prediction(open_page: Open) -> None:
    page = open_page("whatif", group="orders-enrichment")
    assert predictions._predictions().of("demo", "orders-enrichment") == []
    click(page, "Add")
    (kept,) = predictions._predictions().of("demo", "orders-enrichment")
    assert (kept.source, kept.generations[0].event) == ("What if", "initial state")
    assert kept.generations[1].event == "enrich-4 joins"


@pytest.mark.process
def test_workers_come_to_the_same_as_this_process(open_page: Open, workers: pool.WorkerPool) -> None:
    page = open_page("whatif", example="checkout-scales-out")
    pool.install(None)
    state.clear()
    here = open_page("whatif", example="checkout-scales-out")
    assert page_text(page) == page_text(here)
    assert page.dataframe[0].value.equals(here.dataframe[0].value)


@pytest.mark.process
@pytest.mark.usefixtures("workers")
def test_a_what_if_without_a_result_in_time_says_so_and_can_be_changed(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(draft_state, "computed", partial(pool.computed, deadline_s=0.001))
        page = open_page("whatif", example="checkout-scales-out")
    assert not page.exception
    assert "so the computation was stopped" in page_text(page)
    assert "Remove events, or use" in page_text(page)
    page.query_params["example"] = "hot-member"
    assert "was stopped" not in page_text(page.run())


def test_a_what_if_that_finds_no_free_worker_is_computed_with_the_next_drawing(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_function: object) -> object:
        raise pool.Busy("The server already has 3 computations running", "Try again in a moment")

    with monkeypatch.context() as crowded:
        crowded.setattr(draft_state, "computed", busy)
        page = open_page("whatif", example="checkout-scales-out")
    assert "The server already has 3 computations running" in page_text(page)
    assert "already has 3 computations" not in page_text(page.run())
