"""How long this machine lets a process that wants to run wait."""

import threading
import time

_SLEEP_S = 0.01


class Stalls:
    """Sleeps again and again, and measures how much too late it wakes up."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()

    def _measure(self) -> None:
        while not self._ended.is_set():
            began_s = time.monotonic()
            time.sleep(_SLEEP_S)
            self.longest_ms = max(self.longest_ms, (time.monotonic() - began_s - _SLEEP_S) * 1000)

    def end(self) -> float:
        """The longest wait, in milliseconds."""
        self._ended.set()
        self._thread.join()
        return self.longest_ms
