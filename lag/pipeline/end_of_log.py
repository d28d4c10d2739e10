"""Looks at where `__consumer_offsets` ends: once the stream has read up to there, it has all from before the look."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from lag.errors import ConnectError
from lag.history.store import History
from lag.history.stream_progress import mark_read

LOOK_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Look:
    """Where the topic ended: per partition its last stable offset. `at` is just before the brokers were asked."""

    at: datetime
    ends: tuple[int, ...]

    def is_reached(self, position: Sequence[int]) -> bool:
        """Whether a reader that goes on at these offsets has seen all of it."""
        return all(at >= end for at, end in zip_longest(position, self.ends, fillvalue=0))


class Looks:
    """Writes down until when a cluster's records are in the history (`lag.history.stream_progress`).

    One look at a time: it is waited for, however long the stream takes, then there is another.
    """

    def __init__(self, history: History, cluster: str, first: Look, ask: Callable[[], Look]) -> None:
        self._history, self._cluster, self._ask = history, cluster, ask
        self._awaited: Look | None = first
        self._next_s = time.monotonic() + LOOK_EVERY_S

    def follow(self, position: Sequence[int]) -> None:
        """Called again and again: all before these offsets is in the tables. Raises HistoryError."""
        if self._awaited is None and time.monotonic() >= self._next_s:
            with suppress(ConnectError):  # brokers that are away are told by who waits for their records
                self._awaited = self._ask()
            self._next_s = time.monotonic() + LOOK_EVERY_S
        if self._awaited is not None and self._awaited.is_reached(position):
            mark_read(self._history, self._cluster, self._awaited.at)
            self._awaited = None
