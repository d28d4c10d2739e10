"""A file that one process at a time changes, also when each puts another file in its place."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OWNER_ONLY = 0o600
"""The mode of a file that is made here."""


@contextmanager
def locked_file(path: Path, flags: int) -> Iterator[int]:
    """The file, opened with these flags and locked, so that no other process replaces it meanwhile. Raises OSError."""
    while True:
        file = os.open(path, flags | os.O_CLOEXEC, OWNER_ONLY)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Whether the open file still has that name: another process may have replaced it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except FileNotFoundError:
        return False
