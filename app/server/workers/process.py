"""A worker process, `python -m app.server.workers.process PARENT_PID`: answers one question after the other.

On stdin: pickled functions without parameters. On stdout: for each an `Answer`, pickled. Both ends are our own code.
"""

import os
import pickle
import sys
from collections.abc import Callable
from itertools import count
from threading import Timer
from typing import IO, Any

import psutil

from app.processes.child import end_with_parent
from app.server.workers import pool
from app.server.workers.answer import Answer, answer, pickled

LONG_S, NICENESS = 1.0, 10
"""After LONG_S the niceness of the process rises by NICENESS: polling and pages go first. It ends after that answer,
since it may not go back."""
MOST_ANSWERS = 500
MOST_MEMORY_BYTES = 400_000_000
"""A process that has given as many answers, or has as much memory, ends: another one takes its place."""


def main() -> None:
    """Answer until stdin ends, or until it is time for a fresh process."""
    end_with_parent()
    pool.install(None)
    questions, answers = _pipes()
    _warm_up()
    for number in count(1):
        try:
            function = pickle.load(questions)
        except EOFError:
            return
        found = _answered(function, number)
        answers.write(pickled(found))
        answers.flush()
        if found.is_last:
            return


def _answered(function: Callable[[], Any], number: int) -> Answer:
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    lower = Timer(LONG_S, os.setpriority, (os.PRIO_PGRP, 0, min(usual + NICENESS, 19)))
    lower.daemon = True
    lower.start()

    def is_last() -> bool:
        lower.cancel()
        was_long = os.getpriority(os.PRIO_PROCESS, 0) > usual
        return was_long or number >= MOST_ANSWERS or psutil.Process().memory_info().rss >= MOST_MEMORY_BYTES

    return answer(function, is_last)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes of stdin and stdout; what a function reads or prints does not reach them."""
    questions, answers = os.fdopen(os.dup(sys.stdin.fileno()), "rb"), os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return questions, answers


def _warm_up() -> None:
    """Import what is usual, so that the first question does not wait for it."""
    import assignors.simulation.side_by_side  # noqa: F401
    from assignors import fold
    from assignors.scenario import examples, load_scenario
    from assignors.whatif.comparison import compatible_assignors

    scenario = load_scenario(examples()["hot-member"])
    for assignor in compatible_assignors(scenario):
        fold(scenario, assignor)


if __name__ == "__main__":
    main()
