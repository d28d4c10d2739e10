"""The Sweeps page: what it says without a sweep, of a fleet, of one group; and where its cells lead."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from app import links, state_sweeps
from app.formats import duration
from app.tables.sweeps import BY_KEY, frontier, gains, grid
from assignors.events import CoordinatorDown, CoordinatorUp, Join
from lag.history.store import History
from lag.sweeps.figures import row
from lag.sweeps.plan import Case, Failure
from lag.sweeps.staging import staged
from tests.app import feeds, swept
from tests.app.reading import alt, figure, said, table
from tests.lag.sweeps.scenarios import orders


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history with two sweeps of the same groups, `one` the newer."""
    folder = tmp_path_factory.mktemp("history")
    swept.sweep(folder, "two", swept.AT - timedelta(days=1))
    swept.sweep(folder, "one")
    return folder


def source(history: Path | None):
    its = feeds.source(demo=feeds.HandFeed(feeds.report()))
    return replace(its, settings=its.settings.model_copy(update={"history": history and str(history)}))


@pytest.fixture
def open_sweeps(open_page):
    def opened(history, **query):
        state_sweeps.clear()
        return open_page("sweeps", its=source(history), **query)

    return opened


def test_without_a_history_the_page_says_how_to_keep_one(open_sweeps) -> None:
    page = open_sweeps(None)
    assert not page.exception
    assert page.header[0].value == "Which assignor and how many members for my fleet?"
    assert page.code[0].value == "groupscope sweep --bootstrap-server demo:9092 --history PATH"
    assert "groupscope serve --history PATH" in said(page)


def test_without_a_sweep_the_page_has_the_command_for_this_history(open_sweeps, tmp_path: Path) -> None:
    page = open_sweeps(tmp_path)
    assert page.code[0].value == f"groupscope sweep --bootstrap-server demo:9092 --history {tmp_path}"
    assert list(tmp_path.iterdir()) == []


def test_a_history_that_cannot_be_read_is_told_with_its_mend(open_sweeps, tmp_path: Path) -> None:
    (tmp_path / "sweeps" / "_delta_log").mkdir(parents=True)
    (tmp_path / "sweeps" / "_delta_log" / "00000000000000000000.json").write_text("no log")
    page = open_sweeps(tmp_path)
    assert not page.exception
    assert page.header[0].value == "The history cannot be read"


def test_the_fleet_most_to_gain_first(open_sweeps, root: Path) -> None:
    page = open_sweeps(root)
    assert not page.exception
    assert page.header[0].value == "2 of 3 groups would gain: 1 whose lag never drains now, 1 from another assignor"
    assert "108 cases of 3 groups" in said(page)
    rows = table(page, "3 groups").set_index("group")
    assert list(rows.index) == ["slow", "idle", "orders"]
    drained = 600 / (65 - 60)  # once the partition with 60 records a second has a member for itself
    assert (
        rows.loc["slow", "do"] == f"cooperative-sticky on 5 members: its lag drains in {duration(drained)}, now never"
    )
    assert rows.loc["idle", "do"] == "range: the busiest member has 33 % of the partitions instead of 50 %"
    assert tuple(rows.loc["orders", ["now", "busiest", "do"]]) == ("range × 3", 70.0, "as good as it gets")


def test_one_group_with_its_heat_map_and_frontier(open_sweeps, root: Path) -> None:
    page = open_sweeps(root, group="orders")
    assert not page.exception
    assert page.header[0].value == "`orders`: as good as it gets; now `range` on 3 members"
    heat, targets = figure(page, "sweep_map_hot_share")["data"]
    shares = {
        assignor: [row(orders(), Case(0, assignor, members, Failure.NONE))["hot_share"] for members in range(1, 7)]
        for assignor in swept.ASKED.assignors
    }
    assert heat["text"][0] == [f"{100 * share:.0f}" for share in shares["range"]]
    assert targets["customdata"][:2] == [["range", 1], ["range", 2]]
    assert alt(page, "sweep_map_hot_share").startswith("Busiest share by assignor and members: from 60 % with ")
    assert alt(page, "sweep_frontier_hot_share").startswith("Busiest share that members buy: 100 % with ")
    cases = table(page, "18 cases")
    assert list(cases["assignor"].unique()) == list(swept.ASKED.assignors)
    assert list(cases[cases["assignor"] == "range"]["busiest"]) == pytest.approx([100 * it for it in shares["range"]])


def test_measure_and_failure_are_in_the_url(open_sweeps, root: Path) -> None:
    page = open_sweeps(root, group="orders", measure="moved", failure="crash")
    crashed = [row(orders(), Case(0, "sticky", members, Failure.CRASH))["moved"] for members in range(1, 7)]
    assert figure(page, "sweep_map_moved")["data"][0]["text"][1] == [f"{moved}" for moved in crashed]
    assert page.query_params["measure"] == "moved"


def test_another_sweep_and_a_group_that_is_not_in_it(open_sweeps, root: Path) -> None:
    page = open_sweeps(root, sweep="two", group="gone")
    assert "sweep two" in said(page)
    assert "`gone` is not in this sweep" in said(page)
    assert open_sweeps(root).selectbox(key="sweep_pick").value == "one"


def test_a_case_opens_in_what_if_with_its_members_and_assignor(open_sweeps, root: Path) -> None:
    page = open_sweeps(root, group="orders")
    page.session_state["_sweep_case"] = ("orders", "sticky", 5, "none")
    page = page.run()
    assert not page.exception
    assert page.query_params["assignor"] == "sticky"
    opened = links.unpack(page.query_params["scenario"])
    assert opened == staged(orders(), 5, Failure.NONE)
    assert [type(event.action) for event in opened.events] == [CoordinatorDown, Join, Join, CoordinatorUp]
    found = row(orders(), Case(0, "sticky", 5, Failure.NONE))
    shown = page.dataframe[0].value.set_index("assignor").loc["sticky"]
    assert tuple(shown[["moved", "stayed", "paused"]]) == tuple(found[name] for name in ("moved", "stayed", "paused"))


def frames(root: Path):
    history = History(root)
    groups = history.query("SELECT * FROM sweep_groups WHERE sweep_id = 'one'", "sweep_groups").to_pandas()
    cells = history.query("SELECT * FROM sweeps WHERE sweep_id = 'one' AND failure = 'none'", "sweeps").to_pandas()
    return groups, cells


def test_members_to_spare_are_those_without_whom_the_busiest_has_no_more(root: Path) -> None:
    """Without the cases that help otherwise: with two members nobody has more than half, as now."""
    groups, cells = frames(root)
    found = gains(groups, cells[cells["members"] != 3]).set_index("group_id")
    assert tuple(found.loc["idle", ["gain", "to_members", "to_share", "hot_share"]]) == ("fewer", 2, 0.5, 0.5)


def test_a_lag_that_no_case_drains_and_a_group_without_cases_are_told_apart(root: Path) -> None:
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
    assert set(made.why[:, 0]) == {"the lag of 6 of its 6 partitions is unknown"}
