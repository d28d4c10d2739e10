"""Your own assignors on the pages: in a process of their own, and never because a link or a file says so."""

import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app import plugins
from app.plugins import fold_any
from app.processes import child
from app.processes.child import CUT_OFF
from app.server.settings import Settings
from app.ui.labs import link_codec
from app.ui.scenario import draft_state
from app.views.whatif import outcomes
from assignors import fold, names
from assignors.labs import calls
from assignors.model import AssignorError
from assignors.scenario import ScenarioError, check_bytes, dump, examples, load_scenario
from assignors.whatif import events
from assignors.whatif.events import UseAssignor
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.reading import page_text
from tests.support.installed import Yours
from tests.support.scenes import join, member, plans, scenario

HAND_OVER = "cooperative-hand-over"
NOT_IN_A_FILE = "A file cannot name a plugin, which runs as code. Give it as --plugin, or install it."


@pytest.fixture(autouse=True)
def _nothing_computed_before() -> None:
    """Outcomes are kept for the life of a process; here another test has other plugins."""
    draft_state._outcome.clear()


def table(page: AppTest) -> pd.DataFrame:
    return page.dataframe[0].value.set_index("assignor")


def reported(page: AppTest) -> str:
    return page_text(page).replace("\\", "")


# -- what a link or a file names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked", ["os:abort", "yours:First", "nonsense", "share-simple", "docs.plugins.weighted:Weighted"]
)
def test_a_link_to_generations_names_an_assignor_that_what_if_does_not_offer(
    open_page: Open, install_yours: Callable[..., Yours], asked: str
) -> None:
    yours = install_yours("first")
    page = open_page("generations", example=HAND_OVER, assignor=asked)
    assert not page.exception
    offered = "cooperative-sticky, range, roundrobin, sticky, uniform, server-range, first"
    assert f"'{asked}'. Use one of {offered}." in reported(page)
    assert yours.processes == set()


@pytest.mark.process
def test_a_link_to_generations_names_an_assignor_of_the_settings(
    open_page: Open, install_yours: Callable[..., Yours]
) -> None:
    yours = install_yours()
    its = replace(feeds.source(demo=feeds.HandFeed()), settings=Settings(plugins=("yours:First",)))
    page = open_page("generations", its=its, example=HAND_OVER, assignor="yours:First")
    assert "Simulated] :gray[2 generations predicted with `First` from the scenario" in reported(page)
    assert len(yours.processes - {os.getpid()}) == 1


def test_a_link_to_what_if_names_an_assignor_that_is_not_offered(open_page: Open) -> None:
    page = open_page("whatif", example=HAND_OVER, assignor="os:abort")
    assert page.title[0].value == "`c3` joins: 2 of 6 partitions move, no idle members"
    assert "Ignored in the link:] `assignor=os:abort` is not one of `cooperative-sticky`" in page_text(page)


@pytest.mark.parametrize("page_name", ["whatif", "generations", "protocol"])
@pytest.mark.parametrize("key", ["assignor", "use_assignor"])
def test_a_scenario_in_a_link_names_code(open_page: Open, page_name: str, key: str) -> None:
    page = open_page(page_name, scenario=link_codec.pack_text(naming("os:abort", key)))
    assert not page.exception
    assert NOT_IN_A_FILE in reported(page)


@pytest.mark.parametrize("key", ["assignor", "use_assignor"])
def test_an_uploaded_scenario_names_code(key: str) -> None:
    with pytest.raises(AssignorError, match="A file cannot name a plugin"):
        check_bytes(naming("os:abort", key).encode(), "file.yaml")


def naming(assignor: str, key: str) -> str:
    """A scenario file that names it, for the group or in an event."""
    begun = load_scenario(examples()[HAND_OVER])
    if key == "assignor":
        return dump(replace(begun, assignor=assignor))
    return dump(replace(begun, events=(events.Event(1000, UseAssignor(assignor)),)))


