"""Steady records for every topic that has a rate, from one producer."""

import logging
import threading
from dataclasses import dataclass

from lag.embedded.workload import clients
from lag.embedded.workload.plan import TOPICS, TopicPlan
from lag.embedded.workload.records import Sink, now_s

log = logging.getLogger(__name__)

TICK_S = 0.25


@dataclass(slots=True)
class _Stream:
    rate_per_s: float
    partitions: list[int]
    due: float = 0.0
    sent: int = 0

    def advance(self, elapsed_s: float) -> list[int]:
        """The partitions that get one record each now, in turn."""
        self.due += elapsed_s * self.rate_per_s
        count, self.due = int(self.due), self.due % 1
        turn = [self.partitions[(self.sent + i) % len(self.partitions)] for i in range(count)]
        self.sent += count
        return turn


class Traffic:
    """Produces at the planned rates until `stop`; topics can be dropped and grown meanwhile."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._sink = Sink(clients.producer(bootstrap_servers, "shop-frontend"))
        self._lock = threading.Lock()
        self._streams = {topic.name: _stream(topic) for topic in TOPICS if topic.rate_per_s}

    def run(self, stop: threading.Event) -> None:
        """Produce until `stop` is set. After a pause of the machine, at most one second is caught up."""
        last = now_s()
        while not stop.wait(TICK_S):
            now = now_s()
            self._tick(min(now - last, 1.0))
            last = now

    def drop(self, topic: str) -> None:
        """Stop producing to that topic: the next record would make Kafka create it again."""
        with self._lock:
            self._streams.pop(topic, None)
        self._sink.producer.flush(2.0)

    def grow(self, topic: str, partitions: int) -> None:
        """Feed new partitions too."""
        with self._lock:
            if topic in self._streams:
                self._streams[topic].partitions = list(range(partitions))

    def rates(self) -> dict[str, float]:
        """Records per second and topic."""
        with self._lock:
            return {name: stream.rate_per_s for name, stream in self._streams.items()}

    def _tick(self, elapsed_s: float) -> None:
        with self._lock:
            for topic, stream in self._streams.items():
                for partition in stream.advance(elapsed_s):
                    self._sink.send(topic, partition)
        self._sink.producer.poll(0)


def _stream(topic: TopicPlan) -> _Stream:
    return _Stream(topic.rate_per_s, list(topic.fed or range(topic.partitions)))
