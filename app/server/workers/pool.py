"""The worker processes of this server, and how something is computed by them."""

import pickle
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, LifoQueue
from threading import Event, Thread, Timer
from typing import TypeVar, cast

from app.plugins import DEADLINE_S
from app.processes.child import Child, dismiss, end, how_it_ended
from app.server.workers.answer import Answer
from lag.errors import GroupscopeError

MOST_WORKERS = 3
"""For all pages and requests. The HTTP API uses fewer at a time, so that one is left for pages."""
WARM = 2
"""Workers that are started with the first page; the others when they are needed."""
WAIT_S = 10.0
"""How long a page waits for a free worker."""

T = TypeVar("T")


class NotComputed(GroupscopeError):
    """A worker gave no answer."""


class Busy(NotComputed):
    """No worker became free in time."""


class TimedOut(NotComputed):
    """There was no answer at the deadline."""


class Worker:
    """A process that answers one question at a time."""

    def __init__(self) -> None:
        self._process = Child("app.server.workers.process")
        self._is_usable = True

    @property
    def is_usable(self) -> bool:
        """Whether it can be asked again."""
        return self._is_usable and self._process.poll() is None

    def answer(self, question: bytes, deadline_s: float) -> Answer:
        """The answer. Raises TimedOut, and NotComputed when the process ends before."""
        timed_out = Event()
        timer = Timer(deadline_s, self._time_out, (timed_out,))
        timer.daemon = True
        timer.start()
        self._is_usable = False  # whatever goes wrong, the next question must not get what is left of this answer
        try:
            found = self._asked(question)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            raise self._no_answer(timed_out, deadline_s) from None
        finally:
            timer.cancel()
        self._is_usable = not (found.is_last or timed_out.is_set())
        return found

    def end(self) -> None:
        """End the process. No effect if it has ended."""
        dismiss(self._process)

    def _asked(self, question: bytes) -> Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(question)
        self._process.stdin.flush()
        return cast(Answer, pickle.load(self._process.stdout))

    def _time_out(self, timed_out: Event) -> None:
        timed_out.set()
        end(self._process)

    def _no_answer(self, timed_out: Event, deadline_s: float) -> NotComputed:
        if timed_out.is_set():
            return TimedOut(f"There was no result after {deadline_s:g} s, so the computation was stopped")
        how = how_it_ended(self._process.wait())
        return NotComputed(f"The process that computed it ended {how}", "See the server's log")


class WorkerPool:
    """At most `most` worker processes, started when they are needed. Thread safe."""

    def __init__(self, most: int = MOST_WORKERS) -> None:
        self._most = most
        self._places = LifoQueue[Worker | None]()
        for _ in range(most):
            self._places.put(None)
        self._is_warm = Event()

    def warm(self) -> None:
        """Start WARM workers, once, so that the first questions do not wait for their start."""
        if not self._is_warm.is_set():
            self._is_warm.set()
            Thread(target=self._warm, name="workers", daemon=True).start()

    def computed(self, function: Callable[[], T], deadline_s: float = DEADLINE_S, wait_s: float = WAIT_S) -> T:
        """What the function returns or raises, in a worker. Raises Busy, TimedOut and NotComputed as well.

        The function and what it returns or raises must be picklable.
        """
        question = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
        worker = self._place(wait_s)
        try:
            found = worker.answer(question, deadline_s)
        finally:
            self._places.put(worker if worker.is_usable else _replaced(worker))
        if found.raised is not None:
            raise found.raised.exception()
        return cast(T, found.value)

    def close(self) -> None:
        """End the processes that are idle; the others end with this one."""
        for place in self._idle_places():
            if place is not None:
                place.end()
            self._places.put(None)

    def _idle_places(self) -> list[Worker | None]:
        places = list[Worker | None]()
        with suppress(Empty):
            while True:
                places.append(self._places.get_nowait())
        return places

    def _warm(self) -> None:
        started = list[Worker]()
        with suppress(NotComputed):
            while len(started) < WARM:
                started.append(self._place(0.0))
        for worker in started:
            self._places.put(worker)

    def _place(self, wait_s: float) -> Worker:
        """A worker that nobody else asks. Raises Busy, and NotComputed when a process cannot be started."""
        try:
            place = self._places.get(timeout=wait_s)
        except Empty:
            message = f"The server already has {self._most} computations running"
            raise Busy(message, "Try again in a moment") from None
        if place is not None and place.is_usable:
            return place
        try:
            return Worker() if place is None else _replacement(place)
        except OSError as error:
            self._places.put(None)
            raise NotComputed(f"The process did not start: {error.strerror}") from None


def _replacement(worker: Worker) -> Worker:
    worker.end()
    return Worker()


def _replaced(worker: Worker) -> Worker | None:
    """Another worker in its place, or nothing if its process cannot be started."""
    try:
        return _replacement(worker)
    except OSError:
        return None


_pool: WorkerPool | None = WorkerPool()


def install(pool: WorkerPool | None) -> WorkerPool | None:
    """Set the pool of this process, and return the one before; None: it computes all itself, as a worker does."""
    global _pool
    before, _pool = _pool, pool
    return before


def computed(function: Callable[[], T], deadline_s: float = DEADLINE_S, wait_s: float = WAIT_S) -> T:
    """What the function returns or raises, computed by the pool of this process: see `WorkerPool.computed`."""
    return function() if _pool is None else _pool.computed(function, deadline_s, wait_s)


def warm() -> None:
    """Start some workers of the pool."""
    if _pool is not None:
        _pool.warm()


def close() -> None:
    """End the idle workers of the pool."""
    if _pool is not None:
        _pool.close()
