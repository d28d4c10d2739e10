"""A process full of real Java consumers: it takes commands on stdin, and reports on stdout what happens in it.

Both are lines of JSON. Told: {"do": "rehearse" | "open", "key", "properties", "topic"}, {"do": "stall" | "resume" |
"close" | "restart", "key"}. It reports: {"at_ms", "key", "what", "partitions"}, where `what` is "rehearsed", "opened",
"closing", "stalled", "resumed", "died: " and why, or a method of ConsumerRebalanceListener. The end of stdin is the end
of the process.

A rehearsal goes first, by itself: Java loads its classes then, and JPype, which crashes when two threads meet a class
for the first time at once, meets all of them.
"""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import jpype

from tests.support.java import start_jvm

TICK_MS = 100
RESTART_S = 1.0
DIED = "died: "
BASE = "org.apache.kafka.clients.consumer."
_PRINTING = threading.Lock()
_OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what Java logs is not ours


def report(what: str, key: str = "", partitions: Iterable[Any] = ()) -> None:
    """Say that this has happened just now."""
    now_ms = time.time() * 1000
    listed = [[str(partition.topic()), int(partition.partition())] for partition in partitions]
    line = json.dumps({"at_ms": now_ms, "key": key, "what": what, "partitions": listed})
    with _PRINTING:
        _OUT.write(line + "\n")
        _OUT.flush()


class Player:
    """A consumer that a thread polls until a command stops it."""

    def __init__(self, key: str, properties: Mapping[str, str], topic: str) -> None:
        self.orders: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._key, self._properties, self._topic = key, properties, topic

    def start(self) -> None:
        """Poll in a thread of its own. What is opened in this one, is opened one after the other."""
        threading.Thread(target=self.live, args=(self._open(),), name=self._key, daemon=True).start()

    def rehearse(self) -> None:
        """Join, get partitions, leave."""
        consumer = self._open()
        while not consumer.assignment().size():
            consumer.poll(_tick())
        self._close(consumer)
        report("rehearsed", self._key)

    def live(self, consumer: Any) -> None:
        """From the first poll to the end."""
        while True:
            consumer.poll(_tick())
            match self._order():
                case "stall":
                    self._stall()
                case "close":
                    self._close(consumer)
                    return
                case "restart":
                    self._close(consumer)
                    time.sleep(RESTART_S)
                    consumer = self._open()

    def _open(self) -> Any:
        given = jpype.JClass("java.util.Properties")()
        for name, value in self._properties.items():
            given.put(name, value)
        consumer = jpype.JClass(BASE + "KafkaConsumer")(given)
        topics = jpype.JClass("java.util.ArrayList")([self._topic])
        consumer.subscribe(topics, listener()(self._key))
        report("opened", self._key)
        return consumer

    def _order(self) -> str:
        return "" if self.orders.empty() else self.orders.get()

    def _stall(self) -> None:
        report("stalled", self._key)
        assert self.orders.get() == "resume"
        report("resumed", self._key)

    def _close(self, consumer: Any) -> None:
        report("closing", self._key)
        consumer.close()


@cache
def _tick() -> Any:
    return jpype.JClass("java.time.Duration").ofMillis(TICK_MS)


@cache
def listener() -> Any:
    """The class of listeners, which report what they are called for. The JVM must run."""

    @jpype.JImplements(BASE + "ConsumerRebalanceListener")
    class Telling:
        def __init__(self, key: str) -> None:
            self.key = key

        @jpype.JOverride
        def onPartitionsRevoked(self, partitions: Any) -> None:
            report("onPartitionsRevoked", self.key, partitions)

        @jpype.JOverride
        def onPartitionsAssigned(self, partitions: Any) -> None:
            report("onPartitionsAssigned", self.key, partitions)

        @jpype.JOverride
        def onPartitionsLost(self, partitions: Any) -> None:
            report("onPartitionsLost", self.key, partitions)

    return Telling


def _report_death(death: threading.ExceptHookArgs) -> None:
    report(f"{DIED}{death.exc_value}", "" if death.thread is None else death.thread.name)


def main() -> None:
    """Carry out a command."""
    start_jvm()
    threading.excepthook = _report_death
    players: dict[str, Player] = {}
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] in ("open", "rehearse"):
            player = players[order["key"]] = Player(order["key"], order["properties"], order["topic"])
            player.start() if order["do"] == "open" else player.rehearse()
        else:
            players[order["key"]].orders.put(order["do"])
    os._exit(0)


if __name__ == "__main__":
    main()
