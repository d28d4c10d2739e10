"""Stream, roll-ups and care of the tables in one session: one JVM instead of two, for a small cluster."""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from lag.cluster.offsets_topic import read_offsets_topic
from lag.cluster.settings import Settings
from lag.errors import ConnectError
from lag.history.maintenance import maintain
from lag.history.recorder import MAINTENANCE_S, RECORDED
from lag.history.schemas import TABLES
from lag.history.store import History
from lag.pipeline.checkpoint import Gap
from lag.pipeline.rollup import Rollup
from lag.pipeline.session import FRUGAL, session
from lag.pipeline.stream import Listeners, Source, Stream

HEAP_MB = 640
STREAM_EVERY = "20 seconds"
ROLL_UP_EVERY_S = 60.0
AGAIN_S = 5.0
TOPIC_EVERY_S = 2.0


class Due:
    """Does a thing every so many seconds, when it is asked often enough; for the first time after `first_s`.

    `do` says whether there was something to do; else it is tried again after AGAIN_S.
    """

    def __init__(self, do: Callable[[], bool], every_s: float, first_s: float) -> None:
        self._do, self._every_s, self._next_s = do, every_s, time.monotonic() + first_s

    def __call__(self) -> None:
        """Do it if it is time."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + self._every_s
            if not self._do():
                self._next_s = time.monotonic() + AGAIN_S


def record(settings: Settings, history: History) -> None:
    """Fill the history until killed: nothing needs to be ended in order. Raises GroupscopeError when it cannot."""
    _wait_for_groups(settings)
    source = Source.of(settings)
    with session(heap_mb=HEAP_MB, java_options=FRUGAL) as spark:
        stream, rollup = Stream(spark, history, source), Rollup(spark, history)
        roll_up = Due(lambda: _roll_up(rollup), ROLL_UP_EVERY_S, 0.0)
        look_after = Due(lambda: _look_after(history), MAINTENANCE_S, MAINTENANCE_S)

        def idle() -> None:
            roll_up()
            look_after()

        stream.run(once=False, heard=Listeners(gap=_warn, trouble=_warn, idle=idle), every=STREAM_EVERY)


def _wait_for_groups(settings: Settings) -> None:
    """The topic is made when the first group commits: until then there is nothing to start Spark for."""
    while True:
        try:
            read_offsets_topic(settings)
            return
        except ConnectError:
            time.sleep(TOPIC_EVERY_S)


def _roll_up(rollup: Rollup) -> bool:
    """What the stream has read meanwhile; nothing while it is at the first commits."""
    return bool(rollup.run(datetime.now(UTC), lambda *_: None))


def _look_after(history: History) -> bool:
    """The tables that nobody else looks after."""
    for name in TABLES:
        if name not in RECORDED:
            maintain(history, name, datetime.now(UTC))
    return True


def _warn(of: Gap | str) -> None:
    sys.stderr.write(f"warning: {of}\n")
