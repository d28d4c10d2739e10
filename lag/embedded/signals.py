"""A moment in which no signal may raise: a process that was just started has to be known to whoever ends it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """SIGINT and SIGTERM that come inside are handled right after. Only in the main thread are they handled at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for told in came[:1]:  # one ends us; a second would come in between while we clean up
            signal.raise_signal(told)
