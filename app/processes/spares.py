"""Processes that are started before they are needed, so that a question does not wait for the start of Python."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Timer

from app.processes.child import Child, dismiss

REFILL_AFTER_S = 3.0


class Spares:
    """Processes that `start` starts and that wait for their question: `most` of them, once `keep` has been called."""

    def __init__(self, start: Callable[[], Child], most: int) -> None:
        self._start, self._most = start, most
        self._ready: list[Child] = []
        self._changes = Lock()
        self._is_kept = False

    def keep(self) -> None:
        """From now on start processes in advance. No effect the second time."""
        if not self._is_kept:
            self._is_kept = True
            self._refill_soon()

    def take(self) -> Child:
        """A process that nobody else asks: one that is ready, else one that starts now."""
        with self._changes:
            taken = self._ready.pop(0) if self._ready else None
        if self._is_kept:
            self._refill_soon()
        if taken is not None and taken.poll() is not None:
            dismiss(taken)
            taken = None
        return taken or self._start()

    def close(self) -> None:
        """End the processes that wait, and start no more."""
        self._is_kept = False
        with self._changes:
            while self._ready:
                dismiss(self._ready.pop())

    def _refill_soon(self) -> None:
        """Not at once: now whoever took a process needs the CPU."""
        later = Timer(REFILL_AFTER_S, self._refill)
        later.daemon = True
        later.start()

    def _refill(self) -> None:
        with self._changes, suppress(OSError):
            while self._is_kept and len(self._ready) < self._most:
                self._ready.append(self._start())
