"""The Generations page: those of a live group, recorded or inferred, those of a scenario, and neither."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pandas as pd
from streamlit.testing.v1 import AppTest

import assignors
from app.server.source import Source
from app.ui.pages import BY_NAME
from assignors.scenario import examples, load_scenario
from lag.generations.group_generations import SWITCHED_OFF
from lag.generations.recorded import Origin, RecordedGeneration, Recording
from lag.generations.recorded.history import stored_generations
from lag.history.store import History
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.reading import said
from tests.lag.generations.recorded import test_classic, test_consumer
from tests.lag.generations.recorded.events import recorded
from tests.lag.generations.recorded.test_history import keep
from tests.lag.history.rows import NOON

GROUP = "orders-enrichment"


def inferred() -> Recording:
    made = assignors.fold(load_scenario(examples()["cooperative-hand-over"]))
    return Recording(Origin.INFERRED, [RecordedGeneration(one) for one in made], SWITCHED_OFF)


def title(page: AppTest) -> str:
    return page.header[0].value.replace("\\", "")


def moves(page: AppTest) -> pd.DataFrame:
    return page.dataframe[-1].value


def test_page_without_a_start_says_what_it_is_for(open_page: Open) -> None:
    page = open_page("generations")
    assert not page.exception
    assert page.header[0].value == BY_NAME["generations"].question


def test_a_group_without_a_rebalance_says_how_one_comes_about(open_page: Open) -> None:
    page = open_page("generations", group=GROUP)
    assert page.header[0].value == f"No rebalance of `{GROUP}` yet"


def test_a_live_group_shows_the_last_generation_and_how_it_is_known(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert title(page).startswith("Generation 9: c3 joins (rebalance 2); ")
    told = said(page).replace("\\", "")
    assert (
        f"Inferred] :gray[3 generations of `{GROUP}`, inferred from polls, which miss what happens in between" in told
    )
    assert "Not recorded:] following it is switched off. Start groupscope without --no-follow" in told
    assert list(moves(page)["to"]) == ["c3", "c3"]


def test_a_recorded_generation_says_when_it_was_and_what_its_plan_took(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(test_classic.FIRST, test_classic.SECOND))
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert title(page) == "Generation 2: c-b joined; 1 of 3 partitions moved"
    told = said(page).replace("\\", "")
    assert f"Recorded] :gray[3 generations of `{GROUP}`, recorded in `__consumer_offsets`" in told
    assert "01:00:02 · assigned 12 ms after all members had joined" in told
    assert "Not recorded" not in told


def test_what_is_older_than_the_live_tail_comes_out_of_the_history(
    open_page: Open, feed: feeds.HandFeed, demo_source: Source, tmp_path: Path
) -> None:
    """Generations 7 and 8 stand in the tables; the tail began with 8 and saw 9."""
    history = History(tmp_path / "history")
    keep(history, 7, 8, 9)
    live = stored_generations(history, "c1", "billing", {}, NOON + timedelta(seconds=8), NOON + timedelta(days=1))
    feed.seen["billing"] = Recording(Origin.RECORDED, live)
    feed.report.snapshot = replace(feed.report.snapshot, cluster_id="c1", topics={})
    settings = demo_source.settings.model_copy(update={"history": history.root})
    page = open_page("generations", its=replace(demo_source, settings=settings), group="billing")
    assert not page.exception
    assert [one.generation.number for one in live] == [8, 9]
    assert "3 generations of `billing`, recorded in" in said(page).replace("\\", "")
    assert title(page).startswith("Generation 9: ")


def test_a_history_that_cannot_be_read_does_not_hide_what_is_live(
    open_page: Open, feed: feeds.HandFeed, demo_source: Source, tmp_path: Path
) -> None:
    (tmp_path / "group_events" / "_delta_log").mkdir(parents=True)
    (tmp_path / "group_events" / "_delta_log" / "00000000000000000000.json").write_text("damaged")
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(test_classic.FIRST, test_classic.SECOND))
    feed.report.snapshot = replace(feed.report.snapshot, cluster_id="c1", topics={})
    settings = demo_source.settings.model_copy(update={"history": str(tmp_path)})
    page = open_page("generations", its=replace(demo_source, settings=settings), group=GROUP)
    assert title(page) == "Generation 2: c-b joined; 1 of 3 partitions moved"


def test_a_recorded_reconciliation_is_told_step_by_step(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(*test_consumer.BEGIN))
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert "01:00:03 · took 1.7 s in 4 steps" in said(page).replace("\\", "")
    steps = page.dataframe[0].value
    assert list(steps.itertuples(index=False, name=None)) == [
        ("1.0 s", "c-b", "has 0 partitions, waits for partitions of other members", 3),
        ("1.2 s", "c-a", "has 2 partitions, revokes 2", 2),
        ("1.3 s", "c-a", "has 2 partitions", 3),
        ("1.7 s", "c-b", "has 2 partitions", 3),
    ]


def test_generations_without_a_plan_and_an_overtaken_one_are_told(open_page: Open, feed: feeds.HandFeed) -> None:
    unfinished = [*test_consumer.A_JOINS, *test_consumer.B_JOINS[:-1], *test_consumer.B_LEAVES]
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(*unfinished))
    page = open_page("generations", group=GROUP, gen="2")
    assert "replaced by the next one" in said(page)


def test_from_a_live_group_there_is_a_way_back_to_its_page(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP)
    page = next(b for b in page.button if b.label == "Group").click().run()
    assert page.query_params["group"] == GROUP
    assert any(subheader.value == "Assignment" for subheader in page.subheader)


def test_a_link_goes_to_one_generation(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP, gen="1")
    assert title(page).startswith("Generation 8: c3 joins; ")
    assert list(moves(page)["change"]) == ["revoked", "revoked"]


def test_previous_and_next_walk_and_stop_at_the_ends(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP)
    assert next(b for b in page.button if b.label == "Next").disabled
    page = next(b for b in page.button if b.label == "Previous").click().run()
    assert title(page).startswith("Generation 8: ")
    page = next(b for b in page.button if b.label == "Previous").click().run()
    assert title(page).startswith("Generation 7: as it is")
    assert next(b for b in page.button if b.label == "Previous").disabled


def test_a_scenario_is_simulated_and_says_so(open_page: Open) -> None:
    page = open_page("generations", example="sticky-after-a-leave")
    assert not page.exception
    assert "Simulated] :gray[3 generations predicted with `sticky` from the scenario `sticky after a leave`" in said(
        page
    )


def test_an_assignor_that_cannot_plan_is_told(open_page: Open) -> None:
    page = open_page("generations", example="sticky-after-a-leave", assignor="nonsense")
    assert not page.exception
    assert "'nonsense'. Use one of sticky, range, roundrobin, " in said(page).replace("\\", "")
