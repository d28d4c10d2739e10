"""Stream, roll-ups and table maintenance in one Spark session: one JVM instead of two, for a small cluster."""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from lag.cluster.connection.settings import Settings
from lag.cluster.offsets_topic import read_offsets_topic
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
    """Calls `do` every `every_s` seconds, if it is polled that often; first after `first_s`.

    `do` returns whether there was something to do; if not, it is called again after AGAIN_S.
    """

    def __init__(self, do: Callable[[], bool], every_s: float, first_s: float) -> None:
        self._do, self._every_s, self._next_s = do, every_s, time.monotonic() + first_s

    def __call__(self) -> None:
        """Call `do` if it is due."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + self._every_s
            if not self._do():
                self._next_s = time.monotonic() + AGAIN_S


def record(settings: Settings, history: History) -> None:
    """Record until killed, which loses nothing. Raises GroupscopeError."""
    _wait_for_groups(settings)
    source = Source.of(settings)
    with session(heap_mb=HEAP_MB, java_options=FRUGAL) as spark:
        stream, rollup = Stream(spark, history, source), Rollup(spark, history)
        roll_up = Due(lambda: _roll_up(rollup), ROLL_UP_EVERY_S, 0.0)
        maintenance = Due(lambda: _maintain_tables(history), MAINTENANCE_S, MAINTENANCE_S)

        def idle() -> None:
            roll_up()
            maintenance()

        stream.run(once=False, listeners=Listeners(gap=_warn, trouble=_warn, idle=idle), every=STREAM_EVERY)


def _wait_for_groups(settings: Settings) -> None:
    """Wait for the topic, which Kafka creates for the first group: before that there is nothing to read."""
    while True:
        try:
            read_offsets_topic(settings)
            return
        except ConnectError:
            time.sleep(TOPIC_EVERY_S)


def _roll_up(rollup: Rollup) -> bool:
    """Roll up what the stream has read; False if there is nothing yet."""
    return bool(rollup.run(datetime.now(UTC), lambda *_: None))


def _maintain_tables(history: History) -> bool:
    """Maintain the tables that the recorder does not maintain."""
    for name in TABLES:
        if name not in RECORDED:
            maintain(history, name, datetime.now(UTC))
    return True


def _warn(of: Gap | str) -> None:
    sys.stderr.write(f"warning: {of}\n")
