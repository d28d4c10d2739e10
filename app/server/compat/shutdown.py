"""The server stops within seconds of SIGINT or SIGTERM, even with open connections.

uvicorn waits for open connections, and for one that it accepts during shutdown it waits without a timeout; browsers
open such connections in advance. A second SIGINT ends the wait, and this module sends it.

Checked against uvicorn 0.54.0 and Streamlit 1.67.0. Unnecessary once Streamlit passes `timeout_graceful_shutdown` to
uvicorn; uvicorn's part is discussed in https://github.com/Kludex/uvicorn/issues/251.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TIMEOUT_S = 3.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_stopping = threading.Event()
_held: list[int] = []


def is_stopping() -> bool:
    """Whether a stop signal has come: an answer without an end ends then."""
    return _stopping.is_set()


@contextmanager
def held_until_it_starts() -> Iterator[None]:
    """In the main thread, a stop signal during the block waits: for the server to start, which it then ends.

    It is passed on after the block. Without this, KeyboardInterrupt while an event loop is made leaves half a loop, of
    which Python prints a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _held.clear()
    before = {number: signal.signal(number, lambda held, _frame: _held.append(held)) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if _held:
        signal.raise_signal(_held[0])


@contextmanager
def graceful_shutdown_timeout() -> Iterator[None]:
    """In the main thread, a stop signal during the block is followed by SIGINT after `TIMEOUT_S`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _stopping.clear()
    timers: list[threading.Timer] = []
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}

    def stop(number: int, frame: FrameType | None) -> None:
        _stopping.set()
        if not timers:
            timers.append(threading.Timer(TIMEOUT_S, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].daemon = True
            timers[0].start()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    if _held:
        stop(_held[0], None)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
