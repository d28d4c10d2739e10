"""Processes of their own, for work that must not slow, block or end the server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread

from lag.process_family import end_family, environment, new_family

LOOK_EVERY_S = 0.5


class Child(subprocess.Popen[bytes]):
    """A process that runs a module of ours, with pipes for its stdin and stdout.

    The module's argument is the id of this process, for `end_with_parent`.
    """

    def __init__(self, module: str) -> None:
        self.family = new_family()
        super().__init__(
            # -P: a folder `app` of the working directory is not ours.
            # -u: what the process prints is out at once. It ends, or is ended, without Python's own flush at exit.
            [sys.executable, "-u", "-P", "-m", module, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(self.family),
            start_new_session=True,
        )


@contextmanager
def ending(process: Child) -> Iterator[Child]:
    """The end of the block ends the process."""
    with process:
        try:
            yield process
        finally:
            end(process)


@dataclass(frozen=True, slots=True)
class Ended:
    """What the process wrote to stdout, and its exit code (negative: the signal that ended it)."""

    answer: bytes
    code: int


def answer_of(process: Child, question: bytes, deadline_s: float) -> Ended | None:
    """Ask the process on its stdin, and wait until it ends; None if it has not ended at the deadline."""
    with ending(process):
        try:
            answer, _ = process.communicate(question, deadline_s)
        except subprocess.TimeoutExpired:
            return None
    return Ended(answer, process.returncode)


def end(process: Child) -> None:
    """End the process, with everything that it has started itself. No effect if it has ended."""
    process.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, 0)  # nothing is left of most: this saves the search through all processes
        end_family(process.family)


def dismiss(process: Child) -> None:
    """End a process that nobody waits for, and close its pipes."""
    end(process)
    with suppress(BrokenPipeError):  # of a question that it has not read
        process.__exit__(None, None, None)


def end_with_parent() -> None:
    """In the process: end it, with what it has started in its group, soon after the process that started it."""
    parent = int(sys.argv[1])  # not os.getppid(): it may have ended while this process imported its modules
    Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os.killpg(os.getpid(), signal.SIGKILL)  # the group that it leads itself


def how_it_ended(code: int) -> str:
    """The return code of a process in words."""
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"
