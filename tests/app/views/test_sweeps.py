"""The Sweeps page: what it says of a fleet and of one group, and where its cells lead."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.server.source import Source
from app.ui.formats import duration
from app.ui.labs import link_codec
from app.views.sweeps import state
from app.views.sweeps.tables import BY_KEY, frontier, grid
from assignors.whatif.events import CoordinatorDown, CoordinatorUp, Crash, Join
from lag.history.store import History
from lag.sweeps import local, sweep_table
from lag.sweeps.cases import case_scenario
from lag.sweeps.gains import gains
from lag.sweeps.measures import row
from lag.sweeps.plan import Case, Failure, Plan, SweepRequest, parse_member_counts
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.reading import alt, figure, page_text, table
from tests.app.views import swept
from tests.lag.sweeps.scenarios import empty, member, orders, shared


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history with two sweeps of the same groups, `one` the newer."""
    folder = tmp_path_factory.mktemp("history")
    swept.sweep(folder, "two", swept.AT - timedelta(days=1))
    swept.sweep(folder, "one")
    return folder


def source(history: Path | None) -> Source:
    its = feeds.source(demo=feeds.HandFeed(feeds.report()))
    return replace(its, settings=its.settings.model_copy(update={"history": history and str(history)}))


@pytest.fixture
def open_sweeps(open_page: Open) -> Open:
    def opened(history: Path | None, **query: str) -> AppTest:
        state.clear()
        return open_page("sweeps", its=source(history), **query)

    return opened


def test_a_history_that_cannot_be_read_is_reported_with_its_fix(open_sweeps: Any, tmp_path: Path) -> None:
    (tmp_path / "sweeps" / "_delta_log").mkdir(parents=True)
    (tmp_path / "sweeps" / "_delta_log" / "00000000000000000000.json").write_text("no log")
    page = open_sweeps(tmp_path)
    assert not page.exception
    assert page.title[0].value == "The history cannot be read"


def test_the_fleet_most_to_gain_first(open_sweeps: Any, root: Path) -> None:
    page = open_sweeps(root)
    assert not page.exception
    assert page.title[0].value == "2 of 3 groups would gain: 1 whose lag never drains now, 1 from another assignor"
    assert "108 cases of 3 groups" in page_text(page)
    rows = table(page, "3 groups").set_index("group")
    assert list(rows.index) == ["slow", "idle", "orders"]
    drained = 600 / (65 - 60)  # once the partition with 60 records a second has a member for itself
    assert (
        rows.loc["slow", "do"]
        == f"cooperative-sticky on 5 members: its lag drains in {duration(drained)} instead of never"
    )
    assert rows.loc["idle", "do"] == "range: the busiest member has 33 % of the partitions instead of 50 %"
    assert tuple(rows.loc["orders"][["now", "busiest", "do"]]) == ("range × 3", 70.0, "nothing to gain")


def test_one_group_with_its_heat_map_and_frontier(open_sweeps: Any, root: Path) -> None:
    page = open_sweeps(root, group="orders")
    assert not page.exception
    assert page.title[0].value == "`orders`: nothing to gain; now `range` on 3 members"
    heat, targets = figure(page, "sweep_map_hot_share")["data"]
    shares = {
        assignor: [row(orders(), Case(0, assignor, members, Failure.NONE))["hot_share"] for members in range(1, 7)]
        for assignor in swept.REQUEST.assignors
    }
    assert [row[0] for row in heat["text"]] == [f"{100 * share:.0f}" for share in shares["range"]]
    assert targets["customdata"][:2] == [["range", 1], ["sticky", 1]]
    assert targets["hovertext"][3] == f"range · 2 members · {100 * shares['range'][1]:.0f} % · click to open in What if"
    assert alt(page, "sweep_map_hot_share").startswith("Busiest share by assignor and members: from 60 % with ")
    assert alt(page, "sweep_frontier_hot_share").startswith("Busiest share by number of members: 100 % with ")
    cases = table(page, "18 cases")
    assert list(cases["assignor"].unique()) == list(swept.REQUEST.assignors)
    assert list(cases[cases["assignor"] == "range"]["busiest"]) == pytest.approx([100 * it for it in shares["range"]])


