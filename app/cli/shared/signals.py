"""Commands that run until SIGINT or SIGTERM."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from app.cli.shared.output import note
from app.server.compat.shutdown import STOP_SIGNALS


@contextmanager
def until_stopped() -> Iterator[None]:
    """Run the block until SIGINT or SIGTERM, which end it with KeyboardInterrupt; that is caught here.

    Further signals are ignored, so that everything the block opened is closed undisturbed. A task group that is
    interrupted in a step of its own task raises a group of exceptions.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, _end)
    try:
        yield
    except* KeyboardInterrupt:
        note("stopped")


def ignore_signals() -> None:
    """Ignore SIGINT and SIGTERM from here on."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end(_number: int, _frame: FrameType | None) -> None:
    ignore_signals()
    raise KeyboardInterrupt
