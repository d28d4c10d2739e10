"""Whose turn it is to redraw: pages that update themselves share a part of one core, so that clicks are answered.

With few pages, each redraws at once when there is a new snapshot; with many, each at every second or third one.
"""

import threading
import time
from collections.abc import Callable

SHARE = 1 / 3
"""The share of one core for all redraws that no click has caused."""

BURST = 4
LAPSES_AFTER_S = 120.0
"""A turn that is not taken in this time lapses: its page was closed."""

FIRST_GUESS_S = 0.1
NEWEST_WEIGHT = 0.1


class RedrawTurns:
    """Turns of pages. A page that asks for the first time gets the next turn that is free. Thread safe."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._cost_s, self._last_s = FIRST_GUESS_S, 0.0
        self._turn_s: dict[str, float] = {}
        self._lock = threading.Lock()

    def took(self, processor_s: float) -> None:
        """A page was drawn in that time of a processor."""
        with self._lock:
            self._cost_s += NEWEST_WEIGHT * (processor_s - self._cost_s)

    def is_next(self, page: str) -> bool:
        """Whether the turn of the page has come. It is used up; otherwise the page asks again."""
        with self._lock:
            now_s, every_s = self._clock_s(), self._cost_s / SHARE
            if page not in self._turn_s:
                self._forget(now_s - LAPSES_AFTER_S)
                self._last_s = max(self._last_s, now_s - BURST * every_s) + every_s
                self._turn_s[page] = self._last_s
            if now_s < self._turn_s[page]:
                return False
            del self._turn_s[page]
            return True

    def _forget(self, before_s: float) -> None:
        for page in [page for page, turn_s in self._turn_s.items() if turn_s < before_s]:
            del self._turn_s[page]


turns = RedrawTurns()
"""Of this process."""