def test_measure_and_failure_are_in_the_url(open_sweeps: Any, root: Path) -> None:
    page = open_sweeps(root, group="orders", measure="moved", failure="crash")
    crashed = [row(orders(), Case(0, "sticky", members, Failure.CRASH))["moved"] for members in range(1, 7)]
    assert [row[1] for row in figure(page, "sweep_map_moved")["data"][0]["text"]] == [f"{it}" for it in crashed]
    assert page.query_params["measure"] == "moved"


def test_another_sweep_and_a_group_that_is_not_in_it(open_sweeps: Any, root: Path) -> None:
    page = open_sweeps(root, sweep="two", group="gone")
    assert "sweep two" in page_text(page)
    assert "`gone` is not in this sweep" in page_text(page)
    assert open_sweeps(root).selectbox(key="sweep_pick").value == "one"


def test_a_case_opens_in_what_if_with_its_members_and_assignor(open_sweeps: Any, root: Path) -> None:
    page = clicked(open_sweeps(root, group="orders"), "orders", "sticky", 5)
    assert page.title[0].value.startswith("`c-3` joins, `c-4` joins, with `sticky`: ")
    assert page.query_params["assignor"] == "sticky"
    opened = link_codec.unpack(page.query_params["scenario"])
    assert opened == case_scenario(orders(), 5, Failure.NONE)
    assert [type(event.action) for event in opened.events] == [CoordinatorDown, Join, Join, CoordinatorUp]
    found = row(orders(), Case(0, "sticky", 5, Failure.NONE))
    shown = page.dataframe[0].value.set_index("assignor").loc["sticky"]
    assert tuple(shown[["moved", "stayed", "paused"]]) == tuple(found[name] for name in ("moved", "stayed", "paused"))


def clicked(page: AppTest, *case: str | int) -> AppTest:
    """The page after a click on that case: group, assignor, members, and the failure if there is one."""
    page.session_state["_sweep_case"] = (*case, "none")[:4]
    page = page.run()
    assert not page.exception
    return page


def test_a_case_with_a_failure_says_who_comes_who_fails_and_under_what(open_sweeps: Any, root: Path) -> None:
    (crash,) = [
        event.action for event in case_scenario(orders(), 6, Failure.CRASH).events if isinstance(event.action, Crash)
    ]
    page = clicked(open_sweeps(root, group="orders"), "orders", "sticky", 6, "crash")
    assert page.title[0].value.startswith(f"3 members join, `{crash.member_id}` crashes, with `sticky`: ")
    page = clicked(open_sweeps(root, group="orders"), "orders", "range", 1, "none")
    assert page.title[0].value.startswith("`c-1` leaves, `c-2` leaves: ")


NOT_OPENED = "This case cannot be opened in What if"


def test_a_case_that_cannot_be_has_no_click_and_says_why(open_sweeps: Any, tmp_path: Path) -> None:
    """With two of three members left both are in one rack; who comes goes to the other one."""
    asked = SweepRequest(("range", "sticky"), parse_member_counts("2,3"), (Failure.NONE, Failure.RACK))
    swept.sweep(tmp_path, its=[orders(racks=("a", "a", "b"))], asked=asked)
    page = open_sweeps(tmp_path, group="orders", failure="rack", measure="moved")
    assert not page.exception
    targets = figure(page, "sweep_map_moved")["data"][1]
    assert targets["customdata"] == [None, None, ["range", 3], ["sticky", 3]]
    why = "No rack can fail: all members are in one."
    assert targets["hovertext"][0] == f"range · 2 members · –: {why}"
    assert targets["text"] == ["–", "–", "", ""]
    text = page_text(clicked(page, "orders", "range", 2, "rack")).replace("\\", "")
    assert NOT_OPENED in text
    assert why in text


