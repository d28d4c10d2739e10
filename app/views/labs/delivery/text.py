"""The result of the Delivery lab in words: how many records are processed twice or lost, and why."""

from collections.abc import Sequence

from app.ui.formats import DASH, listing, plural
from app.views.labs.delivery.labels import name_of, offsets
from assignors.labs.delivery import Event, Failure, FailureKind, Kind, Lab, Ledger, Record, Strategy
from assignors.labs.delivery.failures import FIRST, OUTSIDER, SECOND
from assignors.labs.delivery.ledger import COMMITS, committed_offsets
from assignors.labs.delivery.model import AUTO_COMMITTING
from assignors.labs.delivery.reach import Reach, reach

COMMIT_ATTEMPTS = frozenset({Kind.COMMIT, Kind.COMMIT_ASYNC, Kind.COMMIT_FAILED})


def headline(ledger: Ledger) -> str:
    """ "5 of 15 records are processed twice, none is lost"."""
    total, twice, lost, waiting = (
        len(found) for found in (ledger.records, ledger.duplicated, ledger.lost, ledger.waiting)
    )
    stuck = f", {plural(waiting, 'record is', 'records are')} stuck" if waiting else ""
    if not twice and not lost:
        neither = "No record is processed twice and none is lost"
        return f"{neither}{stuck}" if waiting or ledger.dropped else f"All {total} records are processed exactly once"
    return f"{_of(twice, total)} processed twice, {f'{lost} {_are(lost)}' if lost else 'none is'} lost{stuck}"


def _of(some: int, total: int) -> str:
    if not some:
        return "No record is"
    return f"All {total} records are" if some == total > 1 else f"{some} of {total} records {_are(some)}"


def _are(some: int) -> str:
    return "is" if some == 1 else "are"


def consumers(ledger: Ledger) -> str:
    """Who the consumers are; "" for one alone."""
    takes_over = any(event.consumer == SECOND for event in ledger.events)
    return f"\u2003:gray[{SECOND} takes over from {FIRST}]" if takes_over else ""


def reasons(lab: Lab, failure: Failure, ledger: Ledger) -> list[str]:
    """Why records are processed twice, lost, stuck, skipped or out of order."""
    return [twice(lab, failure, ledger), lost(lab, failure, ledger), *others(lab, ledger)]


