"""How a command that runs until it is told to stop is told, once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from app.cli.output import note
from app.server.compat.shutdown import STOP_SIGNALS


@contextmanager
def until_told() -> Iterator[None]:
    """Run the block until SIGINT or SIGTERM, which end it with KeyboardInterrupt; that is swallowed here.

    Whatever the block opened is closed meanwhile, and no second signal may come in between: from the first one on
    they are ignored.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, _end)
    try:
        yield
    except KeyboardInterrupt:
        note("stopped")


def to_the_end() -> None:
    """From here on nothing stops the command: what it begins, it ends."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end(_number: int, _frame: FrameType | None) -> None:
    to_the_end()
    raise KeyboardInterrupt
