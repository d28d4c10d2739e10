"""A run of the Delivery lab as rows: its steps, its records, and all strategies side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from app.views.labs.delivery.labels import STRATEGIES, name_of, offsets
from assignors.labs.delivery import Event, Kind, Lab, Ledger, Record, Strategy
from assignors.labs.delivery.compare import Outcome
from assignors.labs.delivery.ledger import COMMITS, PROCESSES


class Fate(StrEnum):
    """The result for a record."""

    ONCE = "once"
    TWICE = "twice"
    LOST = "lost"
    STUCK = "stuck"
    DROPPED = "skipped"


class Mark(StrEnum):
    """What a step does to a record."""

    DELIVERED = "delivered"
    PROCESSED = "processed"
    AGAIN = "processed again"
    COMMITTED = "committed"
    REWOUND = "moved back"
    REFUSED = "not committed"
    DROPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Row:
    """One or more steps of one kind: the label, the reason, and the mark on each record."""

    label: str
    reason: str
    marks: Mapping[Record, Mark]
    is_failure: bool


_FAILURES = frozenset({Kind.CRASH, Kind.EXCEPTION, Kind.KICKED, Kind.REVOKED, Kind.LOST})
_LABELS = {
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
    Kind.CRASH: "{who} crashes",
    Kind.EXCEPTION: "{who} throws",
    Kind.KICKED: "{who} leaves the group",
    Kind.REVOKED: "{who} revokes",
    Kind.LOST: "{who} lost partitions",
    Kind.CLOSE: "{who} closes",
}


def fate(ledger: Ledger, record: Record) -> Fate:
    """The result for one record."""
    if ledger.processed[record] > 1:
        return Fate.TWICE
    if ledger.processed[record]:
        return Fate.ONCE
    if record in ledger.dropped:
        return Fate.DROPPED
    return Fate.LOST if record.offset < ledger.offsets[record.partition] else Fate.STUCK


def who(consumer: str) -> str:
    """A, B or standalone."""
    return consumer if len(consumer) == 1 else "standalone"


def steps(lab: Lab, ledger: Ledger) -> list[Row]:
    """A row for each step; records that one consumer processes in succession share one."""
    committed, done = dict(enumerate(lab.start)), set[Record]()
    return [_row(lab, group, committed, done) for group in _grouped(ledger.events)]


def _grouped(events: Iterable[Event]) -> list[list[Event]]:
    groups: list[list[Event]] = []
    for event in events:
        last = groups[-1][0] if groups else None
        if last and event.kind is Kind.PROCESS and (event.consumer, event.kind) == (last.consumer, last.kind):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _row(lab: Lab, group: Sequence[Event], committed: dict[int, int], done: set[Record]) -> Row:
    first = group[0]
    label = _LABELS[first.kind].format(who=who(first.consumer), to=offsets(first.offsets, lab))
    marks = dict[Record, Mark]()
    for event in group:
        marks |= _marks(event, committed, done)
    shown = {r: mark for r, mark in marks.items() if lab.start[r.partition] <= r.offset < lab.end[r.partition]}
    return Row(label, first.reason, shown, first.kind in _FAILURES)


def _marks(event: Event, committed: dict[int, int], done: set[Record]) -> dict[Record, Mark]:
    if event.kind in PROCESSES:
        marks = {record: Mark.AGAIN if record in done else Mark.PROCESSED for record in event.records}
        done.update(event.records)
        _commit(event, committed)
        return marks
    if event.kind in COMMITS:
        return _commit(event, committed)
    if event.kind is Kind.COMMIT_FAILED:
        return _between(event, committed, Mark.REFUSED, Mark.REFUSED)
    mark = {Kind.POLL: Mark.DELIVERED, Kind.STORE_REFUSED: Mark.REFUSED}.get(event.kind, Mark.DROPPED)
    return dict.fromkeys(event.records, mark)


def _commit(event: Event, committed: dict[int, int]) -> dict[Record, Mark]:
    marks = _between(event, committed, Mark.COMMITTED, Mark.REWOUND)
    committed.update(event.offsets)
    return marks


def _between(event: Event, committed: Mapping[int, int], forward: Mark, back: Mark) -> dict[Record, Mark]:
    """The records between the committed offset and the one in the request."""
    return {
        Record(partition, at): forward if offset > committed[partition] else back
        for partition, offset in event.offsets
        for at in range(min(offset, committed[partition]), max(offset, committed[partition]))
    }


def records(lab: Lab, ledger: Ledger) -> pd.DataFrame:
    """One row per record: record, how often delivered, processed and committed, result."""
    its = ledger.records
    return pd.DataFrame(
        {
            "record": [name_of(record, lab) for record in its],
            "delivered": [ledger.delivered[record] for record in its],
            "processed": [ledger.processed[record] for record in its],
            "committed": [ledger.committed[record] for record in its],
            "result": [fate(ledger, record).value for record in its],
        }
    )


def strategies(ledgers: Mapping[Strategy, Ledger], worst: Mapping[Strategy, Outcome]) -> pd.DataFrame:
    """One row per strategy: records twice and lost, now and at worst; stuck; out of order; guarantee."""
    every = ledgers.values()
    return pd.DataFrame(
        {
            "strategy": [STRATEGIES[strategy] for strategy in ledgers],
            "twice": [len(its.duplicated) for its in every],
            "lost": [len(its.lost) for its in every],
            "most_twice": [worst[strategy].duplicates for strategy in ledgers],
            "most_lost": [worst[strategy].lost for strategy in ledgers],
            "waiting": [len(its.waiting) for its in every],
            "out_of_order": [len(its.out_of_order) for its in every],
            "guarantee": [guarantee(worst[strategy]) for strategy in ledgers],
        }
    )


def guarantee(worst: Outcome) -> str:
    """What holds for any moment of the failure."""
    if worst.lost and worst.duplicates:
        return "neither"
    return "at most once" if worst.lost else "at least once" if worst.duplicates else "exactly once"
