"""The supervisor's requests, on a real process."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lag.embedded.supervisor import Supervisor
from tests.support.processes import somebody_elses
from tests.support.waiting import wait_until

THREADS_THAT_COMPUTE = """
import itertools, threading
for _ in range(8):
    threading.Thread(target=lambda: max(itertools.count())).start()
"""


@pytest.fixture
def busy() -> Iterator[None]:
    """More work than the machine has cores for."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.process
@pytest.mark.usefixtures("busy")
def test_process_has_stopped_when_the_answer_to_sigstop_comes(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path / "kafka")
    (tmp_path / "kafka").mkdir()
    command = [sys.executable, "-c", THREADS_THAT_COMPUTE]
    pid = supervisor.answer({"do": "start", "name": "it", "command": command, "log": str(tmp_path / "log")})["pid"]
    seen = set()
    for _ in range(100):
        supervisor.answer({"do": "signal", "name": "it", "number": signal.SIGSTOP})
        seen.add(psutil.Process(pid).status())
        supervisor.answer({"do": "signal", "name": "it", "number": signal.SIGCONT})
    running = supervisor.answer({"do": "poll", "name": "it"})
    supervisor.close()
    assert seen == {psutil.STATUS_STOPPED}
    assert running == {"code": None}


def test_sigstop_to_a_process_that_has_ended_does_not_wait(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path / "kafka")
    (tmp_path / "kafka").mkdir()
    command = [sys.executable, "-c", ""]
    supervisor.answer({"do": "start", "name": "it", "command": command, "log": str(tmp_path / "log")})
    supervisor.answer({"do": "signal", "name": "it", "number": signal.SIGKILL})
    assert supervisor.answer({"do": "signal", "name": "it", "number": signal.SIGSTOP}) == {}
    supervisor.close()


def test_the_end_spares_a_process_that_now_has_the_id_of_one_that_ended_before(tmp_path: Path) -> None:
    """A process id is free again once the process has been waited for, which `poll` does."""
    supervisor = Supervisor(tmp_path / "kafka")
    (tmp_path / "kafka").mkdir()
    supervisor.answer({"do": "start", "name": "it", "command": ["true"], "log": str(tmp_path / "log")})
    wait_until(lambda: supervisor.answer({"do": "poll", "name": "it"}) == {"code": 0})
    with somebody_elses("sleep", "600") as other:
        supervisor._processes["it"].pid = other.pid
        supervisor.close()
        assert other.poll() is None
