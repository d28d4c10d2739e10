"""The Generations page: those of a live group, recorded or inferred, those of a scenario, and neither."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import assignors
from app.server.source import Source
from app.ui import formats, state
from app.ui.groups import predictions
from assignors.model import Member, Topic
from assignors.scenario import examples, load_scenario
from assignors.whatif.events import Event, Join, Scenario
from lag.generations.cause_kind import CauseKind
from lag.generations.group_generations import SWITCHED_OFF
from lag.generations.ownership import WithoutOwner
from lag.generations.prediction import Prediction
from lag.generations.recent import Rebalance, RecentRebalances
from lag.generations.recorded import Origin, RecordedGeneration, Recording
from lag.generations.recorded.history import stored_generations
from lag.history.resume.stream_progress import mark_read
from lag.history.store import History
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.reading import alt, asked, figure, page_text, table
from tests.lag.generations.recorded import test_classic, test_consumer
from tests.lag.generations.recorded.events import classic, in_part, recorded
from tests.lag.generations.recorded.test_history import keep
from tests.lag.history.rows import NOON

GROUP = "orders-enrichment"
BERLIN = ZoneInfo("Europe/Berlin")
JOIN_B = Event(30_000, Join(Member("b", client_id="c-b", topics=("orders",))))


def inferred() -> Recording:
    made = assignors.fold(load_scenario(examples()["cooperative-hand-over"]))
    return Recording(Origin.INFERRED, [RecordedGeneration(one) for one in made], SWITCHED_OFF)


def title(page: AppTest) -> str:
    return page.title[0].value.replace("\\", "")


def moves(page: AppTest) -> pd.DataFrame:
    return page.dataframe[-1].value


JOINED = recorded(test_classic.FIRST, test_classic.SECOND)
"""Generations 0 (nobody), 1 and 2, in which c-b joined."""


def rebalance(group_id: str, number: int, at_ms: int, kind: CauseKind = CauseKind.JOINED) -> Rebalance:
    gap = WithoutOwner(2, 1500, 3000, at_least=True)
    return Rebalance(
        group_id, number, at_ms, f"c-{number} {kind}", (kind,), Origin.RECORDED, 1, 6, gap, 2, 3, at_ms - 1
    )


@pytest.fixture
def busy(feed: feeds.HandFeed) -> feeds.HandFeed:
    """Two rebalances of the last minutes, and one of five hours ago."""
    now_ms = feed.report.snapshot.at_ms
    feed.recent = RecentRebalances(
        (
            rebalance(GROUP, 8, now_ms - 60_000),
            rebalance("billing", 3, now_ms - 120_000, CauseKind.LEFT),
            rebalance("billing", 2, now_ms - 5 * 3_600_000),
        )
    )
    return feed


def rebalances(page: AppTest) -> list[tuple[str, int, str, str, str]]:
    columns = ["group", "generation", "moved", "without_owner", "members"]
    return list(table(page, "rebalance").filter(columns)[columns].itertuples(index=False, name=None))


def test_without_a_group_the_page_lists_the_last_rebalances_of_all(open_page: Open, busy: feeds.HandFeed) -> None:
    page = open_page("generations")
    assert not page.exception
    assert title(page) == "3 rebalances of 2 groups in the last 6 h, most in `billing` (2)"
    assert rebalances(page) == [
        (GROUP, 8, "1 of 6", "≥ 1.5 s", "2 → 3"),
        ("billing", 3, "1 of 6", "≥ 1.5 s", "2 → 3"),
        ("billing", 2, "1 of 6", "≥ 1.5 s", "2 → 3"),
    ]


def test_the_list_is_filtered_by_time_and_by_cause_in_the_url(open_page: Open, busy: feeds.HandFeed) -> None:
    page = open_page("generations", range="15m")
    assert [row[:2] for row in rebalances(page)] == [(GROUP, 8), ("billing", 3)]
    page = open_page("generations", range="15m", cause="left")
    assert [row[:2] for row in rebalances(page)] == [("billing", 3)]
    assert title(page) == "1 rebalance of `billing` in the last 15 min"


def test_without_a_group_and_without_rebalances_the_page_says_how_they_come_about(open_page: Open) -> None:
    page = open_page("generations")
    assert not page.exception
    assert title(page) == "No rebalance in the last hour"


@pytest.fixture
def restarted(feed: feeds.HandFeed, demo_source: Source, tmp_path: Path) -> Source:
    """A process of a minute ago that has seen nothing yet, and a history of billing's last night."""
    now_ms = feed.report.snapshot.at_ms
    history, night = History(tmp_path / "history"), now_ms - 9 * 3_600_000
    keep(history, 7, 8, 9, at=round(night / 1000 - NOON.timestamp()))
    mark_read(history, "c1", datetime.fromtimestamp(now_ms / 1000, UTC))
    feed.report.snapshot = replace(feed.report.snapshot, cluster_id="c1")
    feed.recent = RecentRebalances(known_since_ms=now_ms - 60_000)
    return replace(demo_source, settings=demo_source.settings.model_copy(update={"history": history.root}))


