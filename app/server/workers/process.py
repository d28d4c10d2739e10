"""A worker process, `python -m app.server.workers.process PARENT_PID`: answers one question after the other.

On stdin: pickled functions without parameters. On stdout: for each an `Answer`, pickled. Both ends are our own code.
"""

import os
import pickle
import sys
from functools import partial
from itertools import count
from typing import IO

import psutil

from app.child_process import end_with_parent
from app.server.workers import pool
from app.server.workers.answer import answer, pickled

NICENESS = 5
"""Added to the niceness of the process: polling and pages go first."""
MOST_ANSWERS = 500
MOST_MEMORY_BYTES = 400_000_000
"""A process that has given as many answers, or has as much memory, ends: another one takes its place."""


def main() -> None:
    """Answer until stdin ends, or until it is time for a fresh process."""
    end_with_parent()
    os.nice(NICENESS)
    pool.install(None)
    questions, answers = _pipes()
    _import_what_is_usual()
    for number in count(1):
        try:
            function = pickle.load(questions)
        except EOFError:
            return
        found = answer(function, partial(_is_last, number))
        answers.write(pickled(found))
        answers.flush()
        if found.is_last:
            return


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes of stdin and stdout; what a function reads or prints does not reach them."""
    questions, answers = os.fdopen(os.dup(sys.stdin.fileno()), "rb"), os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return questions, answers


def _import_what_is_usual() -> None:
    """So that the first question does not wait for it."""
    import assignors.scenario
    import assignors.simulation.side_by_side  # noqa: F401


def _is_last(number: int) -> bool:
    return number >= MOST_ANSWERS or psutil.Process().memory_info().rss >= MOST_MEMORY_BYTES


if __name__ == "__main__":
    main()
