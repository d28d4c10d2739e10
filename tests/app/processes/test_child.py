"""A process of its own ends with the process that started it, however that ends."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.processes.child import Child, answer_of, end, ending
from tests.support.processes import command_line, is_alive, somebody_elses, using
from tests.support.waiting import wait_until

ASK = """
import sys
from app.server.api.worker import computation, tasks
plugin = "tests.app.bad_plugins:" + sys.argv[1]
scenario = b'''{"schema_version": 1, "name": "one", "assignor": "range", "topics": [{"name": "t", "partitions": 1}],
"members": [{"id": "a", "topics": ["t"]}]}'''
options = {"assignors": [plugin], "plugins": [plugin], "plugin_memory_mb": 2_000}
computation.computed(tasks.WHAT_IF, scenario, options, deadline_s=600)
"""


def _left(started: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run after 30 s; a zombie, which whoever adopted it has not looked at, does not."""
    _, left = psutil.wait_procs(started, timeout=30)
    return [each for each in left if is_alive(each.pid)]


def test_a_worker_and_its_plugin_end_with_a_server_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAWDLES_UNTIL", str(tmp_path / "never"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ASK, "Dawdles"]) as server:
        wait_until(lambda: any("app.plugins" in command_line(each) for each in using(tmp_path)), within_s=60)
        started = [each for each in using(tmp_path) if each.pid != server.pid]
        server.kill()
    assert (len(started), _left(started)) == (2, [])


@pytest.mark.process
def test_a_plugin_that_keeps_the_interpreter_to_itself_ends_with_a_server_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = tmp_path / "stuck"
    monkeypatch.setenv("STICKS_FROM", str(stuck))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ASK, "Sticks"]) as server:
        wait_until(stuck.exists, within_s=60)
        started = [each for each in using(tmp_path) if each.pid != server.pid]
        server.kill()
    left = _left(started)
    for each in left:
        each.kill()
    assert (len(started), left) == (2, [])


@pytest.mark.process
@pytest.mark.parametrize("how", [b"in its group", b"in a session", b"forked"])
def test_what_a_process_has_started_ends_with_it(how: bytes) -> None:
    ended = answer_of(Child("tests.app.leaves_a_child"), how, deadline_s=60)
    assert ended is not None
    assert ended.code == 0
    assert not is_alive(int(ended.answer))


@pytest.mark.process
def test_a_process_that_now_has_the_id_of_one_that_ended_is_spared() -> None:
    with ending(Child("platform")) as process, somebody_elses("sleep", "600") as other:
        process.wait()
        process.pid = other.pid
        end(process)
        assert other.poll() is None
