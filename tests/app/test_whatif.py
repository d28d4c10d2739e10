"""The What-if page: where it starts, what its events come to, what it refuses, and what is in the URL."""

from dataclasses import replace

import pytest

import assignors
from app import links, state
from app.plugins import worked_examples
from app.settings import Settings
from assignors.scenario import examples, load_scenario
from tests.app import feeds, synthetic
from tests.app.reading import said


def table(page):
    return page.dataframe[0].value.set_index("assignor")


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def test_page_without_a_start_says_what_it_is_for(open_page):
    page = open_page("whatif")
    assert not page.exception
    assert page.header[0].value == "What moves, who idles, how fast does the lag drain?"


@pytest.mark.parametrize("name", [name for name in examples() if not name.startswith("100000")])
def test_every_example_opens_with_all_assignors_that_fit(open_page, name):
    page = open_page("whatif", example=name)
    assert not page.exception
    own = load_scenario(examples()[name]).assignor
    compared = table(page)
    assert compared.index[0] == own
    assert {"range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range"} <= set(compared.index)


def test_hand_over_of_two_partitions(open_page):
    page = open_page("whatif", example="cooperative-hand-over")
    assert page.header[0].value == "`c3` joins: 2 of 6 partitions move, nobody idles"
    row = table(page).loc["cooperative-sticky"]
    assert (row["moved"], row["paused"], row["rebalances"], row["idle"]) == (2, 2, 2, 0)


def test_a_live_group_without_events_is_as_it_is(open_page):
    page = open_page("whatif", group="orders-enrichment")
    assert page.header[0].value.startswith("12 partitions on 4 members")
    assert not page.exception


def test_add_undo_and_redo_of_a_member(open_page):
    page = open_page("whatif", group="orders-enrichment")
    before = page.header[0].value
    page = click(page, "Add")
    after = page.header[0].value
    assert after.startswith("`enrich-4` joins: ")
    assert page.query_params["scenario"]
    assert links.unpack(page.query_params["scenario"]).events[0].action.member.member_id == "enrich-4"
    page = click(page, "Undo")
    assert page.header[0].value == before
    assert click(page, "Redo").header[0].value == after


def test_a_link_opens_the_same_what_if(open_page):
    page = click(open_page("whatif", group="orders-enrichment"), "Add")
    again = open_page("whatif", scenario=page.query_params["scenario"])
    assert again.header[0].value == page.header[0].value


def test_another_assignor_and_step_are_in_the_url(open_page):
    page = open_page("whatif", example="cooperative-hand-over", assignor="range", gen="1")
    assert page.header[0].value.startswith("`c3` joins: ")
    assert "Generation 8: all members change to range" in said(page).replace("\\", "")


@pytest.mark.parametrize("step", ["99", "-1", "x", "1e9", "٣"])
def test_a_step_that_is_not_there_is_the_nearest_or_the_default(open_page, step):
    assert not open_page("whatif", example="cooperative-hand-over", gen=step).exception


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"example": "nonsense"}, "There is no example 'nonsense'"),
        ({"scenario": "junk"}, "cannot be read"),
        ({"group": "no-such-group"}, "is not on this cluster"),
    ],
)
def test_a_start_that_is_not_there_is_told(open_page, query, told):
    page = open_page("whatif", **query)
    assert not page.exception
    assert told in said(page)


def test_a_group_that_changes_underneath_is_told(open_page, feed):
    page = open_page("whatif", group="orders-enrichment")
    gone = [spec for spec in synthetic.specs() if spec.group_id != "orders-enrichment"]
    feed.report = feeds.report(gone, number=2, at_ms=state.now_ms())
    page = page.run()
    assert not page.exception
    assert "`orders-enrichment` is gone" in said(page)


def test_without_a_cluster_examples_still_work(open_page):
    its = feeds.source(demo=feeds.HandFeed())
    assert not open_page("whatif", its=its, example="rack-aware").exception


def with_plugins(*references):
    return replace(feeds.source(demo=feeds.HandFeed()), settings=Settings(plugins=references))


def test_worked_examples_stand_beside_kafkas_assignors(open_page):
    page = open_page("whatif", its=with_plugins(*worked_examples()), example="cooperative-hand-over")
    assert not page.exception
    assert set(table(page).index) == {*assignors.names(), "Weighted", "Consistent"} - {"share-simple"}
    assert table(page).loc["Weighted", "moved"] == 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Raises", "raised ZeroDivisionError"),
        ("Forgets", "orders-0, orders-1, orders-2 and 3 more have no owner"),
        ("Doubles", "orders-0 goes to both"),
        ("Absent", "cannot be loaded"),
    ],
)
def test_a_plugin_that_fails_is_told_and_the_others_stand(open_page, name, told):
    its = with_plugins(f"tests.app.bad_plugins:{name}")
    page = open_page("whatif", its=its, example="cooperative-hand-over")
    assert not page.exception
    assert told in table(page).loc[name, "note"]
    assert table(page).loc["range", "moved"] == 3