def test_after_a_restart_last_nights_rebalances_come_out_of_the_history(open_page: Open, restarted: Source) -> None:
    page = open_page("generations", its=restarted)
    assert not page.exception
    assert title(page) == "2 rebalances of `billing` in the last 24 h, as far as is known"
    assert [row[:2] for row in rebalances(page)] == [("billing", 9), ("billing", 8)]
    assert "complete since " in page_text(page)
    page = open_page("generations", its=restarted, range="1h")
    assert title(page) == "No rebalance in the last hour"
    assert "complete since " not in page_text(page)


def test_a_rebalance_of_last_night_opens_by_its_link(open_page: Open, restarted: Source) -> None:
    key = open_page("generations", its=restarted).session_state["_rebalance_rows"][-1][1]
    page = open_page("generations", its=restarted, group="billing", generation=str(key.number), at=str(key.at_ms))
    assert title(page).startswith("Generation 8: ")


def test_without_a_history_only_what_happened_since_the_start_is_known(open_page: Open, busy: feeds.HandFeed) -> None:
    now_ms = busy.report.snapshot.at_ms
    busy.recent = replace(busy.recent, known_since_ms=now_ms - 1_800_000)
    assert title(open_page("generations", range="15m")) == "2 rebalances of 2 groups in the last 15 min"
    assert title(open_page("generations", range="1h")).endswith(" in the last hour, as far as is known")


@pytest.fixture
def long_night(feed: feeds.HandFeed) -> feeds.HandFeed:
    """450 rebalances in the last 450 minutes, every third one a departure."""
    now_ms, kinds = feed.report.snapshot.at_ms, (CauseKind.LEFT, CauseKind.JOINED, CauseKind.JOINED)
    feed.recent = RecentRebalances(
        tuple(rebalance("billing", 450 - at, now_ms - 60_000 * at, kinds[at % 3]) for at in range(450))
    )
    return feed


def numbers(page: AppTest) -> list[int]:
    return list(table(page, "rebalance")["generation"])


def test_every_rebalance_of_a_long_night_can_be_reached(open_page: Open, long_night: feeds.HandFeed) -> None:
    page, seen = open_page("generations", range="24h"), set[int]()
    while True:
        assert title(page) == "450 rebalances of `billing` in the last 24 h"
        seen |= set(numbers(page))
        older = [button for button in page.button if button.label == "Older"]
        if not older:
            break
        older[0].click().run()
    assert seen == set(range(1, 451))
    assert asked(page)["range"] == "24h"
    next(button for button in page.button if button.label == "Newest").click().run()
    assert numbers(page)[0] == 450
    assert "until" not in asked(page)


def test_the_link_to_older_rebalances_shows_the_same_later(open_page: Open, long_night: feeds.HandFeed) -> None:
    until_ms = long_night.recent.rebalances[300].at_ms
    page = open_page("generations", range="24h", until=str(until_ms))
    first, *_, last = (formats.clock_and_day(one.at_ms, state.now_ms(), BERLIN) for one in
                       long_night.recent.rebalances[300:])  # fmt: skip
    assert numbers(page) == list(range(150, 0, -1))
    assert f"from {last} to {first} · newest first" in page_text(page)


def test_a_cause_counts_in_the_rebalances_that_are_listed(open_page: Open, long_night: feeds.HandFeed) -> None:
    page = open_page("generations", range="24h", cause="left")
    assert title(page).startswith("67 rebalances of `billing` from ")


