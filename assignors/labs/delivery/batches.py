"""What each poll returns: the records from the committed offsets on, in batches of max.poll.records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assignors.labs.delivery.model import Interceptor, Lab, Offsets, OnPoison, Record


@dataclass(frozen=True, slots=True)
class Batch:
    """One poll: what the application gets, what the interceptor drops before, and the position after it."""

    records: tuple[Record, ...]
    dropped: tuple[Record, ...]
    position: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A life's polls; `before_poison` of them come before the record that cannot be deserialized (None: not met)."""

    batches: tuple[Batch, ...]
    before_poison: int | None
    position: tuple[tuple[int, int], ...]


def read(lab: Lab, start: Offsets) -> Reading:
    """The polls from `start` to the end of the log, or to the poison where the application stops at it.

    Like Kafka's fetcher, one partition is drained before the next; records before a poisonous one are returned by a
    separate poll, and the next poll throws (`RecordDeserializationException`).
    """
    waiting = [Record(p, offset) for p, end in enumerate(lab.end) for offset in range(start[p], end)]
    met = lab.poison in waiting
    at = waiting.index(lab.poison) if met and lab.poison else len(waiting)
    after = waiting[at + 1 :] if lab.on_poison is OnPoison.SKIP else []
    position = list(start)
    first = tuple(_batches(lab, waiting[:at], position))
    if after and lab.poison:
        position[lab.poison.partition] = lab.poison.offset + 1
    rest = tuple(_batches(lab, after, position))
    if met and lab.poison and lab.on_poison is OnPoison.SKIP:
        position[lab.poison.partition] = max(position[lab.poison.partition], lab.poison.offset + 1)
    return Reading(first + rest, len(first) if met else None, tuple(enumerate(position)))


def _batches(lab: Lab, records: Sequence[Record], position: list[int]) -> Iterator[Batch]:
    for at in range(0, len(records), lab.batch_records):
        taken = records[at : at + lab.batch_records]
        for record in taken:
            position[record.partition] = record.offset + 1
        dropped = tuple(record for record in taken if lab.interceptor is Interceptor.DROPS and record in lab.expired)
        yield Batch(tuple(record for record in taken if record not in dropped), dropped, tuple(enumerate(position)))
