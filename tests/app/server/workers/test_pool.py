"""Workers answer in time, or are replaced; nothing that they do reaches the process that asks."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from app.server.workers import pool, process
from app.server.workers.pool import Busy, NotComputed, TimedOut, WorkerPool
from assignors.scenario import ScenarioError
from lag.errors import ConfigError
from tests.app.server.workers import questions
from tests.support.processes import is_alive
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process


def test_questions_in_turn_are_answered_by_one_process(workers: WorkerPool) -> None:
    ids = {workers.computed(questions.process_id) for _ in range(3)}
    assert len(ids) == 1
    assert os.getpid() not in ids
    assert workers.computed(questions.niceness) == os.nice(0)


def test_a_process_that_computes_for_long_gets_a_lower_priority_and_is_replaced(workers: WorkerPool) -> None:
    before = workers.computed(questions.process_id)
    lower = min(19, os.nice(0) + process.NICENESS)
    assert workers.computed(partial(questions.waits_for_niceness, lower)) == lower
    assert workers.computed(questions.process_id) != before


def test_what_a_function_raises_is_raised_here(workers: WorkerPool) -> None:
    with pytest.raises(ScenarioError) as refused:
        workers.computed(questions.refused)
    assert str(refused.value) == "line 3: members: Nobody is there."
    assert [problem.line for problem in refused.value.problems] == [3]
    assert "in refused" in refused.value.__notes__[0]
    with pytest.raises(ConfigError) as misconfigured:
        workers.computed(questions.misconfigured)
    assert (misconfigured.value.cause, misconfigured.value.hint) == ("No such file", "Name another one")


def test_an_answer_that_cannot_be_pickled_is_an_error(workers: WorkerPool) -> None:
    with pytest.raises(TypeError, match="Can't pickle"):
        workers.computed(questions.unpicklable)


def test_a_process_whose_answer_could_not_be_read_is_replaced(workers: WorkerPool) -> None:
    before = workers.computed(questions.process_id)
    with pytest.raises(MemoryError):
        workers.computed(questions.large)
    found = workers.computed(questions.process_id)
    assert found != before
    assert workers.computed(questions.process_id) == found


def test_what_a_function_prints_or_reads_does_not_reach_the_pipes(workers: WorkerPool) -> None:
    assert workers.computed(questions.prints_and_reads) == ""
    assert workers.computed(partial(questions.megabytes, 1)) == b"x" * 1_000_000


def test_a_process_that_has_had_much_memory_is_replaced(workers: WorkerPool) -> None:
    before = workers.computed(questions.process_id)
    most_mb = process.MOST_MEMORY_BYTES // 1_000_000
    assert len(workers.computed(partial(questions.megabytes, most_mb))) == most_mb * 1_000_000
    assert workers.computed(questions.process_id) != before


def test_a_process_without_an_answer_in_time_is_ended_and_replaced(workers: WorkerPool, tmp_path: Path) -> None:
    never = tmp_path / "never"
    workers.computed(questions.process_id)
    with pytest.raises(TimedOut, match=r"no result after 0\.5 s"):
        workers.computed(partial(questions.waits_for, never), deadline_s=0.5)
    waited = int(never.with_suffix(".pid").read_text())
    assert not is_alive(waited)
    assert workers.computed(questions.process_id) != waited


def test_a_process_that_ends_in_the_middle_is_an_error_and_replaced(workers: WorkerPool) -> None:
    with pytest.raises(NotComputed, match="ended with exit code 7"):
        workers.computed(questions.dies)
    assert workers.computed(questions.process_id) > 0


def test_a_process_that_was_killed_while_it_was_idle_is_replaced(workers: WorkerPool) -> None:
    before = workers.computed(questions.process_id)
    killed = psutil.Process(before)
    killed.kill()
    killed.wait()
    assert workers.computed(questions.process_id) != before


def test_one_question_more_than_workers_is_refused_and_the_others_are_answered(
    workers: WorkerPool, tmp_path: Path
) -> None:
    last = tmp_path / "last"
    with ThreadPoolExecutor(pool.MOST_WORKERS) as threads:
        waiting = [
            threads.submit(workers.computed, partial(questions.waits_for, path))
            for path in (*(tmp_path / str(number) for number in range(1, pool.MOST_WORKERS)), last)
        ]
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == pool.MOST_WORKERS, within_s=60)
        with pytest.raises(Busy, match="already has 3 computations running"):
            workers.computed(questions.process_id, wait_s=0.1)
        last.touch()
        assert waiting[-1].result() == "done"
        assert workers.computed(questions.process_id) == int(last.with_suffix(".pid").read_text())
        for number in range(1, pool.MOST_WORKERS):
            (tmp_path / str(number)).touch()


def test_a_worker_computes_itself_what_is_asked_of_a_pool_there(workers: WorkerPool) -> None:
    assert workers.computed(questions.asks_a_worker) == workers.computed(questions.process_id)


def test_workers_are_warm_before_they_are_asked_and_end_with_the_server(workers: WorkerPool) -> None:
    pool.warm()
    me = psutil.Process()
    wait_until(lambda: len(_workers(me)) == pool.WARM)
    started = _workers(me)
    wait_until(lambda: workers.computed(questions.process_id) in {each.pid for each in started})
    pool.close()
    assert [each for each in started if each.is_running()] == []
    assert workers.computed(questions.process_id) > 0


ASK = """
from functools import partial
from pathlib import Path
from app.server.workers import pool
from tests.app.server.workers import questions
pool.computed(partial(questions.waits_for, Path("never").absolute()))
"""


def test_a_worker_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    here = Path(__file__).parents[4]
    with subprocess.Popen([sys.executable, "-c", ASK], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(here)}) as it:
        pid_file = tmp_path / "never.pid"
        wait_until(lambda: pid_file.exists() and pid_file.read_text() != "", within_s=60)
        it.kill()
    worker = int(pid_file.read_text())
    wait_until(lambda: not is_alive(worker))


def _workers(parent: psutil.Process) -> list[psutil.Process]:
    return [each for each in parent.children() if process.__name__ in each.cmdline()]