def test_a_failure_that_no_case_can_have_is_explained_in_place_of_pictures(open_sweeps: Any, tmp_path: Path) -> None:
    swept.sweep(
        tmp_path,
        its=[orders()],
        asked=SweepRequest(("range",), parse_member_counts("2,3"), (Failure.NONE, Failure.RACK)),
    )
    page = open_sweeps(tmp_path, group="orders", failure="rack")
    assert not page.exception
    assert "No case is possible: No rack can fail: no member has one." in page_text(page).replace("\\", "")
    assert (len(page.get("plotly_chart")), len(table(page, "2 cases"))) == (0, 2)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"description": "x" * 2_200_000}, "This is more than 2,097,152 bytes (2 MB)"),
        ({"members": [{"id": "c-0", "topics": ["t"], "owned": {"gone": [0]}}]}, "members[0].owned.gone"),
    ],
    ids=["too large", "a topic that was deleted"],
)
def test_a_scenario_that_what_if_does_not_accept_is_reported(
    open_sweeps: Any, tmp_path: Path, change: Any, reported: str
) -> None:
    plan, header = Plan([orders()], swept.REQUEST), sweep_table.SweepHeader("one", "made-up", swept.AT)
    (its,) = sweep_table.groups(plan)
    its["scenario"] = json.dumps(json.loads(its["scenario"]) | change)
    sweep_table.write(History(tmp_path), header, [its], list(local.run(plan, header)))
    page = open_sweeps(tmp_path, group="orders")
    assert not page.exception
    assert len(table(page, "18 cases")) == 18
    text = page_text(clicked(page, "orders", "range", 3)).replace("\\", "")
    assert f"{NOT_OPENED}:] {reported}" in text
    assert len(table(page, "18 cases")) == 18


@pytest.mark.parametrize("name", ["sweeps", "sweep_groups"])
def test_rows_that_cannot_be_read_are_reported(open_sweeps: Any, root: Path, tmp_path: Path, name: str) -> None:
    copytree(root, tmp_path, dirs_exist_ok=True)
    for file in (tmp_path / name).glob("dt=*/*.parquet"):
        file.write_bytes(b"PAR1 no more")
    page = open_sweeps(tmp_path, group="orders")
    assert not page.exception
    assert page.title[0].value == "The history cannot be read"
    assert f"{tmp_path}/{name} cannot be used" in page_text(page).replace("\\", "")


def test_looking_makes_no_table(open_sweeps: Any, root: Path, tmp_path: Path) -> None:
    copytree(root / "sweeps", tmp_path / "sweeps")
    page = open_sweeps(tmp_path)
    assert not page.exception
    assert page.title[0].value == "The history cannot be read"
    assert [path.name for path in tmp_path.iterdir()] == ["sweeps"]


def test_a_group_whose_cases_were_not_written_says_so(open_sweeps: Any, tmp_path: Path) -> None:
    plan, header = Plan([orders(), empty()], swept.REQUEST), sweep_table.SweepHeader("one", "made-up", swept.AT)
    found = list(local.run(Plan([orders()], swept.REQUEST), header))
    sweep_table.write(History(tmp_path), header, sweep_table.groups(plan), found)
    page = open_sweeps(tmp_path, group="empty")
    assert not page.exception
    assert page.title[0].value == (
        "The gain of `empty` is unknown: the sweep was interrupted before its cases, run it again; "
        "now `range` on 0 members"
    )
    assert not page.dataframe


def test_many_numbers_of_members_come_in_portions_around_the_present_one(open_sweeps: Any, tmp_path: Path) -> None:
    swept.sweep(tmp_path, its=[orders()], asked=SweepRequest(("range",), parse_member_counts("1..30")))
    page = open_sweeps(tmp_path, group="orders")
    shown = figure(page, "sweep_map_hot_share")["layout"]["yaxis"]["ticktext"]
    assert shown == [f"{members}" for members in range(1, 25)]
    page.selectbox(key="sweep_members").select("25").run()
    assert page.query_params["members"] == "25"
    shown = figure(page, "sweep_map_hot_share")["layout"]["yaxis"]["ticktext"]
    assert shown == [f"{members}" for members in range(25, 31)]
    assert len(table(page, "30 cases")) == 30


