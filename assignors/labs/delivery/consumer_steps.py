"""The steps of one consumer's life under each commit strategy, from its start to the end of the log."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from assignors.labs.delivery.batches import Batch, Reading, read
from assignors.labs.delivery.model import AUTO_COMMITTING, Event, Kind, Lab, Offsets, OnPoison, Record, Strategy

_Steps = Iterator[Event]


def life(lab: Lab, start: Offsets, consumer: str) -> tuple[Event, ...]:
    """Every step of a consumer that nothing disturbs; where it stops at poison, the last one says so."""
    reading = read(lab, start)
    return tuple(_LIVES[lab.strategy](lab, reading, consumer))


def _polls(lab: Lab, reading: Reading, consumer: str) -> Iterator[tuple[Batch, Sequence[Event]]]:
    """Each batch with the steps of its poll: an auto-commit that is due, poison that is skipped, then the records."""
    committed: tuple[tuple[int, int], ...] = ()
    for number, batch in enumerate(reading.batches):
        steps = list[Event]()
        if lab.strategy in AUTO_COMMITTING and number and number % lab.auto_commit_polls == 0:
            steps.append(Event(consumer, Kind.COMMIT_ASYNC, offsets=committed))
        if number == reading.before_poison:
            steps.extend(_poison(lab, consumer))
        committed = batch.position
        yield batch, [*steps, *batch.polled(consumer)]


def _poison(lab: Lab, consumer: str) -> _Steps:
    if lab.poison is None:
        return
    yield Event(consumer, Kind.POISON, (lab.poison,), reason="RecordDeserializationException: the position stays here.")
    if lab.on_poison is OnPoison.SKIP:
        yield Event(consumer, Kind.SKIP, (lab.poison,), ((lab.poison.partition, lab.poison.offset + 1),))


def _ending(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    """After the last batch: poison that no batch follows."""
    if reading.before_poison == len(reading.batches):
        yield from _poison(lab, consumer)


def _stops(lab: Lab, reading: Reading) -> bool:
    return reading.before_poison is not None and lab.on_poison is OnPoison.STOP


def _process(records: Sequence[Record], consumer: str) -> _Steps:
    for record in records:
        yield Event(consumer, Kind.PROCESS, (record,))


def _auto(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        yield from _process(batch.records, consumer)
    yield from _idle(lab, reading, consumer)


def _idle(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    """At the end of the log polls return nothing, and one of them commits."""
    yield from _ending(lab, reading, consumer)
    if reading.batches and not _stops(lab, reading):
        yield Event(consumer, Kind.COMMIT_ASYNC, offsets=reading.position)


def _after_batch(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    kind = Kind.COMMIT if lab.strategy is Strategy.SYNC else Kind.COMMIT_ASYNC
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        yield from _process(batch.records, consumer)
        yield Event(consumer, kind, offsets=batch.position)
    yield from _ending(lab, reading, consumer)
    if kind is Kind.COMMIT_ASYNC and not _stops(lab, reading):
        yield Event(consumer, Kind.COMMIT, offsets=reading.position, reason="commitSync before close")


def _per_partition(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        for partition, group in groupby(batch.records, key=lambda record: record.partition):
            records = tuple(group)
            yield from _process(records, consumer)
            yield Event(consumer, Kind.COMMIT, offsets=((partition, records[-1].offset + 1),))
    yield from _ending(lab, reading, consumer)


def _every_n(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    done, count = dict[int, int](), 0 if lab.strategy is Strategy.EVERY_N_FROM_ZERO else 1
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        for record in batch.records:
            yield Event(consumer, Kind.PROCESS, (record,))
            done[record.partition] = record.offset + 1
            if count % lab.every_records == 0:
                yield Event(consumer, Kind.COMMIT, offsets=tuple(done.items()))
            count += 1
    yield from _ending(lab, reading, consumer)


def _commit_first(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        yield Event(consumer, Kind.COMMIT, offsets=batch.position)
        yield from _process(batch.records, consumer)
    yield from _ending(lab, reading, consumer)


def _external(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        for record in batch.records:
            yield Event(consumer, Kind.STORE, (record,), ((record.partition, record.offset + 1),))
    yield from _ending(lab, reading, consumer)


def _workers_shared(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    """Between two polls each worker finishes one record; the last one taken is the quickest, so order is lost."""
    queue = deque[Record]()
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        queue.extend(batch.records)
        yield from _process(_finished(queue, lab.workers), consumer)
    while queue:
        yield from _process(_finished(queue, lab.workers), consumer)
    yield from _idle(lab, reading, consumer)


def _finished(queue: deque[Record], workers: int) -> list[Record]:
    return [queue.popleft() for _ in range(min(workers, len(queue)))][::-1]


def _workers_queues(lab: Lab, reading: Reading, consumer: str) -> _Steps:
    """Partition p belongs to worker p % workers, so each partition stays in order and its finished part is a prefix."""
    queues = tuple(deque[Record]() for _ in range(lab.workers))
    for batch, polled in _polls(lab, reading, consumer):
        yield from polled
        for record in batch.records:
            queues[record.partition % lab.workers].append(record)
        yield from _round(queues, consumer)
    while any(queues):
        yield from _round(queues, consumer)
    yield from _ending(lab, reading, consumer)


def _round(queues: Sequence[deque[Record]], consumer: str) -> _Steps:
    done = [queue.popleft() for queue in queues if queue]
    yield from _process(done, consumer)
    if done:
        yield Event(consumer, Kind.COMMIT, offsets=tuple((record.partition, record.offset + 1) for record in done))


_LIVES: dict[Strategy, Callable[[Lab, Reading, str], _Steps]] = {
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
