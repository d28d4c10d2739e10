"""The Generations page: observed ones of a live group, computed ones of a scenario, and neither."""

import assignors
from assignors.scenario import examples, load_scenario
from lag.observed import HOW_OBSERVED
from tests.app.reading import said

GROUP = "orders-enrichment"


def seen():
    return assignors.fold(load_scenario(examples()["cooperative-hand-over"]))


def title(page):
    return page.header[0].value.replace("\\", "")


def moves(page):
    return page.dataframe[-1].value


def test_page_without_a_start_says_what_it_is_for(open_page):
    page = open_page("generations")
    assert not page.exception
    assert page.header[0].value == "What happened to the group, step by step?"


def test_a_group_without_a_rebalance_says_how_one_comes_about(open_page):
    page = open_page("generations", group=GROUP)
    assert page.header[0].value == f"No rebalance of `{GROUP}` has been seen yet"


def test_a_live_group_shows_the_last_generation_and_how_it_is_known(open_page, feed):
    feed.seen[GROUP] = seen()
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert title(page).startswith("Generation 9: c3 joins (rebalance 2); ")
    assert f"Observed] :gray[3 generations of `{GROUP}`. {HOW_OBSERVED}" in said(page)
    assert list(moves(page)["to"]) == ["c3", "c3"]


def test_a_link_goes_to_one_generation(open_page, feed):
    feed.seen[GROUP] = seen()
    page = open_page("generations", group=GROUP, gen="1")
    assert title(page).startswith("Generation 8: c3 joins; ")
    assert list(moves(page)["change"]) == ["revoked", "revoked"]


def test_previous_and_next_walk_and_stop_at_the_ends(open_page, feed):
    feed.seen[GROUP] = seen()
    page = open_page("generations", group=GROUP)
    assert next(b for b in page.button if b.label == "Next").disabled
    page = next(b for b in page.button if b.label == "Previous").click().run()
    assert title(page).startswith("Generation 8: ")
    page = next(b for b in page.button if b.label == "Previous").click().run()
    assert title(page).startswith("Generation 7: as it is")
    assert next(b for b in page.button if b.label == "Previous").disabled


def test_a_scenario_is_computed_and_says_so(open_page):
    page = open_page("generations", example="sticky-after-a-leave")
    assert not page.exception
    assert "Computed] :gray[3 generations with `sticky` from the scenario `sticky after a leave`; none" in said(page)


def test_an_assignor_that_cannot_plan_is_told(open_page):
    page = open_page("generations", example="sticky-after-a-leave", assignor="nonsense")
    assert not page.exception
    assert "No assignor is named 'nonsense'" in said(page)