@pytest.mark.process
def test_what_was_not_given_is_not_run() -> None:
    with pytest.raises(AssignorError, match="No assignor is named 'os:abort'"):
        fold_any(scenario("range", "A"), "os:abort", (), 30)
    with pytest.raises(AssignorError, match="A file cannot name a plugin"):
        fold_any(scenario("range", "A", UseAssignor("os:abort")), "range", ("docs.plugins.weighted:Weighted",), 30)


# -- what is installed -------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_an_installed_assignor_plans_in_a_process_of_its_own(install_yours: Callable[..., Yours]) -> None:
    yours = install_yours("first")
    made = fold_any(scenario("range", "A", join("B")), "first", (), 30)
    assert plans(list(made)) == [{"A": "t-0 t-1 t-2 t-3 t-4 t-5"}, {"A": "t-0 t-1 t-2 t-3 t-4 t-5", "B": ""}]
    assert len(yours.processes - {os.getpid()}) == len(yours.processes) == 1


@pytest.mark.process
def test_an_assignor_that_an_event_changes_to_plans_in_a_process_of_its_own(
    install_yours: Callable[..., Yours],
) -> None:
    yours = install_yours("first")
    made = fold_any(scenario("range", "A B", UseAssignor("first")), "range", (), 30)
    assert plans(list(made))[-1] == {"A": "t-0 t-1 t-2 t-3 t-4 t-5", "B": ""}
    assert len(yours.processes - {os.getpid()}) == len(yours.processes) == 1


@pytest.mark.process
def test_an_assignor_that_an_event_changes_to_hangs(install_yours: Callable[..., Yours]) -> None:
    install_yours("hangs")
    with pytest.raises(
        AssignorError, match=r"^The assignor 'hangs' timed out: it had no plan after 2 s, so its process was stopped\.$"
    ):
        fold_any(scenario("range", "A B", UseAssignor("hangs")), "range", (), 2)


@pytest.mark.process
def test_an_assignor_that_an_event_changes_to_ends_its_process_without_a_word(
    install_yours: Callable[..., Yours],
) -> None:
    install_yours("quits")
    with pytest.raises(AssignorError, match=r"^The assignor 'quits' ended its process with exit code 0 "):
        fold_any(scenario("range", "A B", UseAssignor("quits")), "range", (), 30)


@pytest.mark.process
def test_an_assignor_that_takes_too_much_memory_is_told_the_limit(install_yours: Callable[..., Yours]) -> None:
    install_yours("hoards", "modest")
    with pytest.raises(AssignorError) as raised:
        fold_any(scenario("range", "A B", UseAssignor("hoards")), "range", (), 60, memory_mb=500)
    assert str(raised.value) == (
        "Event 1 at 600 s (use assignor hoards): The assignor 'hoards' raised MemoryError: Unable to allocate 191. MiB "
        "for an array with shape (25000000,) and data type float64. It may allocate 500 MB (--plugin-memory, "
        "GROUPSCOPE_PLUGIN_MEMORY_MB)."
    )
    made = fold_any(scenario("range", "A"), "modest", (), 60, memory_mb=500)  # with NumPy's own threads
    assert plans(list(made)) == [{"A": "t-0 t-1 t-2 t-3 t-4 t-5"}]


@pytest.mark.process
def test_of_what_an_assignor_says_a_part_is_shown(
    install_yours: Callable[..., Yours], capfd: pytest.CaptureFixture[str]
) -> None:
    install_yours("rants")
    with pytest.raises(AssignorError) as raised:
        fold_any(scenario("range", "A B", UseAssignor("rants")), "range", (), 60)
    ranted = "no" * plugins.MOST_MESSAGE
    said = f"Event 1 at 600 s (use assignor rants): The assignor 'rants' raised ValueError: {ranted}"
    assert str(raised.value) == said[: plugins.MOST_MESSAGE] + "…"
    printed = capfd.readouterr().err
    assert printed == ("word " * 1_000_000)[: plugins.MOST_PRINTED_BYTES] + CUT_OFF.decode()


