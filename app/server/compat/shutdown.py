"""A server that is told to stop does stop, whoever is still connected.

uvicorn waits for open connections. One that it accepts just as it is told to stop is asked nothing and has no deadline:
a browser that opened it ahead of need, and says nothing, would hold the server for as long as it likes. A second SIGINT
is what ends that wait; this sends it.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

WAIT_S = 3.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def hurried() -> Iterator[None]:
    """While the block runs, a signal to stop is followed by another `WAIT_S` later; nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timers: list[threading.Timer] = []
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}

    def told(number: int, frame: FrameType | None) -> None:
        if not timers:
            timers.append(threading.Timer(WAIT_S, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].daemon = True
            timers[0].start()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in STOP_SIGNALS:
        signal.signal(number, told)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
