"""The records of the demo: small, alike, and made without randomness."""

import itertools
import json
import threading
import time
from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from lag.embedded.workload import clients
from lag.errors import EmbeddedError

FLUSH_S = 30.0
_numbers = itertools.count(1)


def value() -> bytes:
    """The next record's value: about 90 bytes of JSON."""
    number = next(_numbers)
    body = {"id": f"{number:012d}", "amount_cents": 100 + number * 37 % 9_900, "currency": "EUR", "shop": number % 40}
    return json.dumps(body).encode()


class Sink:
    """A producer that counts failed records."""

    def __init__(self, settings: dict[str, object]) -> None:
        self.producer = Producer(settings)
        self.failed = 0
        self._lock = threading.Lock()

    def send(self, topic: str, partition: int) -> None:
        """Produce one record; waits while the buffer is full. A partition that does not exist counts as failed."""
        while True:
            try:
                return self.producer.produce(topic, value(), partition=partition, on_delivery=self._delivered)
            except BufferError:
                self.producer.poll(0.5)
            except KafkaException:
                return self._count()

    def flush(self) -> None:
        """Wait until all records are acknowledged. Raises EmbeddedError if some are not within 30 s."""
        left = self.producer.flush(FLUSH_S)
        if left or self.failed:
            raise EmbeddedError(f"{left + self.failed} records did not arrive", "Is the broker still running?")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._count()

    def _count(self) -> None:
        with self._lock:
            self.failed += 1


def burst(bootstrap_servers: str, client_id: str, counts: Iterable[tuple[str, int, int]]) -> None:
    """Produce at once: `counts` holds (topic, partition, records). Raises EmbeddedError if not all arrive."""
    sink = Sink(clients.producer(bootstrap_servers, client_id))
    for topic, partition, records in counts:
        for _ in range(records):
            sink.send(topic, partition)
            sink.producer.poll(0)
    sink.flush()


def spread(topic: str, partitions: int, records: int) -> list[tuple[str, int, int]]:
    """`records` split over the partitions, as evenly as possible."""
    return [(topic, p, records // partitions + (p < records % partitions)) for p in range(partitions)]


def transaction(bootstrap_servers: str, transactional_id: str) -> Producer:
    """A transactional producer, ready to begin."""
    producer = Producer(clients.transactional(bootstrap_servers, transactional_id))
    producer.init_transactions(FLUSH_S)
    return producer


def send_in_transaction(producer: Producer, topic: str, partition: int, records: int) -> None:
    """Produce records inside the producer's open transaction and wait until the log has them."""
    for _ in range(records):
        producer.produce(topic, value(), partition=partition)
    producer.flush(FLUSH_S)


def now_s() -> float:
    """The workload's monotonic clock, in seconds."""
    return time.monotonic()