def twice(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    """Why records are processed twice, or why none is."""
    if not ledger.duplicated:
        return f"None is processed twice, because {_why_not_twice(lab, failure, ledger)}."
    return f"{_listed(ledger.duplicated, lab)} processed twice, because {_why_twice(lab, failure, ledger)}."


def _why_not_twice(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    if failure.kind is FailureKind.NONE:
        return "nothing went wrong"
    if failure.kind is FailureKind.OUTSIDER_REFUSED:
        return "the commit of the standalone consumer was refused"
    if begins(lab, ledger) is None:
        return "everything was committed, and B had nothing left to read"
    if lab.strategy is Strategy.EXTERNAL:
        return "a result and its offset are stored together, so B continues after the last result"
    return f"B began at {_committed(lab, ledger)}, and no record from there on had been processed"


def _why_twice(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    start, committed = _at(begins(lab, ledger), lab), _committed(lab, ledger)
    back = rewind(lab, ledger)
    if back and back.consumer == OUTSIDER:
        return f"the commit of the standalone consumer moved the group back to {start}"
    if back:
        return f"the retried commit arrived after a newer one and moved the group back to {start}"
    if failure.kind is FailureKind.KICKED:
        return f"the group gave A's partitions to B at {committed} while A continued with its batch"
    if failure.kind is FailureKind.COOPERATIVE:
        return f"A got records during the join and its partitions were revoked without a commit: B began at {start}"
    if _last_commit_failed(ledger):
        return f"the last commit of A was lost: B began at {committed}"
    them = "them" if len(ledger.duplicated) > 1 else "it"
    return f"A had processed {them} and not committed {them}: B began at {committed}"


def _committed(lab: Lab, ledger: Ledger) -> str:
    return f"the committed offset{'s' * (len(lab.end) > 1)} {_at(begins(lab, ledger), lab)}"


def _last_commit_failed(ledger: Ledger) -> bool:
    tried = [event.kind for event in ledger.events if event.kind in COMMIT_ATTEMPTS and event.consumer == FIRST]
    return bool(tried) and tried[-1] is Kind.COMMIT_FAILED


def lost(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    """Why records are lost, or why none is."""
    if not ledger.lost:
        return "None is lost, because no offset was committed past an unprocessed record."
    return f"{_listed(ledger.lost, lab)} lost, because {_why_lost(lab, failure)}."


def _why_lost(lab: Lab, failure: Failure) -> str:
    if failure.kind is FailureKind.OUTSIDER_ACCEPTED:
        return f"the standalone consumer committed {_at(failure.outsider, lab)}, past unprocessed records"
    if failure.kind is FailureKind.EXCEPTION and lab.strategy is not Strategy.COMMIT_FIRST:
        return "closing the consumer committed its position, which covers the whole batch"
    if lab.strategy is Strategy.WORKERS_SHARED:
        return "auto-commit covers the records that poll returned, not those that the workers had finished"
    if lab.strategy in AUTO_COMMITTING:
        return "auto-commit covers the records that poll returned, processed or not"
    return "their offset was committed before they were processed"


def others(lab: Lab, ledger: Ledger) -> list[str]:
    """Which records are stuck, skipped or out of order."""
    found = []
    if ledger.waiting and lab.poison:
        record = name_of(lab.poison, lab)
        stuck = _listed(ledger.waiting, lab)
        found.append(f"{stuck} stuck: every poll throws at record {record}, and a restart does not help.")
    if ledger.dropped:
        poisoned = lab.poison in ledger.dropped
        why = "the application seeks past it" if poisoned else "the interceptor drops expired records"
        found.append(f"{_listed(sorted(ledger.dropped), lab)} skipped: {why}.")
    if ledger.out_of_order:
        found.append(f"{_listed(ledger.out_of_order, lab)} processed after a later record of the same partition.")
    return found


def in_numbers(lab: Lab, failure: Failure) -> str | None:
    """ "13 processed − 10 committed (2 commits × 5) = 3 twice"; None where it is not that simple."""
    found = reach(lab, failure)
    if found is None:
        return None
    processed, committed = f"{found.processed} processed", f"{found.committed} committed ({_rule(lab, failure, found)})"
    if found.processed >= found.committed:
        return f"{processed} − {committed} = {found.processed - found.committed} twice"
    return f"{committed} − {processed} = {found.committed - found.processed} lost"


def _rule(lab: Lab, failure: Failure, found: Reach) -> str:
    """How many records the commits cover."""
    commits, batch = found.at.commits, lab.batch_records
    if failure.kind is FailureKind.EXCEPTION and lab.strategy in (Strategy.AUTO, Strategy.ASYNC):
        return f"close() covers {plural(found.at.polls, 'poll')} × {batch}"
    if found.committed == sum(lab.end) - sum(lab.start):
        return "all records"
    if failure.failed_commits:
        return "up to the last successful commit"
    match lab.strategy:
        case Strategy.EXTERNAL:
            return "with each result"
        case Strategy.PER_PARTITION:
            return f"{plural(commits, 'commit')}, each to the end of a batch or partition"
        case Strategy.AUTO:
            return f"{plural(commits, 'auto-commit')} × {plural(lab.auto_commit_polls, 'poll')} × {batch}"
        case Strategy.EVERY_N:
            return f"{plural(commits, 'commit')} × {lab.every_records}"
        case Strategy.EVERY_N_FROM_ZERO:
            return f"({plural(commits, 'commit')} − 1) × {lab.every_records} + 1" if commits else "no commit"
        case _:
            return f"{plural(commits, 'commit')} × {batch}"


def begins(lab: Lab, ledger: Ledger) -> tuple[int, ...] | None:
    """The committed offsets at which the second consumer begins; None when nothing is left to read."""
    before = _before_second(ledger)
    return None if len(before) == len(ledger.events) else committed_offsets(lab.start, before)


def rewind(lab: Lab, ledger: Ledger) -> Event | None:
    """The last commit before the second consumer begins, if it moved an offset back."""
    before = _before_second(ledger)
    at = next((at for at in reversed(range(len(before))) if before[at].kind in COMMITS), None)
    if at is None:
        return None
    standing = committed_offsets(lab.start, before[:at])
    return before[at] if any(offset < standing[partition] for partition, offset in before[at].offsets) else None


def _before_second(ledger: Ledger) -> Sequence[Event]:
    at = next((at for at, event in enumerate(ledger.events) if event.consumer == SECOND), len(ledger.events))
    return ledger.events[:at]


def step(lab: Lab, steps: Sequence[Event], at: int) -> str:
    """The label of a step, counted from 1: "6: process 14"."""
    if at == 0:
        return "before the first poll"
    event = steps[at - 1]
    ends = dict.fromkeys(name_of(record, lab) for record in (*event.records[:1], *event.records[-1:]))
    if event.kind in COMMIT_ATTEMPTS:
        return f"{at}: {VERBS.get(event.kind, event.kind.value)} {offsets(event.offsets, lab)}"
    return f"{at}: {VERBS.get(event.kind, event.kind.value)} {' to '.join(ends)}".strip()


VERBS = {Kind.COMMIT_ASYNC: "commit", Kind.STORE: "store"}
"""Shorter names for a slider."""


def _at(found: Sequence[int] | None, lab: Lab) -> str:
    return DASH if found is None else offsets(enumerate(found), lab)


def _listed(records: Sequence[Record], lab: Lab) -> str:
    """ "Record 14 is", "Records 0-4, 1-2 are"."""
    names = [str(record) for record in records]
    shown = ", ".join(names if len(names) <= 6 else [*names[:5], f"and {len(names) - 5} more"])
    if len(lab.end) == 1:
        shown = listing([record.offset for record in records])
    return f"{'Record' if len(records) == 1 else 'Records'} {shown} {_are(len(records))}"
