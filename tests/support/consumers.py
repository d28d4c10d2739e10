"""Real consumers of three client libraries, each polled on its own until it is closed.

with Crowd(bootstrap_servers) as crowd:
    crowd.join("java", "my-group", ["orders"], "range", count=3)
"""

import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

import jpype
import kafka
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from tests.support.java import start_jvm
from tests.support.member import Member

KIP_848 = "consumer"
"""A strategy that is no client's: the broker plans; `consumer:range` asks it for its `range`."""

SESSION_MS = 45_000
"""Kafka's own: a machine that stands still for a while throws nobody out."""

TICK_S = 0.1
PYTHON_ASSIGNORS = {
    made.name: made
    for made in (
        RangePartitionAssignor,
        RoundRobinPartitionAssignor,
        StickyPartitionAssignor,
        CooperativeStickyAssignor,
    )
}
JAVA_ASSIGNORS = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


JPYPE = threading.Lock()
"""JPype fills its caches of classes and overloads at first use and crashes when two threads do so at once.

Whoever may be the first to call something holds this; after its first poll a consumer only does again what was done.
"""


class Running:
    """A consumer in a thread of its own; `door` is held while it is made, polls for the first time, and is closed."""

    def __init__(
        self,
        make: Callable[[], Any],
        poll: Callable[[Any], object],
        name: str,
        door: AbstractContextManager[object] | None = None,
    ) -> None:
        self.name = name
        self._make, self._poll, self._door = make, poll, door or nullcontext()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Close the consumer, which says goodbye to its group, and wait until it has."""
        self.ask_to_leave()
        self._thread.join(20)

    def ask_to_leave(self) -> None:
        """Close the consumer soon."""
        self._stop.set()

    def _run(self) -> None:
        with self._door:
            consumer = self._make()
            self._poll(consumer)
        while not self._stop.is_set():
            self._poll(consumer)
        with self._door:
            consumer.close()


class Crowd:
    """All consumers of a test; they leave when it is over."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._running: list[Running | Member] = []

    def __enter__(self) -> "Crowd":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for running in self._running:
            running.ask_to_leave()
        for running in self._running:
            running.leave()

    def join(
        self, library: str, group: str, topics: Sequence[str], strategy: str, count: int = 1, static: bool = False
    ) -> list[Running | Member]:
        """Let `count` new consumers join; they come back before they are members."""
        kinds: dict[str, Callable[..., Running | Member]] = {
            "java": java,
            "librdkafka": librdkafka,
            "kafka-python": kafka_python,
        }
        names = [f"{library}-{uuid.uuid4().hex[:6]}" for _ in range(count)]
        made = [kinds[library](self._bootstrap_servers, group, list(topics), strategy, name, static) for name in names]
        self._running += made
        return made


def java(bootstrap: str, group: str, topics: list[str], strategy: str, name: str, static: bool) -> Running:
    """`org.apache.kafka.clients.consumer.KafkaConsumer`."""
    start_jvm()
    base = "org.apache.kafka.clients.consumer"
    bytes_only = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
    settings = {
        "bootstrap.servers": bootstrap, "group.id": group, "client.id": name,
        "key.deserializer": bytes_only, "value.deserializer": bytes_only,
    }  # fmt: skip
    if strategy.startswith(KIP_848):
        settings |= {"group.protocol": "consumer"} | _remote(strategy)
    else:
        settings |= {
            "partition.assignment.strategy": f"{base}.{JAVA_ASSIGNORS[strategy]}",
            "session.timeout.ms": str(SESSION_MS),
            "heartbeat.interval.ms": "300",
        }
    settings |= {"group.instance.id": name} if static else {}

    def make() -> Any:
        properties = jpype.JClass("java.util.Properties")()
        for key, value in settings.items():
            properties.put(key, value)
        consumer = jpype.JClass(f"{base}.KafkaConsumer")(properties)
        consumer.subscribe(jpype.JClass("java.util.ArrayList")(topics))
        return consumer

    def poll(consumer: Any) -> None:
        consumer.poll(jpype.JClass("java.time.Duration").ofMillis(int(TICK_S * 1000)))

    return Running(make, poll, name, JPYPE)


def librdkafka(bootstrap: str, group: str, topics: list[str], strategy: str, name: str, static: bool) -> Member:
    """`confluent_kafka.Consumer`."""
    settings: dict[str, Any] = {"client.id": name}
    if strategy.startswith(KIP_848):
        settings |= {"group.protocol": "consumer"} | _remote(strategy)
    else:
        settings |= {
            "partition.assignment.strategy": strategy, "session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 300,
        }  # fmt: skip
    settings |= {"group.instance.id": name} if static else {}
    return Member(bootstrap, group, topics, settings)


def kafka_python(bootstrap: str, group: str, topics: list[str], strategy: str, name: str, static: bool) -> Running:
    """`kafka.KafkaConsumer`."""

    def make() -> Any:
        return kafka.KafkaConsumer(
            *topics,
            bootstrap_servers=bootstrap,
            group_id=group,
            client_id=name,
            group_instance_id=name if static else None,
            partition_assignment_strategy=[PYTHON_ASSIGNORS[strategy]],
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=300,
        )

    return Running(make, lambda consumer: consumer.poll(timeout_ms=int(TICK_S * 1000)), name)


def _remote(strategy: str) -> dict[str, str]:
    _, _, assignor = strategy.partition(":")
    return {"group.remote.assignor": assignor} if assignor else {}
