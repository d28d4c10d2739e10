"""The steps of one consumer's life under each commit strategy, from its start to the end of the log."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from assignors.labs.delivery.batches import Batch, read
from assignors.labs.delivery.model import AUTO_COMMITTING, Event, Kind, Lab, Offsets, OnPoison, Record, Strategy

CommitOffsets = Iterable[tuple[int, int]]
"""Pairs of partition and offset."""


def life(lab: Lab, start: Offsets, consumer: str) -> tuple[Event, ...]:
    """Every step of a consumer that nothing disturbs; where it stops at poison, the last one says so."""
    steps = _Steps(lab, start, consumer)
    _LIVES[lab.strategy](steps)
    steps.end()
    return tuple(steps.events)


class _Steps:
    """The steps of a consumer so far."""

    def __init__(self, lab: Lab, start: Offsets, consumer: str) -> None:
        self.lab, self._consumer = lab, consumer
        self._reading = read(lab, start)
        self.events: list[Event] = []

    def add(self, kind: Kind, records: Iterable[Record] = (), offsets: CommitOffsets = (), reason: str = "") -> None:
        """One more step."""
        self.events.append(Event(self._consumer, kind, tuple(records), tuple(offsets), reason))

    def process(self, records: Iterable[Record]) -> None:
        """A step for each record."""
        for record in records:
            self.add(Kind.PROCESS, (record,))

    def polls(self) -> Iterator[Batch]:
        """Each batch, after the steps of its poll: an auto-commit that is due, poison that is skipped, the records."""
        for number, batch in enumerate(self._reading.batches):
            if self.lab.strategy in AUTO_COMMITTING and number and number % self.lab.auto_commit_polls == 0:
                self.add(Kind.COMMIT_ASYNC, offsets=self._reading.batches[number - 1].position)
            if number == self._reading.before_poison:
                self._poison()
            if batch.dropped:
                self.add(Kind.DROP, batch.dropped, reason="The interceptor drops expired records.")
            self.add(Kind.POLL, batch.records, batch.position)
            yield batch

    def _poison(self) -> None:
        if self.lab.poison is None:
            return
        self.add(Kind.POISON, (self.lab.poison,), reason="RecordDeserializationException: the position stays here.")
        if self.lab.on_poison is OnPoison.SKIP:
            self.add(Kind.SKIP, (self.lab.poison,), ((self.lab.poison.partition, self.lab.poison.offset + 1),))

    def end(self) -> None:
        """Poison that no batch follows; then the commit of a poll that returns nothing, or the one before close."""
        reading, strategy = self._reading, self.lab.strategy
        if reading.before_poison == len(reading.batches):
            self._poison()
        if reading.before_poison is not None and self.lab.on_poison is OnPoison.STOP:
            return
        if strategy in AUTO_COMMITTING and reading.batches:
            self.add(Kind.COMMIT_ASYNC, offsets=reading.position)
        elif strategy in (Strategy.ASYNC, Strategy.ASYNC_RETRY):
            self.add(Kind.COMMIT, offsets=reading.position, reason="commitSync before close")


def _auto(steps: _Steps) -> None:
    for batch in steps.polls():
        steps.process(batch.records)


def _after_batch(steps: _Steps) -> None:
    for batch in steps.polls():
        steps.process(batch.records)
        steps.add(Kind.COMMIT if steps.lab.strategy is Strategy.SYNC else Kind.COMMIT_ASYNC, offsets=batch.position)


def _per_partition(steps: _Steps) -> None:
    for batch in steps.polls():
        for partition, group in groupby(batch.records, key=lambda record: record.partition):
            records = tuple(group)
            steps.process(records)
            steps.add(Kind.COMMIT, offsets=((partition, records[-1].offset + 1),))


def _every_n(steps: _Steps) -> None:
    done, count = dict[int, int](), 0 if steps.lab.strategy is Strategy.EVERY_N_FROM_ZERO else 1
    for batch in steps.polls():
        for record in batch.records:
            steps.process((record,))
            done[record.partition] = record.offset + 1
            if count % steps.lab.every_records == 0:
                steps.add(Kind.COMMIT, offsets=done.items())
            count += 1


def _commit_first(steps: _Steps) -> None:
    for batch in steps.polls():
        steps.add(Kind.COMMIT, offsets=batch.position)
        steps.process(batch.records)


def _external(steps: _Steps) -> None:
    for batch in steps.polls():
        for record in batch.records:
            steps.add(Kind.STORE, (record,), ((record.partition, record.offset + 1),))


def _workers_shared(steps: _Steps) -> None:
    """Between two polls each worker finishes one record; the last one taken is the quickest, so order is lost."""
    queue = deque[Record]()

    def finish() -> None:
        steps.process([queue.popleft() for _ in range(min(steps.lab.workers, len(queue)))][::-1])

    for batch in steps.polls():
        queue.extend(batch.records)
        finish()
    while queue:
        finish()


def _workers_queues(steps: _Steps) -> None:
    """Partition p belongs to worker p % workers, so each partition stays in order and its finished part is a prefix."""
    queues = tuple(deque[Record]() for _ in range(steps.lab.workers))

    def finish() -> None:
        done = [queue.popleft() for queue in queues if queue]
        steps.process(done)
        if done:
            steps.add(Kind.COMMIT, offsets=((record.partition, record.offset + 1) for record in done))

    for batch in steps.polls():
        for record in batch.records:
            queues[record.partition % steps.lab.workers].append(record)
        finish()
    while any(queues):
        finish()


_LIVES: dict[Strategy, Callable[[_Steps], None]] = {
    Strategy.AUTO: _auto,
    Strategy.SYNC: _after_batch,
    Strategy.ASYNC: _after_batch,
    Strategy.ASYNC_RETRY: _after_batch,
    Strategy.PER_PARTITION: _per_partition,
    Strategy.EVERY_N: _every_n,
    Strategy.EVERY_N_FROM_ZERO: _every_n,
    Strategy.COMMIT_FIRST: _commit_first,
    Strategy.EXTERNAL: _external,
    Strategy.WORKERS_SHARED: _workers_shared,
    Strategy.WORKERS_QUEUES: _workers_queues,
}
