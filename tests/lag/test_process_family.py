"""Who belongs to a family, and that its end spares everybody else."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from lag.process_family import end_family, environment, living, new_family

LINE = b"started\n"
WITH_A_CHILD = """
import subprocess, sys
command = [sys.executable, "-c", "import time; print('started', flush=True); time.sleep(600)"]
subprocess.run(command, start_new_session=True)
"""


class Started(ExitStack):
    """Starts processes in families; those that are left at the end of the test are killed."""

    def process(self, *families: str, program: str = "") -> subprocess.Popen[bytes]:
        """It, or the child of its program, has reported that it runs."""
        command = [sys.executable, "-c", program] if program else ["sh", "-c", "echo started; exec sleep 600"]
        process = self.enter_context(subprocess.Popen(command, env=environment(*families), stdout=subprocess.PIPE))
        self.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == LINE
        return process


@pytest.fixture
def start() -> Iterator[Started]:
    with Started() as started:
        yield started


def test_the_end_of_a_family_spares_other_families_and_processes_without_one(start: Started) -> None:
    ours, theirs = new_family(), new_family()
    ended, spared, none = start.process(ours), start.process(theirs), start.process()
    end_family(ours)
    assert [ended.wait(10), spared.poll(), none.poll()] == [-9, None, None]


def test_a_process_of_two_families_ends_with_either(start: Started) -> None:
    outer, inner = new_family(), new_family()
    both, only_outer = start.process(outer, inner), start.process(outer)
    end_family(inner)
    assert [both.wait(10), only_outer.poll()] == [-9, None]


@pytest.mark.process
def test_a_child_in_a_session_of_its_own_ends_with_its_family(start: Started) -> None:
    family = new_family()
    start.process(family, program=WITH_A_CHILD)
    assert len(living(family)) == 2
    end_family(family)
    assert living(family) == []


def test_families_of_this_process_hold_for_what_it_starts(start: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = new_family(), new_family()
    for name, value in environment(outer).items():
        monkeypatch.setenv(name, value)
    process = start.process(inner)
    assert [process.pid] == [each.pid for each in living(outer)] == [each.pid for each in living(inner)]
    assert os.getpid() not in [each.pid for each in living(outer)]
