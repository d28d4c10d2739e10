"""A consumer that writes down what its callbacks tell it, to be compared with what the group's records say."""

import threading
from collections.abc import Mapping
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer, TopicPartition

SESSION_MS = 45_000
"""Longer than any restart of a broker takes."""


class Witness:
    """A librdkafka consumer in a thread of its own. `held` is what it has, `log` what it had after each callback."""

    def __init__(self, bootstrap: str, group: str, name: str, topic: str, settings: Mapping[str, Any]) -> None:
        self.name = name
        self.held: frozenset[int] = frozenset()
        self.log: list[frozenset[int]] = []
        self._topic, self._settings = topic, {
            "bootstrap.servers": bootstrap, "group.id": group, "client.id": name, "log_level": 0, **settings,
        }  # fmt: skip
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Close it: it says goodbye to its group."""
        self._stop.set()
        self._thread.join(20)

    def _run(self) -> None:
        consumer = confluent_kafka.Consumer(self._settings)
        consumer.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked)
        while not self._stop.is_set():
            consumer.poll(0.05)
        consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._now(self.held | {tp.partition for tp in partitions})

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if not self._stop.is_set():
            self._now(self.held - {tp.partition for tp in partitions})

    def _now(self, held: frozenset[int]) -> None:
        self.held = held
        self.log.append(held)


def classic(strategy: str) -> dict[str, Any]:
    """Settings of a member of the classic protocol."""
    timing = {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 300}
    return {"partition.assignment.strategy": strategy, **timing}


KIP_848: dict[str, Any] = {"group.protocol": "consumer"}
