"""A file that one process at a time changes, also when each puts another file in its place."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OWNER_ONLY = 0o600
"""The mode of a file that is made here."""
LOOK_EVERY_S = 0.05


@contextmanager
def locked_file(path: Path, flags: int, wait_s: float | None = None) -> Iterator[int]:
    """The file, opened with these flags and locked, so that no other process replaces it meanwhile.

    Waits for another process or thread that has it, at most `wait_s`, then raises TimeoutError. Raises OSError.
    """
    give_up_s = None if wait_s is None else time.monotonic() + wait_s
    while True:
        file = os.open(path, flags | os.O_CLOEXEC, OWNER_ONLY)
        try:
            _lock(file, give_up_s)
            if _is_at(path, file):
                yield file
                return
        finally:
            os.close(file)


def _lock(file: int, give_up_s: float | None) -> None:
    """The system has no lock that waits for a limited time."""
    if give_up_s is None:
        fcntl.flock(file, fcntl.LOCK_EX)
        return
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > give_up_s:
                raise TimeoutError from None
        time.sleep(LOOK_EVERY_S)


def _is_at(path: Path, file: int) -> bool:
    """Whether the open file still has that name: another process may have replaced it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except FileNotFoundError:
        return False
