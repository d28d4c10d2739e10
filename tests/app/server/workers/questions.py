"""What the tests have a worker compute."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from app.server.workers import pool
from assignors.scenario import Problem, ScenarioError
from lag.errors import ConfigError


def process_id() -> int:
    return os.getpid()


def niceness() -> int:
    return os.nice(0)


def waits_for_niceness(wanted: int) -> int:
    while os.nice(0) < wanted:
        time.sleep(0.01)
    return os.nice(0)


def refused() -> None:
    raise ScenarioError([Problem(3, "members", "Nobody is there.")])


def misconfigured() -> None:
    raise ConfigError("No such file", "Name another one")


def unpicklable() -> object:
    return lambda: None


class Large:
    """What needs more memory than the process has that asked for it."""

    def __reduce__(self) -> tuple[Callable[[int], "Large"], tuple[int]]:
        return _large, (os.getpid(),)


def large() -> Large:
    return Large()


def _large(worker: int) -> Large:
    if os.getpid() != worker:
        raise MemoryError
    return Large()


def prints_and_reads() -> str:
    os.write(sys.stdout.fileno(), b"noise")
    return sys.stdin.read()


def megabytes(count: int) -> bytes:
    return b"x" * (count * 1_000_000)


def dies() -> None:
    os._exit(7)


def waits_for(path: Path) -> str:
    path.with_suffix(".pid").write_text(str(os.getpid()))
    while not path.exists():
        time.sleep(0.01)
    return "done"


def asks_a_worker() -> int:
    return pool.computed(process_id)