def test_in_a_shorter_time_all_are_listed(open_page: Open, long_night: feeds.HandFeed) -> None:
    page = open_page("generations", range="1h")
    assert title(page) == "61 rebalances of `billing` in the last hour"
    assert not [button for button in page.button if button.label in ("Older", "Newest")]


def test_the_url_names_the_generation_by_its_number(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, JOINED)
    assert asked(open_page("generations", group=GROUP))["generation"] == "2"
    page = open_page("generations", group=GROUP, generation="1")
    assert title(page).startswith("Generation 1: c-a joined")
    page = next(b for b in page.button if b.label == "Next").click().run()
    assert asked(page)["generation"] == "2"


def test_a_generation_that_is_not_kept_gives_way_to_the_nearest_one(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP, generation="3")
    assert title(page).startswith("Generation 7: ")
    assert "Generation 3 is not available:] showing generation 7, the nearest one" in page_text(page)
    assert asked(page)["generation"] == "7"


def test_the_timeline_has_a_mark_for_each_rebalance_and_a_lane_for_each_partition(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, JOINED)
    page = open_page("generations", group=GROUP, range="all")
    assert "2 rebalances from 01:00:01 to " in alt(page, "timeline")
    owned, unowned, unknown, marks = figure(page, "timeline")["data"]
    assert [(lane, name) for lane, name in zip(owned["y"], owned["text"], strict=True)] == [
        *((0, "c-a"), (0, "c-a"), (1, "c-a"), (1, "c-a"), (2, "c-a"), (2, "c-b")),
    ]
    assert (list(unowned["y"]), list(unknown["y"])) == ([0, 1, 2], [])
    assert [mark[1] for mark in marks["customdata"]] == [1, 2]
    assert "at least 36 ms in total, most orders-0: at least 12 ms" in page_text(page).replace("\\", "")


def test_of_more_partitions_than_lanes_the_timeline_shows_members_with_counts(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    wide = [classic(1000, 1, {"a": range(70)}), classic(2000, 2, {"a": range(40), "b": range(40, 70)})]
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(*wide))
    owned, *_ = figure(open_page("generations", group=GROUP, range="all"), "timeline")["data"]
    assert list(zip(owned["y"], owned["text"], strict=True)) == [(0, "70"), (0, "40"), (1, "30")]


def test_of_more_members_than_lanes_the_timeline_says_how_many_it_leaves_out(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    wide = [classic(1000, 1, {f"m{n}": [n] for n in range(70)}), classic(2000, 2, {f"m{n}": [n] for n in range(70)})]
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(*wide))
    page = open_page("generations", group=GROUP, range="all")
    assert alt(page, "timeline").endswith(", above 60 members")
    assert "The 60 members with the most partitions are shown, 10 are not." in page_text(page)


def test_a_member_that_is_gone_may_have_timed_out_and_no_member_has_joined(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    left = classic(3000, 3, {"b": [0, 1, 2]}, joined_ms=2998)
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(test_classic.FIRST, test_classic.SECOND, left))
    reported = page_text(open_page("generations", group=GROUP)).replace("\\", "")
    assert "assigned 2 ms after all members had rejoined" in reported
    assert (
        "If c-a timed out, its 2 partitions had no consumer for up to < 1 s before the rebalance (session timeout"
        in reported
    )


def test_a_rebalance_that_was_predicted_says_so_here_and_on_group(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, JOINED)
    page = open_page("generations", group=GROUP)
    assert "As predicted" not in page_text(page)
    guess = assignors.fold(
        Scenario(GROUP, "range", {"orders": Topic("orders", 3)}, JOINED[1].generation.members, (JOIN_B,))
    )
    predictions._predictions().add("demo", GROUP, "k", Prediction(1000, "What if", tuple(guess)))
    assert "As predicted:] 1 of 1 move :gray[(generation 2, predicted by What if at" in page_text(page.run()).replace(
        "\\", ""
    )
    assert "As predicted" in page_text(open_page("group", group=GROUP))


def test_a_group_without_a_rebalance_says_how_one_comes_about(open_page: Open) -> None:
    page = open_page("generations", group=GROUP)
    assert page.title[0].value == f"No rebalance of `{GROUP}` yet"


