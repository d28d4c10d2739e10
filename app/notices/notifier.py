"""Sends notices while the server runs."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import IO

from app.notices.board import Board
from app.notices.store import lock_state
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

    `clusters` are the names of those that are polled. Of several servers with the same state file, the first one sends;
    the others stand by, and look at each poll whether it ended. Raises ConfigError if the state file cannot be used.
    """

    def __init__(self, notices: Notices, clusters: Iterable[str], clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._notices, self._clusters, self._clock_ms = notices, tuple(clusters), clock_ms
        self._taking_over = threading.Lock()
        self._lock: IO[bytes] | None = None
        self._board: Board | None = None
        self._workers: Sequence[Worker] = ()
        self._problem: ConfigError | None = None
        try:
            self._begin()
        except ConfigError:
            self._release()
            raise

    def observe(self, cluster: str, health: Health) -> None:
        """Take note of a poll. Returns at once."""
        with self._taking_over:
            if self._board is None:
                self._take_over()
        if self._board is not None:
            self._board.observe(cluster, health)

    @property
    def is_standby(self) -> bool:
        """Another server sends the notices."""
        return self._lock is None

    def statuses(self) -> Sequence[TargetStatus]:
        """The state of each target, in the order of the file; none while another server sends the notices."""
        return [worker.status for worker in self._workers]

    def problem(self) -> ConfigError | None:
        """Why incidents are not stored; None: they are."""
        return self._problem if self._board is None else self._board.problem

    def __enter__(self) -> "Notifier":
        for worker in self._workers:
            worker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._board is not None:
            self._board.stop()
            deadline = time.monotonic() + STOP_WITHIN_S
            for worker in self._workers:
                worker.join(max(0.0, deadline - time.monotonic()))
            self._board.save()
        self._release()

    def _begin(self) -> None:
        """Read the state, unless another server has it. Raises ConfigError."""
        if self._lock is None:
            self._lock = lock_state(self._notices.state)
        if self._lock is not None:
            board = self._board = Board(self._notices, self._clusters, self._clock_ms)
            its = (self._notices.dashboard, self._clock_ms)
            self._workers = [Worker(target, board, *its) for target in self._notices.targets]

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()

    def _take_over(self) -> None:
        """Begin if the other server has ended."""
        try:
            self._begin()
        except ConfigError as error:
            self._problem = error
            return
        for worker in self._workers:
            worker.start()
