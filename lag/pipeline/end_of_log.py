"""Stores until when `__consumer_offsets` is read: a stream at an earlier log end has all records before it."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from lag.errors import ConnectError
from lag.history.resume.stream_progress import mark_read
from lag.history.store import History

ASK_EVERY_S = 10.0
HELD_S = 60.0
"""Transactions that commit offsets usually end within a second; by default the broker aborts them after a minute
(`transaction.timeout.ms`)."""


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The end of the topic at a time: log end and last stable offset of each partition. `at` is before the request.

    The log end counts: commits behind an open transaction are valid for the coordinator, but the stream reads them only
    after it has ended.
    """

    at: datetime
    ends: tuple[int, ...]
    last_stable: tuple[int, ...]

    def is_reached(self, position: Sequence[int]) -> bool:
        """Whether a reader with these next offsets has read all of it."""
        return all(at >= end for at, end in zip_longest(position, self.ends, fillvalue=0))


class ReadMarks:
    """Stores until when a cluster's records are in the history (`lag.history.resume.stream_progress`).

    One log end at a time: the next one is requested after the stream has reached the previous one.
    """

    def __init__(self, history: History, cluster: str, first: LogEnd, ask: Callable[[], LogEnd]) -> None:
        self._history, self._cluster, self._ask = history, cluster, ask
        self._awaited: LogEnd | None = first
        self._next_s = time.monotonic() + HELD_S

    def follow(self, position: Sequence[int]) -> tuple[int, ...]:
        """Call it repeatedly; all records before these offsets are in the tables.

        Returns, once a minute, the partitions in which a transaction is open that was open a minute ago. Raises
        HistoryError.
        """
        held: tuple[int, ...] = ()
        if time.monotonic() >= self._next_s:
            with suppress(ConnectError):  # the stream reports brokers that do not answer
                held = self._look()
            self._next_s = time.monotonic() + (ASK_EVERY_S if self._awaited is None else HELD_S)
        if self._awaited is not None and self._awaited.is_reached(position):
            mark_read(self._history, self._cluster, self._awaited.at)
            self._awaited, self._next_s = None, time.monotonic() + ASK_EVERY_S
        return held

    def _look(self) -> tuple[int, ...]:
        """Request the log end: to await it, or to see what holds back the one that is awaited."""
        now, before = self._ask(), self._awaited
        if before is None:
            self._awaited = now
            return ()
        ends = enumerate(zip(now.last_stable, before.ends, strict=False))
        return tuple(number for number, (last_stable, end) in ends if last_stable < end)
