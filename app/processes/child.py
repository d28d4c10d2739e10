"""Processes of their own, for work that must not slow, block or end the server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread, Timer

from lag.process_family import end_family, environment, new_family, own_family

LOOK_EVERY_S = 0.5
ANSWERED_WITHIN_S = 0.2
"""By then the answer of a process that has ended is read, unless another process has its pipe."""
MOST_ANSWER_BYTES = 200_000_000
PRINTED_WITHIN_S = 1.0
CUT_OFF = b"\n(what else the process prints is left out)\n"


class Child(subprocess.Popen[bytes]):
    """A process that runs a module of ours, with pipes for its stdin and stdout.

    The module's argument is the id of this process, for `end_with_parent`. Of what it prints to stderr, `most_printed`
    bytes go to that of this process; None: all.
    """

    def __init__(self, module: str, most_printed: int | None = None) -> None:
        self.family = new_family()
        self._printed: Thread | None = None
        errors = None if most_printed is None else self._forwarded(most_printed)
        try:
            super().__init__(
                # -P: a folder `app` of the working directory is not ours.
                # -u: what the process prints is out at once. It ends, or is ended, without Python's own flush at exit.
                [sys.executable, "-u", "-P", "-m", module, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(self.family),
                start_new_session=True,
            )
        finally:
            if errors is not None:
                os.close(errors)

    def _forwarded(self, most: int) -> int:
        """The end of a pipe to write to."""
        read, write = os.pipe()
        self._printed = Thread(target=_forward, args=(read, most), name="printed", daemon=True)
        self._printed.start()
        return write

    def wait_for_printed(self) -> None:
        """Wait until what it has printed is forwarded."""
        if self._printed is not None:
            self._printed.join(PRINTED_WITHIN_S)


def _forward(read: int, most: int) -> None:
    """Write the first bytes to stderr, and read on: a process that prints must not wait for us."""
    with open(read, "rb", buffering=0) as printed, suppress(OSError):
        while part := printed.read(65_536):
            if most > 0:
                os.write(2, part[:most])
                most -= len(part)
                if most <= 0:
                    os.write(2, CUT_OFF)


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
    """What the process wrote to stdout, and its exit code (negative: the signal that ended it).

    One whose answer is not whole was ended when it had written MOST_ANSWER_BYTES.
    """

    answer: bytes
    code: int
    is_whole: bool = True


def answer_of(process: Child, question: bytes, deadline_s: float) -> Ended | None:
    """Ask the process on its stdin, and wait until it ends; None if it has not ended at the deadline."""
    is_late = Event()
    timer = Timer(deadline_s, _end_late, (process, is_late))
    timer.daemon = True
    timer.start()
    is_read = Event()
    Thread(target=_end_others, args=(process, is_read), name="others", daemon=True).start()
    with ending(process):
        answer = _exchanged(process, question)
        is_read.set()
        if is_whole := len(answer) <= MOST_ANSWER_BYTES:
            process.wait()
        timer.cancel()
    process.wait_for_printed()
    return None if is_late.is_set() else Ended(answer, process.returncode, is_whole)


def _exchanged(process: Child, question: bytes) -> bytes:
    """The answer; beyond MOST_ANSWER_BYTES one byte of it."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):  # it ended before
        process.stdin.write(question)
        process.stdin.close()
    return process.stdout.read(MOST_ANSWER_BYTES + 1)


def _end_others(process: Child, is_read: Event) -> None:
    """What a process has forked has its pipe too: the end of the answer would come with theirs."""
    process.wait()
    if not is_read.wait(ANSWERED_WITHIN_S):
        end(process)


def _end_late(process: Child, is_late: Event) -> None:
    is_late.set()
    end(process)


def end(process: Child) -> None:
    """End the process, with everything that it has started itself. No effect if it has ended."""
    process.kill()
    end_family(process.family)  # always: what it has started may be in another group and session


def dismiss(process: Child) -> None:
    """End a process that nobody waits for, and close its pipes."""
    end(process)
    with suppress(BrokenPipeError):  # of a question that it has not read
        process.__exit__(None, None, None)


def end_with_parent() -> None:
    """In the process: end it, with all that it has started, soon after the process that started it."""
    parent = int(sys.argv[1])  # not os.getppid(): it may have ended while this process imported its modules
    Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    with suppress(Exception):
        end_family(own_family())  # a plugin in it may be in C code, where no thread of its own could end it
    os.killpg(os.getpid(), signal.SIGKILL)  # the group that it leads itself


def how_it_ended(code: int) -> str:
    """The return code of a process in words."""
    return f"by signal {-code}" if code < 0 else f"with exit code {code}"
