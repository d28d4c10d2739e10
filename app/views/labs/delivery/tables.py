"""A run of the delivery lab as rows: its course, the ledger record by record, and all strategies side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from assignors.labs.delivery import Event, Kind, Lab, Ledger, Record, Strategy
from assignors.labs.delivery.closed_form import Outcome
from assignors.labs.delivery.ledger import COMMITS, PROCESSES


class Fate(StrEnum):
    """What became of a record."""

    ONCE = "once"
    TWICE = "twice"
    LOST = "lost"
    WAITS = "waits"
    DROPPED = "left out"


class Mark(StrEnum):
    """What a step does to a record."""

    DELIVERED = "delivered"
    PROCESSED = "processed"
    AGAIN = "processed again"
    COMMITTED = "committed"
    REWOUND = "set back"
    REFUSED = "not committed"
    DROPPED = "left out"


@dataclass(frozen=True, slots=True)
class Row:
    """One or more steps of one kind: who does what, why, and what that does to which record."""

    said: str
    reason: str
    marks: Mapping[Record, Mark]
    is_turn: bool
    """Whether from here on things go wrong, or somebody else goes on."""


_TURNS = frozenset({Kind.CRASH, Kind.EXCEPTION, Kind.KICKED, Kind.REVOKED, Kind.LOST})
_SAID = {
    Kind.POLL: "{who} polls",
    Kind.PROCESS: "{who} processes",
    Kind.STORE: "{who} stores",
    Kind.STORE_REFUSED: "{who} is refused",
    Kind.COMMIT: "{who} commits {to}",
    Kind.COMMIT_ASYNC: "{who} commits {to}",
    Kind.COMMIT_FAILED: "{who} fails to commit",
    Kind.DROP: "{who} drops",
    Kind.POISON: "{who} cannot read",
    Kind.SKIP: "{who} seeks past it",
    Kind.CRASH: "{who} dies",
    Kind.EXCEPTION: "{who} throws",
    Kind.KICKED: "{who} leaves the group",
    Kind.REVOKED: "{who} gives up",
    Kind.LOST: "{who} finds out",
    Kind.CLOSE: "{who} closes",
}
SHORT = {
    Strategy.AUTO: "auto-commit",
    Strategy.SYNC: "sync per batch",
    Strategy.ASYNC: "async per batch",
    Strategy.ASYNC_RETRY: "async, sent again",
    Strategy.PER_PARTITION: "sync per partition",
    Strategy.EVERY_N: "every n",
    Strategy.EVERY_N_FROM_ZERO: "every n, from 0",
    Strategy.COMMIT_FIRST: "commit first",
    Strategy.EXTERNAL: "external store",
    Strategy.WORKERS_SHARED: "shared queue",
    Strategy.WORKERS_QUEUES: "worker queues",
}
"""Strategies where there is little room."""


def fate(ledger: Ledger, record: Record) -> Fate:
    """What became of one record."""
    if ledger.processed[record] > 1:
        return Fate.TWICE
    if ledger.processed[record]:
        return Fate.ONCE
    if record in ledger.dropped:
        return Fate.DROPPED
    return Fate.LOST if record.offset < ledger.offsets[record.partition] else Fate.WAITS


def name_of(record: Record, lab: Lab) -> str:
    """The offset, with its partition where there are several."""
    return str(record) if len(lab.end) > 1 else str(record.offset)


def who(consumer: str) -> str:
    """A and B as they are; the standalone consumer, short."""
    return consumer if len(consumer) == 1 else "standalone"


def course(lab: Lab, ledger: Ledger) -> list[Row]:
    """The steps, records that one consumer processes in a row together."""
    standing, done = dict(enumerate(lab.start)), set[Record]()
    return [_row(lab, group, standing, done) for group in _grouped(ledger.events)]


def _grouped(events: Iterable[Event]) -> list[list[Event]]:
    groups: list[list[Event]] = []
    for event in events:
        last = groups[-1][0] if groups else None
        if last and event.kind is Kind.PROCESS and (event.consumer, event.kind) == (last.consumer, last.kind):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _row(lab: Lab, group: Sequence[Event], standing: dict[int, int], done: set[Record]) -> Row:
    first = group[0]
    to = ", ".join(f"{p}:{offset}" if len(lab.end) > 1 else str(offset) for p, offset in first.offsets)
    said = _SAID[first.kind].format(who=who(first.consumer), to=to)
    marks = dict[Record, Mark]()
    for event in group:
        marks |= _marks(event, standing, done)
    shown = {record: mark for record, mark in marks.items() if _is_shown(lab, record)}
    return Row(said, first.reason, shown, first.kind in _TURNS)


def _is_shown(lab: Lab, record: Record) -> bool:
    return lab.start[record.partition] <= record.offset < lab.end[record.partition]


def _marks(event: Event, standing: dict[int, int], done: set[Record]) -> dict[Record, Mark]:
    if event.kind in PROCESSES:
        marks = {record: Mark.AGAIN if record in done else Mark.PROCESSED for record in event.records}
        done.update(event.records)
        _committed(event, standing)
        return marks
    if event.kind in COMMITS:
        return _committed(event, standing)
    if event.kind is Kind.COMMIT_FAILED:
        return _between(event, standing, Mark.REFUSED, Mark.REFUSED)
    mark = {Kind.POLL: Mark.DELIVERED, Kind.STORE_REFUSED: Mark.REFUSED}.get(event.kind, Mark.DROPPED)
    return dict.fromkeys(event.records, mark)


def _committed(event: Event, standing: dict[int, int]) -> dict[Record, Mark]:
    marks = _between(event, standing, Mark.COMMITTED, Mark.REWOUND)
    standing.update(event.offsets)
    return marks


def _between(event: Event, standing: Mapping[int, int], forth: Mark, back: Mark) -> dict[Record, Mark]:
    """The records between the committed offset and the one that is sent."""
    return {
        Record(partition, at): forth if offset > standing[partition] else back
        for partition, offset in event.offsets
        for at in range(min(offset, standing[partition]), max(offset, standing[partition]))
    }


def records(lab: Lab, ledger: Ledger) -> pd.DataFrame:
    """The ledger, one row per record: record, delivered, processed, committed (times each), became."""
    rows = [
        (
            name_of(record, lab),
            ledger.delivered[record],
            ledger.processed[record],
            ledger.committed[record],
            fate(ledger, record).value,
        )
        for record in ledger.records
    ]
    return pd.DataFrame(rows, columns=["record", "delivered", "processed", "committed", "became"])


def strategies(ledgers: Mapping[Strategy, Ledger], worst: Mapping[Strategy, Outcome]) -> pd.DataFrame:
    """One row per strategy: records twice and lost, at this moment and at the worst one; waiting; order; promise."""
    rows = [
        (
            strategy.value,
            len(its.duplicated),
            len(its.lost),
            worst[strategy].duplicates,
            worst[strategy].lost,
            len(its.waiting),
            len(its.out_of_order),
            promise(worst[strategy]),
        )
        for strategy, its in ledgers.items()
    ]
    names = ["strategy", "twice", "lost", "most_twice", "most_lost", "waiting", "out_of_order", "promise"]
    return pd.DataFrame(rows, columns=names)


def promise(worst: Outcome) -> str:
    """What the strategy keeps under this failure, whenever it comes."""
    if worst.lost and worst.duplicates:
        return "neither"
    return "at most once" if worst.lost else "at least once" if worst.duplicates else "exactly once"
