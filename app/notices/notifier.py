"""Sends notices while the server runs."""

import logging
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
from lag.times import wall_clock_ms
from lag.verdict.health import Health
from lag.watched_file import Reading

log = logging.getLogger(__name__)

STOP_WITHIN_S = 1.0
"""How long all attempts that are under way may take when the server stops."""


class Notifier:
    """The targets of a notices file, each in a thread of its own; as a context manager they run inside the block.

    `read` returns the content of the file and is called at each poll: a change takes effect then. `clusters` are the
    names of those that are polled. Of several servers with the same state file, the first one sends; the others stand
    by, and look at each poll whether it ended. Raises ConfigError if the state file cannot be used.
    """

    def __init__(
        self,
        read: Callable[[], Reading[Notices]],
        clusters: Iterable[str],
        clock_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self._read, self._clusters, self._clock_ms = read, tuple(clusters), clock_ms
        self._notices = read().value
        self._observing = threading.Lock()
        self._lock: IO[bytes] | None = None
        self._board: Board | None = None
        self._workers: Sequence[Worker] = ()
        self._problem: ConfigError | None = None
        self.file_problem: ConfigError | None = None
        """What is wrong with the file, which is not in force as it is; None: nothing."""
        try:
            self._begin()
        except ConfigError:
            self._release()
            raise

    def observe(self, cluster: str, health: Health) -> None:
        """Take note of a poll. Returns at once."""
        with self._observing:
            self._read_again()
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
            self._workers = [Worker(target, board, self._clock_ms) for target in self._notices.targets]

    def _read_again(self) -> None:
        """Use what is in the file now, unless it is wrong or names another state file."""
        found = self._read()
        problem = found.problem
        if found.value.state != self._notices.state:
            problem = ConfigError(
                "The notices file names another `state`", "That takes effect when the server restarts"
            )
        elif found.value is not self._notices:
            self._notices = found.value
            if self._board is not None:
                self._change_targets(self._board)
            log.info("the notices file was reloaded: %d targets", len(self._notices.targets))
        if problem is not None and str(problem) != str(self.file_problem):
            log.error("the notices file is invalid: %s", problem)
        self.file_problem = problem

    def _change_targets(self, board: Board) -> None:
        """Workers of targets that are still there go on, with their failures and retries."""
        old = {(worker.target.name, worker.target.kind): worker for worker in self._workers}
        workers, started = list[Worker](), list[Worker]()
        for target in self._notices.targets:
            worker = old.pop((target.name, target.kind), None)
            if worker is None:
                worker = Worker(target, board, self._clock_ms)
                started.append(worker)
            worker.target = target
            workers.append(worker)
        for removed in old.values():
            removed.remove()
        self._workers = workers
        board.change(self._notices)
        for worker in started:
            worker.start()

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
