"""A sweep in a process of its own: what it writes, and that no process is left whatever happens."""

import os
import signal
import subprocess
import sys
from math import inf
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace

import psutil
import pyarrow as pa
import pytest

from app.server import sweep_run
from app.server.sweep_run import MAX_RUNS, NICENESS, SweepRun, plan_of
from lag.errors import ConfigError
from lag.history.store import History
from lag.sweeps import local, sweep_table
from lag.sweeps.plan import Plan, SweepRequest, parse_member_counts
from lag.sweeps.sweep_table import SweepHeader
from tests.app.views import swept
from tests.lag.sweeps.scenarios import orders

PATIENCE_S = 60.0


def long_plan() -> Plan:
    """A sweep that takes minutes."""
    return Plan([orders()], SweepRequest(("range",), parse_member_counts("1..5000")))


def reported(run: SweepRun) -> psutil.Process:
    """The process of a run that has reported progress."""
    while not run.cases_done:
        assert run.is_running
        run.wait(0.05)
    return child()


def child() -> psutil.Process:
    (found,) = children()
    return found


def children() -> list[psutil.Process]:
    """The processes of sweeps; earlier tests may have left processes of other pages."""
    return [child for child in psutil.Process().children() if "app.server.sweep_run" in child.cmdline()]


def by_case(cells: pa.Table) -> list[dict[str, object]]:
    case = itemgetter("group_id", "assignor", "members", "failure")
    return sorted(cells.to_pylist(), key=case)


@pytest.mark.process
def test_a_run_writes_what_the_command_writes(tmp_path: Path) -> None:
    plan = Plan(swept.groups(), swept.REQUEST)
    run = SweepRun(plan, "made-up", str(tmp_path))
    run.wait()
    assert (run.error, run.is_cancelled, run.is_running) == (None, False, False)
    assert (run.cases_done, run.groups_done) == (run.cases, run.groups) == (108, 3)
    assert run.sweep_id == sweep_table.sweep_id("made-up", sweep_table.groups(plan), plan.request)
    found = History(tmp_path).query("SELECT * EXCEPT (dt) FROM sweeps", "sweeps")
    (expected,) = local.run(plan, SweepHeader(run.sweep_id, "made-up", found["at"][0].as_py()), batch_s=inf)
    assert by_case(found) == by_case(expected)
    assert len(History(tmp_path).query("SELECT group_id FROM sweep_groups", "sweep_groups")) == 3


@pytest.mark.process
def test_a_cancelled_run_leaves_no_process_and_writes_nothing(tmp_path: Path) -> None:
    run = SweepRun(long_plan(), "made-up", str(tmp_path / "history"))
    process = reported(run)
    assert process.nice() == min(19, os.nice(0) + NICENESS)
    run.cancel()
    run.wait(PATIENCE_S)
    assert (run.is_running, run.is_cancelled, run.error) == (False, True, None)
    assert not process.is_running()
    assert not (tmp_path / "history").exists()
    run.cancel()


@pytest.mark.process
def test_a_run_that_is_cancelled_at_once_leaves_no_process(tmp_path: Path) -> None:
    run = SweepRun(long_plan(), "made-up", str(tmp_path / "history"))
    run.cancel()
    run.wait(PATIENCE_S)
    assert (run.is_running, run.is_cancelled, run.error) == (False, True, None)
    assert children() == []
    assert not (tmp_path / "history").exists()


@pytest.mark.process
def test_a_run_that_has_not_ended_by_its_deadline_is_stopped(tmp_path: Path) -> None:
    run = SweepRun(long_plan(), "made-up", str(tmp_path / "history"), deadline_s=1)
    run.wait(PATIENCE_S)
    assert run.error is not None
    assert run.error.cause == "The sweep was stopped: it had not ended after 1 s"
    assert not run.is_cancelled
    assert not (tmp_path / "history").exists()


def test_the_time_left_follows_the_speed_since_the_first_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now_s=0.0)
    clock.monotonic = lambda: clock.now_s
    monkeypatch.setattr(sweep_run, "time", clock)
    run = SweepRun(long_plan(), "made-up", str(tmp_path / "history"), deadline_s=500)
    run.cancel()
    run.wait(PATIENCE_S)
    progress = []
    for clock.now_s, done in ((3.0, 1000), (13.0, 1100), (23.0, 4000)):
        run._take_report({"done": done})
        progress.append((run.left_s, run.is_too_slow))
    assert progress == [(None, False), (390.0, False), (pytest.approx(20 * 1000 / 3000), False)]
    run.deadline_s = 25
    assert run.is_too_slow


@pytest.mark.process
def test_a_process_that_is_killed_from_outside_is_reported(tmp_path: Path) -> None:
    run = SweepRun(long_plan(), "made-up", str(tmp_path / "history"))
    reported(run).send_signal(signal.SIGKILL)
    run.wait(PATIENCE_S)
    assert run.error is not None
    assert run.error.cause == "The sweep process ended by signal 9"


@pytest.mark.process
def test_a_history_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    run = SweepRun(Plan(swept.groups(), swept.REQUEST), "made-up", str(tmp_path / "file"))
    run.wait(PATIENCE_S)
    assert run.error is not None
    assert f"{tmp_path}/file" in run.error.cause


def test_a_sweep_with_too_many_cases_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(plan_of(swept.groups(), swept.REQUEST)) == 108
    monkeypatch.setattr(sweep_run, "MAX_CASES", 107)
    with pytest.raises(ConfigError, match="108 cases exceed this page's limit of 107"):
        plan_of(swept.groups(), swept.REQUEST)


def test_a_sweep_with_too_many_numbers_of_members_is_refused_with_the_limit() -> None:
    with pytest.raises(ConfigError, match="10,000 member counts exceed this page's limit of 200"):
        plan_of([orders()], SweepRequest(("range",), parse_member_counts("1..10000")))


@pytest.mark.process
def test_more_runs_than_the_server_allows_are_refused_until_one_has_ended(tmp_path: Path) -> None:
    runs = [SweepRun(long_plan(), "made-up", str(tmp_path / "history")) for _ in range(MAX_RUNS)]
    try:
        with pytest.raises(ConfigError, match="2 sweeps are running on this server"):
            SweepRun(long_plan(), "made-up", str(tmp_path / "history"))
        runs[0].cancel()
        runs[0].wait(PATIENCE_S)
        runs.append(SweepRun(long_plan(), "made-up", str(tmp_path / "history")))
    finally:
        for run in runs:
            run.cancel()
            run.wait(PATIENCE_S)


SERVER = """
import sys, time
from tests.app.server.test_sweep_run import SweepRun, long_plan, reported
print(reported(SweepRun(long_plan(), "made-up", sys.argv[1])).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.process
def test_a_run_ends_when_its_server_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVER, str(tmp_path / "history")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        process = psutil.Process(int(server.stdout.readline()))
        server.kill()
    psutil.wait_procs([process], PATIENCE_S)
    assert not process.is_running()
    assert not (tmp_path / "history").exists()