@pytest.mark.process
def test_an_assignor_whose_process_answers_without_an_end_is_stopped(
    install_yours: Callable[..., Yours], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (child, plugins):
        monkeypatch.setattr(module, "MOST_ANSWER_BYTES", 10_000_000)
    install_yours("spills")
    with pytest.raises(AssignorError) as raised:
        fold_any(scenario("range", "A B", UseAssignor("spills")), "range", (), 60)
    assert str(raised.value) == (
        "The assignor 'spills' answered with more than 10,000,000 bytes, so its process was stopped."
    )


@pytest.mark.process
def test_a_plan_of_objects_that_only_the_plugin_knows_is_refused(install_yours: Callable[..., Yours]) -> None:
    yours = install_yours("wraps")
    with pytest.raises(AssignorError, match=r"^The plan holds a yours\.Strange\. Use plain texts"):
        fold_any(scenario("range", "A"), "wraps", (), 30)
    assert os.getpid() not in yours.processes


@pytest.mark.process
def test_installed_assignors_that_go_wrong_are_reported_and_the_others_stand(
    open_page: Open, install_yours: Callable[..., Yours]
) -> None:
    """The members own their partitions, so each group changes to the assignor, by an event."""
    yours = install_yours("first", "dies", "unready")
    page = open_page("whatif", example=HAND_OVER)
    assert not page.exception
    assert (
        "`dies` cannot compute an assignment:] The assignor 'dies' ended its process with exit code 3 before"
        in reported(page)
    )
    assert (
        "`unready` cannot compute an assignment:] The assignor 'yours:Unready' cannot be loaded: ValueError: no"
        in reported(page)
    )
    assert table(page).loc[["cooperative-sticky", "range", "first"], "moved"].tolist() == [2, 3, 3]
    assert len(yours.processes) == 3
    assert os.getpid() not in yours.processes


@pytest.mark.process
def test_an_installed_assignor_that_hangs_is_reported(
    open_page: Open, install_yours: Callable[..., Yours], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_state, "DEADLINE_S", 2.0)
    install_yours("hangs")
    page = open_page("whatif", example=HAND_OVER)
    assert not page.exception
    assert (
        "`hangs` cannot compute an assignment:] The assignor 'hangs' timed out: it had no plan after 2 s"
        in reported(page)
    )


@pytest.fixture
def plugins_are_busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The thread that waits for plugins waits for something else."""
    threads, is_over = ThreadPoolExecutor(1), Event()
    monkeypatch.setattr(outcomes, "_PLUGINS", threads)
    threads.submit(is_over.wait)
    yield
    is_over.set()
    threads.shutdown(cancel_futures=True)


@pytest.mark.usefixtures("plugins_are_busy")
def test_kafkas_assignors_are_there_before_a_plugin_has_answered(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []
    monkeypatch.setattr(outcomes, "wait_for", lambda its, running: waited.append((its.key, list(running))))
    its = replace(feeds.source(demo=feeds.HandFeed()), settings=Settings(plugins=("yours:First",)))
    page = open_page("whatif", its=its, example=HAND_OVER, assignor="yours:First")
    assert not page.exception
    assert waited == [(f"example:{HAND_OVER}", ["yours:First"])]
    assert list(table(page).index) == ["cooperative-sticky", "range", "roundrobin", "sticky", "uniform", "server-range"]
    assert page.title[0].value == "`c3` joins: 2 of 6 partitions move, no idle members"


@pytest.mark.process
def test_a_page_with_a_plugin_that_answers_soon_is_drawn_once(
    open_page: Open, install_yours: Callable[..., Yours], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_yours("first")
    waited = []
    monkeypatch.setattr(outcomes, "ENOUGH_S", 60.0)
    monkeypatch.setattr(outcomes, "wait_for", lambda its, running: waited.append(running))
    page = open_page("whatif", example=HAND_OVER)
    assert waited == []
    assert table(page).loc[["cooperative-sticky", "range", "first"], "moved"].tolist() == [2, 3, 3]


@pytest.mark.process
@pytest.mark.usefixtures("plugins_are_busy")
def test_a_group_whose_own_assignor_is_a_plugin_is_there_first(
    open_page: Open, install_yours: Callable[..., Yours], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others begin with it as well."""
    install_yours("first")
    monkeypatch.setattr(outcomes, "wait_for", lambda its, running: None)
    begun = scenario(
        "first", (member("A", owned="t-0", generation=1), member("B", owned="t-1", generation=1)), join("C")
    )
    page = open_page("whatif", scenario=link_codec.pack(begun))
    assert not page.exception
    assert list(table(page).index) == ["first"]


@pytest.mark.process
def test_a_plugin_gives_partitions_to_a_member_that_does_not_subscribe(
    open_page: Open, install_yours: Callable[..., Yours]
) -> None:
    install_yours()
    its = replace(feeds.source(demo=feeds.HandFeed()), settings=Settings(plugins=("yours:First",)))
    begun = scenario("range", (member("A", "t"), member("B", "t u")), topics="t:2 u:1")
    page = open_page("whatif", its=its, scenario=link_codec.pack(begun))
    assert "The plan of 'first' is broken. Member 'A' gets u-0 without subscribing to it." in reported(page)
    assert table(page).loc["range", "each"] == "1 to 2"


# -- where only Kafka's own are played ---------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [scenario("first", "A B"), scenario("range", "A B", UseAssignor("first"))])
def test_the_protocol_lab_plays_kafkas_assignors_only(
    open_page: Open, install_yours: Callable[..., Yours], begun: Any
) -> None:
    yours = install_yours("first")
    page = open_page("protocol", scenario=link_codec.pack(begun))
    assert not page.exception
    assert "'first' is not one of Kafka's" in reported(page)
    assert yours.processes == set()


def test_the_call_lab_plays_kafkas_assignors_only(install_yours: Callable[..., Yours]) -> None:
    yours = install_yours("first")
    script = "topic t 2\nA: join assignors=first\nA: sync"
    with pytest.raises(ScenarioError, match=r"Line 2: there is no assignor 'first'\. Choose from range, "):
        link_codec.decode({"story": "two-assignors", "script": link_codec.pack_text(script) or ""}, calls.STORIES)
    assert yours.processes == set()


# -- what the process of a plugin may answer ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eval", "exec", "getattr", "__import__", "print", "bytearray", "complex"])
def test_an_answer_that_names_a_builtin_is_refused(name: str) -> None:
    answer = f"cbuiltins\n{name}\n(S'1'\ntR.".encode()
    with pytest.raises(AssignorError, match=rf"The plan holds a builtins\.{name}\."):
        plugins._read(answer, 0, "'yours'")


@pytest.mark.parametrize(
    "named", ["os system", "assignors.registry entry_points.select", "assignors.scenario.load check_file", "numpy load"]
)
def test_an_answer_that_names_any_other_function_is_refused(named: str) -> None:
    module, name = named.split()
    answer = pickle.PROTO + b"\x04" + b"".join(_text(each) for each in (module, name)) + pickle.STACK_GLOBAL + b"."
    with pytest.raises(AssignorError, match="The plan holds a "):
        plugins._read(answer, 0, "'yours'")


def _text(text: str) -> bytes:
    return pickle.SHORT_BINUNICODE + bytes([len(text)]) + text.encode()


@pytest.mark.parametrize("name", names())
def test_generations_pass_unchanged_under_every_assignor(name: str) -> None:
    for file in examples().values():
        its = load_scenario(file)
        if sum(its.partitions_ever().values()) > 1_000:
            continue
        try:
            made = fold(its, name)
        except AssignorError:
            continue
        passed = plugins._read(pickle.dumps((made, None), pickle.HIGHEST_PROTOCOL), 0, "'yours'")
        assert [one.after.by_member for one in passed] == [one.after.by_member for one in made]
