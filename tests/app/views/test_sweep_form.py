"""The Sweeps page before the first sweep, and a sweep that it runs itself."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore

import psutil
import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from app.server import sweep_run
from app.server.source import Source
from app.server.sweep_run import SweepRun
from app.views.sweeps import state
from app.views.sweeps.example_sweep import EXAMPLE_FLEET, EXAMPLE_REQUEST
from lag.errors import ConnectError
from lag.history.store import History
from tests.app import feeds
from tests.app.cli.commandline import run as run_command
from tests.app.conftest import Open
from tests.app.reading import asked, page_text, table, title
from tests.app.views import swept

QUESTION = "Which assignor and how many members for my fleet?"
PATIENCE_S = 60.0


def source(history: Path | None, feed: feeds.HandFeed | None = None) -> Source:
    its = feeds.source(demo=feed or feeds.HandFeed(feeds.report()))
    return replace(its, settings=its.settings.model_copy(update={"history": history and str(history)}))


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    assert [child for child in psutil.Process().children() if "app.server.sweep_run" in child.cmdline()] == []


def chosen(page: AppTest, groups: str = "fraud", members: str = "x1,x2") -> AppTest:
    page.text_input(key="run_groups").set_value(groups)
    page.text_input(key="run_members").set_value(members)
    return page.run()


def started(page: AppTest) -> SweepRun:
    """The run after a click on Run."""
    page.button(key="sweep_run").click().run()
    assert not page.exception
    run = page.session_state["_sweep_run"]
    assert isinstance(run, SweepRun)
    return run


def bar(page: AppTest) -> str:
    """The text of the progress bar."""
    return str(page.get("progress")[0].proto.text)


def ended(page: AppTest) -> AppTest:
    """The page after its run has ended."""
    page.session_state["_sweep_run"].wait(PATIENCE_S)
    page.run()
    assert not page.exception
    return page


def test_before_the_first_sweep_the_page_shows_an_example_that_is_labelled(open_page: Open, tmp_path: Path) -> None:
    page = open_page("sweeps", its=source(tmp_path))
    assert not page.exception
    assert title(page) == QUESTION
    assert "Example fleet, not your cluster" in page_text(page)
    assert page.header[0].value.startswith("Example: 3 of 7 groups would gain: ")
    assert set(table(page, "7 groups")["group"]) == {path.stem for path in EXAMPLE_FLEET.glob("*.yaml")}
    assert list(tmp_path.iterdir()) == []


def test_a_group_of_the_example_is_labelled_too(open_page: Open) -> None:
    page = open_page("sweeps", its=source(None), group="order-fulfilment")
    assert not page.exception
    assert title(page).startswith("`order-fulfilment` would gain from cooperative\\-sticky on 4 members")
    assert "Example fleet, not your cluster" in page_text(page)


def test_the_example_is_what_the_command_computes_today(tmp_path: Path) -> None:
    more = ("--members", "x0.5,x1,x1.5,x2", "--failure", "crash", "--runner", "local")
    done = run_command("sweep", "--fleet", str(EXAMPLE_FLEET), "--history", str(tmp_path), *more)
    assert done.code == 0
    sql = "SELECT * EXCEPT (dt, sweep_id, cluster, at) FROM sweeps ORDER BY group_id, assignor, members, failure"
    expected = History(tmp_path).query(sql, "sweeps").to_pandas()
    found = state.all_cells(state.example())
    assert len(found) == 300
    assert EXAMPLE_REQUEST.assignors == ()
    assert found[expected.columns].equals(expected)


@pytest.mark.process
def test_a_sweep_runs_from_the_page_and_is_stored_in_the_history(open_page: Open, tmp_path: Path) -> None:
    page = chosen(open_page("sweeps", its=source(tmp_path)))
    assert "1 group, 12 cases" in page_text(page)
    run = started(page)
    assert (run.groups, run.cases) == (1, 12)
    page = ended(page)
    assert asked(page)["sweep"] == run.sweep_id
    assert "12 cases of 1 group" in page_text(page)
    assert "only in this session" not in page_text(page)
    assert list(table(page, "1 group")["group"]) == ["fraud-scoring-v2"]
    other = open_page("sweeps", its=source(tmp_path))
    assert "12 cases of 1 group" in page_text(other)
    assert f"sweep {run.sweep_id}" in page_text(other)


@pytest.mark.process
def test_without_a_history_the_result_stays_in_the_session_and_can_be_downloaded(open_page: Open) -> None:
    page = chosen(open_page("sweeps", its=source(None)))
    assert "kept until you close or reload this page" in page_text(page)
    started(page)
    page = ended(page)
    assert "only in this session" in page_text(page)
    assert len(state.all_cells(state.sweeps_of(page.session_state["_sweep_history"].root)[0])) == 12
    assert "sweep_all_cases" in {button.key for button in page.get("download_button")}
    assert title(open_page("sweeps", its=source(None))) == QUESTION


@pytest.mark.process
def test_progress_counts_groups_and_a_cancelled_run_stores_nothing(open_page: Open, tmp_path: Path) -> None:
    page = chosen(open_page("sweeps", its=source(tmp_path)), groups="", members="1..150")
    run = started(page)
    assert not page.expander
    assert re.fullmatch(rf"\d+ of 27 groups · [\d,]+ of {run.cases:,} cases(| · about .+ left.*)", bar(page))
    page.button(key="sweep_cancel").click().run()
    page = ended(page)
    assert run.is_cancelled
    assert "The sweep was cancelled" in page_text(page)
    assert title(page) == QUESTION
    assert list(tmp_path.iterdir()) == []
    assert chosen(page).button(key="sweep_run").disabled is False


@pytest.mark.process
def test_a_run_ends_with_its_session(open_page: Open, tmp_path: Path) -> None:
    page = chosen(open_page("sweeps", its=source(tmp_path)), groups="", members="1..150")
    run = started(page)
    clear_session_resource_cache("test session id")
    run.wait(PATIENCE_S)
    assert run.is_cancelled
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_a_cluster_that_vanishes_during_a_run_does_not_end_it(open_page: Open, tmp_path: Path) -> None:
    feed = feeds.HandFeed(feeds.report())
    page = chosen(open_page("sweeps", its=source(tmp_path, feed)))
    started(page)
    feed.report, feed.error = None, ConnectError("no broker answers")
    assert "12 cases of 1 group" in page_text(ended(page))


@pytest.mark.process
def test_two_tabs_run_a_sweep_each(open_page: Open, tmp_path: Path) -> None:
    first = chosen(open_page("sweeps", its=source(tmp_path)))
    second = chosen(open_page("sweeps", its=source(tmp_path)))
    runs = started(first), started(second)
    assert runs[0] is not runs[1]
    assert {asked(ended(page))["sweep"] for page in (first, second)} == {runs[0].sweep_id}
    assert [sweep.cases for sweep in state.sweeps_of(str(tmp_path))] == [12]


@pytest.mark.parametrize(
    ("groups", "members", "reported"),
    [
        ("", "many", "'many' is not a number of members"),
        ("no such group", "x1", "There is no group to sweep"),
        ("", "1..201", "201 member counts exceed this page's limit of 200"),
        ("", "x1,x2", "cases exceed this page's limit of 20"),
    ],
)
def test_what_cannot_run_is_refused_in_a_sentence(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, groups: str, members: str, reported: str
) -> None:
    monkeypatch.setattr(sweep_run, "MAX_CASES", 20)
    page = chosen(open_page("sweeps", its=source(None)), groups, members)
    assert not page.exception
    assert reported in page_text(page).replace("\\", "")
    assert page.button(key="sweep_run").disabled


@pytest.mark.process
def test_a_run_that_fails_says_why(open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "sweep_groups").write_text("no folder")
    page = chosen(open_page("sweeps", its=source(tmp_path)))
    started(page)
    text = page_text(ended(page)).replace("\\", "")
    assert f"{tmp_path}/sweep_groups cannot be used" in text
    assert page.button(key="sweep_run").disabled is False


def test_more_runs_than_the_server_allows_are_refused(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    none_free = BoundedSemaphore(1)
    none_free.acquire()
    monkeypatch.setattr(sweep_run, "_free_runs", none_free)
    page = chosen(open_page("sweeps", its=source(None)))
    page.button(key="sweep_run").click().run()
    assert not page.exception
    assert "sweeps are running on this server" in page_text(page)


def test_the_command_for_spark_has_the_choices_of_the_form(open_page: Open, tmp_path: Path) -> None:
    page = open_page("sweeps", its=source(tmp_path))
    page.multiselect(key="run_assignors").select("sticky").run()
    page = chosen(page, members="3,6")
    assert page.code[0].value == (
        "groupscope sweep --bootstrap-server demo:9092 --observe 60 --runner spark --members 3,6 --assignor sticky "
        f"--history {tmp_path}"
    )


def test_before_the_first_poll_there_is_nothing_to_run(open_page: Open) -> None:
    page = open_page("sweeps", its=source(None, feeds.HandFeed()))
    assert not page.exception
    assert "after the first poll" in page_text(page)
    assert "sweep_run" not in {button.key for button in page.button}
    assert page.code[0].value.endswith("--history PATH")


def test_without_a_cluster_there_is_the_example(open_page: Open) -> None:
    page = open_page("sweeps", its=feeds.source())
    assert not page.exception
    assert "No cluster is configured" in page_text(page)
    assert len(table(page, "7 groups")) == 7


def test_the_form_is_closed_where_there_is_a_result(open_page: Open, tmp_path: Path) -> None:
    swept.sweep(tmp_path)
    page = open_page("sweeps", its=source(tmp_path))
    assert [box.label for box in page.expander] == ["Run a sweep"]
    assert not page.code
