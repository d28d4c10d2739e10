"""Sends notices while the server runs."""

import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

from app.notices.board import Board
from app.notices.targets import Notices
from app.notices.worker import TargetStatus, Worker
from lag.errors import ConfigError
from lag.verdict.health import Health

STOP_WITHIN_S = 1.0
"""How long all attempts that are under way may take when the server stops."""


def wall_clock_ms() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Notifier:
    """The targets of a notices file, each in a thread of its own; as a context manager they run inside the block.

    `clusters` are the names of those that are polled. Raises ConfigError if the state file cannot be used.
    """

    def __init__(self, notices: Notices, clusters: Iterable[str], clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._board = Board(notices, clusters, clock_ms)
        self._workers = [Worker(target, self._board, notices.dashboard, clock_ms) for target in notices.targets]

    def observe(self, cluster: str, health: Health) -> None:
        """Take note of a poll. Returns at once."""
        self._board.observe(cluster, health)

    def statuses(self) -> Sequence[TargetStatus]:
        """The state of each target, in the order of the file."""
        return [worker.status for worker in self._workers]

    def problem(self) -> ConfigError | None:
        """Why incidents are not stored; None: they are."""
        return self._board.problem

    def __enter__(self) -> "Notifier":
        for worker in self._workers:
            worker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._board.stop()
        deadline = time.monotonic() + STOP_WITHIN_S
        for worker in self._workers:
            worker.join(max(0.0, deadline - time.monotonic()))
        self._board.save()
