"""A real librdkafka consumer in a process of its own, so that it can be ended whatever becomes of it.

librdkafka 2.16 now and then never comes back from `close()`, when a rebalance begins as a member leaves
(confluentinc/librdkafka#4884). It waits inside the callback for rebalances, in C and with Python's GIL: nothing in its
process goes on, no other thread, no signal handler and no time limit of a test.
"""

import multiprocessing
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import confluent_kafka

_TICK_S = 0.05
_PATIENCE_S = 30
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])

Held = frozenset[tuple[str, int]]


class Commit(NamedTuple):
    """An order; everything else that may come is the word to leave."""

    topic: str
    partition: int
    offset: int


class Member:
    """A member of a group that is polled until it leaves. `log` is what it had after each call of its callbacks."""

    def __init__(self, bootstrap: str, group: str, topics: Sequence[str], settings: Mapping[str, Any]) -> None:
        given = {"bootstrap.servers": bootstrap, "group.id": group, "log_level": 0, **settings}
        self.name = str(given.get("client.id", ""))
        self._log: list[Held] = []
        self._line, theirs = _FORKS.Pipe()
        self._process = _FORKS.Process(target=_live, args=(theirs, given, list(topics)), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def log(self) -> Sequence[Held]:
        """What it had, as topics and partitions, after each rebalance until it had to leave."""
        if not self._line.closed:
            self._listen()
        return self._log

    @property
    def held(self) -> Held:
        """What it has."""
        return next(reversed(self.log), frozenset())

    def commit(self, topic: str, partition: int, offset: int) -> None:
        """Commit it, and come back when the broker has it."""
        self._line.send(Commit(topic, partition, offset))
        while self._hear():
            pass

    def ask_to_leave(self) -> None:
        """Let it close its consumer soon."""
        if not self._line.closed:
            with suppress(ConnectionError):
                self._line.send("leave")

    def leave(self) -> None:
        """Let it close its consumer, which says goodbye to its group, and wait until it is gone. Safe to call twice."""
        if self._line.closed:
            return
        self.ask_to_leave()
        self._process.join()
        self._listen()
        self._line.close()
        self._process.close()

    def _listen(self) -> None:
        with suppress(EOFError, ConnectionError):
            while self._line.poll():
                self._hear()

    def _hear(self) -> bool:
        """Take what it says next; whether that was news of its partitions."""
        stated = self._line.recv()
        if isinstance(stated, frozenset):
            self._log.append(stated)
            return True
        assert stated is None, stated
        return False


def _live(stage: Connection, settings: dict[str, Any], topics: list[str]) -> None:
    """Be the member until asked to leave, or until the test's process is gone.

    The kernel ends it when it does not come back: an alarm that nobody handles waits for no GIL.
    """
    held: Held = frozenset()

    def now(there: Held) -> None:
        nonlocal held
        held = there
        if not stage.closed:
            stage.send(held)

    consumer = confluent_kafka.Consumer(settings)
    consumer.subscribe(
        topics,
        on_assign=lambda _, given: now(held | _names(given)),
        on_revoke=lambda _, taken: now(held - _names(taken)),
        on_lost=lambda _, taken: now(held - _names(taken)),
    )
    with suppress(EOFError, ConnectionError):
        while not stage.poll() or _committed(consumer, stage):
            signal.alarm(_PATIENCE_S)
            consumer.poll(_TICK_S)
    stage.close()
    signal.alarm(_PATIENCE_S)
    consumer.close()


def _names(partitions: Sequence[confluent_kafka.TopicPartition]) -> Held:
    return frozenset((tp.topic, tp.partition) for tp in partitions)


def _committed(consumer: confluent_kafka.Consumer, stage: Connection) -> bool:
    """Do what the next order says; False when that is to leave."""
    order = stage.recv()
    if not isinstance(order, Commit):
        return False
    consumer.commit(offsets=[confluent_kafka.TopicPartition(*order)], asynchronous=False)
    stage.send(None)
    return True
