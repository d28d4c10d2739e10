"""Runs a module of ours in a process of its own, with a deadline: what hangs, dies or prints does not take us along."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ended:
    """What the process wrote to stdout, and its exit code (negative: the signal that ended it)."""

    answer: bytes
    code: int


def run_apart(module: str, question: bytes, deadline_s: float) -> Ended | None:
    """Runs `python -m module` with the question on stdin; None if it has not ended at the deadline."""
    # -P: a folder `app` of the working directory is not ours.
    # -u: what the module prints is out at once. The child ends, or is ended, without Python's own flush at exit.
    with subprocess.Popen(
        [sys.executable, "-u", "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            answer, _ = process.communicate(question, deadline_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
    return Ended(answer, process.returncode)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With everything that it has started itself."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