def test_a_missing_sweep_is_reported_and_names_are_text(open_sweeps: Any, tmp_path: Path) -> None:
    swept.sweep(tmp_path, "[a](http://b) *c*", its=[orders()])
    page = open_sweeps(tmp_path, sweep="nine")
    assert "Sweep `nine` is not stored here" in page_text(page)
    assert "sweep \\[a\\]\\(http\\:" in page_text(page)
    assert "not stored here" not in page_text(open_sweeps(tmp_path))


def test_what_is_not_known_is_neither_a_gain_nor_none(open_sweeps: Any, tmp_path: Path) -> None:
    """Of a group without members and of a share group without rates; the third has one member, and nothing to gain."""
    base = orders()
    idle = replace(base.loads, default_capacity_per_s=200.0)
    alone = replace(base, name="alone", members=(member("c-0", tuple(range(6))),), loads=idle)
    swept.sweep(tmp_path, its=[alone, empty(), shared()], asked=SweepRequest((), parse_member_counts("x1")))
    page = open_sweeps(tmp_path)
    assert page.title[0].value == "None of 1 group would gain; 2 unknown"
    rows = table(page, "3 groups").set_index("group")
    assert dict(rows["do"]) == {
        "alone": "nothing to gain",
        "empty": "unknown: it has no members",
        "shared": "unknown: the load of its members is unknown",
    }
    page = open_sweeps(tmp_path, group="empty")
    assert not page.exception
    assert page.title[0].value == "The gain of `empty` is unknown: it has no members; now `range` on 0 members"
    assert "framed" not in page_text(page)
    swept.sweep(tmp_path, its=[empty(), shared()], asked=SweepRequest((), parse_member_counts("x1")))
    assert open_sweeps(tmp_path).title[0].value == "The gain of 2 groups is unknown"


def frames(root: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    history = History(root)
    groups = history.query("SELECT * FROM sweep_groups WHERE sweep_id = 'one'", "sweep_groups").to_pandas()
    cells = history.query("SELECT * FROM sweeps WHERE sweep_id = 'one' AND failure = 'none'", "sweeps").to_pandas()
    return groups, cells


def test_a_group_of_which_no_case_can_be_has_the_reason(root: Path) -> None:
    groups, cells = frames(root)
    refused = cells.assign(reason=cells["reason"].mask(cells["group_id"] == "orders", "it cannot be"))
    found = gains(groups, refused).set_index("group_id")
    assert tuple(found.loc["orders"][["gain", "why"]]) == ("unknown", "it cannot be")
    assert found["why"].notna().sum() == 1


def test_spare_members_are_those_without_whom_the_busiest_has_no_more(root: Path) -> None:
    """Without the cases that help otherwise: with two members nobody has more than half, as now."""
    groups, cells = frames(root)
    found = gains(groups, cells[cells["members"] != 3]).set_index("group_id")
    assert tuple(found.loc["idle"][["gain", "to_members", "to_share", "hot_share"]]) == ("fewer", 2, 0.5, 0.5)


def test_a_lag_that_no_case_drains_and_a_group_without_cases_are_distinguished(root: Path) -> None:
    groups, cells = frames(root)
    found = gains(groups, cells[(cells["members"] < 4) & (cells["group_id"] != "orders")]).set_index("group_id")
    assert (found.loc["slow", "gain"], found.loc["orders", "gain"]) == ("stuck", "unknown")


def test_the_frontier_has_what_no_other_case_beats_with_as_few_members(root: Path) -> None:
    _, cells = frames(root)
    mine = cells[cells["group_id"] == "orders"]
    best = frontier(mine, BY_KEY["hot_share"])
    least = [mine[mine["members"] <= members]["hot_share"].min() for members in range(1, 7)]
    steps = [members for members in range(1, 7) if members == 1 or least[members - 1] < least[members - 2]]
    assert list(best["members"]) == steps
    assert list(best["hot_share"]) == [least[members - 1] for members in steps]


def test_a_cell_that_is_not_known_has_its_reason(root: Path) -> None:
    _, cells = frames(root)
    made = grid(cells[cells["group_id"] == "idle"], BY_KEY["drain_s"])
    assert np.isnan(made.values).all()
    assert set(made.why[0]) == {"the lag of 6 of its 6 partitions is unknown"}
    assert made.is_case.all()