def test_a_group_that_is_gone_is_called_gone_as_on_the_group_page(open_page: Open) -> None:
    page, group_page = open_page("generations", group="nobody-knows-me"), open_page("group", group="nobody-knows-me")
    assert page.title[0].value == group_page.title[0].value == "`nobody-knows-me` is not on this cluster"
    assert "No rebalance" not in page_text(page)


def test_a_live_group_shows_the_last_generation_and_how_it_is_known(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert title(page).startswith("Generation 9: c3 joins (rebalance 2); ")
    reported = page_text(page).replace("\\", "")
    assert (
        f"Inferred] :gray[3 generations of `{GROUP}`, inferred from polls, which miss what happens in between"
        in reported
    )
    assert "Not recorded:] following it is switched off. Start groupscope without --no-follow" in reported
    assert list(moves(page)["to"]) == ["c3", "c3"]


def test_a_generation_that_could_not_be_decoded_in_part_names_member_and_part(
    open_page: Open, feed: feeds.HandFeed
) -> None:
    second = in_part(test_classic.SECOND, "assignment of member b: version -1")
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(test_classic.FIRST, second))
    text = page_text(open_page("generations", group=GROUP)).replace("\\", "")
    assert "Not all of it could be decoded:] The assignment of member b: version -1. Their client library" in text
    assert "Not all of it" not in page_text(open_page("generations", group=GROUP, generation="1"))


def test_a_recorded_generation_says_when_it_was_and_what_its_plan_took(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(test_classic.FIRST, test_classic.SECOND))
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert title(page) == "Generation 2: c-b joined; 1 of 3 partitions moved"
    reported = page_text(page).replace("\\", "")
    assert f"Recorded] :gray[3 generations of `{GROUP}`, recorded in `__consumer_offsets`" in reported
    assert "01 Jan 01:00:02 · assigned 12 ms after the last member had joined" in reported
    assert "Not recorded" not in reported


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
    assert "3 generations of `billing`, recorded in" in page_text(page).replace("\\", "")
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


def test_a_recorded_reconciliation_is_shown_step_by_step(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(*test_consumer.BEGIN))
    page = open_page("generations", group=GROUP)
    assert not page.exception
    assert "01 Jan 01:00:03 · took 1.7 s in 4 steps" in page_text(page).replace("\\", "")
    steps = page.dataframe[0].value
    assert list(steps.itertuples(index=False, name=None)) == [
        ("1.0 s", "c-b", "has 0 partitions, waits for partitions of other members", 3),
        ("1.2 s", "c-a", "has 2 partitions, revokes 2", 2),
        ("1.3 s", "c-a", "has 2 partitions", 3),
        ("1.7 s", "c-b", "has 2 partitions", 3),
    ]


def test_generations_without_a_plan_and_an_overtaken_one_are_reported(open_page: Open, feed: feeds.HandFeed) -> None:
    unfinished = [*test_consumer.A_JOINS, *test_consumer.B_JOINS[:-1], *test_consumer.B_LEAVES]
    feed.seen[GROUP] = Recording(Origin.RECORDED, recorded(*unfinished))
    page = open_page("generations", group=GROUP, gen="2")
    assert "replaced by the next one" in page_text(page)


def test_from_a_live_group_there_is_a_way_back_to_its_page(open_page: Open, feed: feeds.HandFeed) -> None:
    feed.seen[GROUP] = inferred()
    page = open_page("generations", group=GROUP)
    page = next(b for b in page.button if b.label == "Group").click().run()
    assert page.query_params["group"] == GROUP
    assert any(subheader.value == "Assignment" for subheader in page.header)


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
    assert title(page).startswith("Generation 7: initial state")
    assert next(b for b in page.button if b.label == "Previous").disabled


def test_a_scenario_is_simulated_and_says_so(open_page: Open) -> None:
    page = open_page("generations", example="sticky-after-a-leave")
    assert not page.exception
    assert (
        "Simulated] :gray[3 generations predicted with `sticky` from the scenario `sticky after a leave`"
        in page_text(page)
    )


def test_an_assignor_that_cannot_plan_is_reported(open_page: Open) -> None:
    page = open_page("generations", example="sticky-after-a-leave", assignor="nonsense")
    assert not page.exception
    assert "'nonsense'. Use one of sticky, range, roundrobin, " in page_text(page).replace("\\", "")
