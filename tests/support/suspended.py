"""Processes that stand still for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def suspended(pid: int) -> Iterator[None]:
    """In the block, the process and all that it has started do not run."""
    parent = psutil.Process(pid)
    parent.suspend()
    stopped = [parent, *parent.children(recursive=True)]
    try:
        for process in stopped[1:]:
            process.suspend()
        yield
    finally:
        for process in stopped:
            process.resume()
