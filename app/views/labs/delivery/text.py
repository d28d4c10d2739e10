"""What a run of the delivery lab comes to, in words: how many records twice, how many lost, and why."""

from collections.abc import Sequence

from app.ui.formats import listing, plural
from app.views.labs.delivery.tables import name_of
from assignors.labs.delivery import Event, Failure, FailureKind, Kind, Lab, Ledger, Record, Strategy
from assignors.labs.delivery.closed_form import Reach, reach
from assignors.labs.delivery.failures import FIRST, OUTSIDER, SECOND
from assignors.labs.delivery.ledger import COMMITS, committed_offsets
from assignors.labs.delivery.model import AUTO_COMMITTING

TRIED = frozenset({Kind.COMMIT, Kind.COMMIT_ASYNC, Kind.COMMIT_FAILED})


def headline(ledger: Ledger) -> str:
    """ "5 of 15 records are processed twice, none is lost"."""
    total, twice, lost, waiting = (
        len(found) for found in (ledger.records, ledger.duplicated, ledger.lost, ledger.waiting)
    )
    waits = f", {plural(waiting, 'record waits', 'records wait')} for good" if waiting else ""
    if not twice and not lost:
        calm = "No record is processed twice and none is lost"
        return f"{calm}{waits}" if waiting or ledger.dropped else f"All {total} records are processed exactly once"
    return f"{_of(twice, total)} processed twice, {_none(lost)} lost{waits}"


def _of(some: int, total: int) -> str:
    if not some:
        return "No record is"
    return f"All {total} records are" if some == total > 1 else f"{some} of {total} records {_are(some)}"


def _none(some: int) -> str:
    return f"{some} {_are(some)}" if some else "none is"


def _are(some: int) -> str:
    return "is" if some == 1 else "are"


def reasons(lab: Lab, failure: Failure, ledger: Ledger) -> list[str]:
    """What comes twice and why, what is lost and why, and what else there is to say."""
    return [twice(lab, failure, ledger), lost(lab, failure, ledger), *besides(lab, ledger)]


def twice(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    """Why records are processed twice, or why none is."""
    if not ledger.duplicated:
        return f"None is processed twice, because {_why_not_twice(lab, failure, ledger)}."
    some = f"{_listed(ledger.duplicated, lab)} {_are(len(ledger.duplicated))}"
    return f"{some} processed twice, because {_why_twice(lab, failure, ledger)}."


def _why_not_twice(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    if failure.kind is FailureKind.NONE:
        return "nothing went wrong"
    if failure.kind is FailureKind.OUTSIDER_REFUSED:
        return "the commit of the standalone consumer was refused"
    if begins(lab, ledger) is None:
        return "all was committed, and B found nothing left to read"
    if lab.strategy is Strategy.EXTERNAL:
        return "a result and its offset are stored together, so B begins right behind the last result"
    return f"B began at {_committed(lab, ledger)}, and nothing from there on had been done"


def _why_twice(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    start, committed = _at(begins(lab, ledger), lab), _committed(lab, ledger)
    back = rewind(lab, ledger)
    if back and back.consumer == OUTSIDER:
        return f"the commit of the standalone consumer set the group back to {start}"
    if back:
        return f"the commit that was sent again arrived behind a newer one and set the group back to {start}"
    if failure.kind is FailureKind.KICKED:
        return f"the group gave its partitions to B at {committed} while A went on with its batch"
    if failure.kind is FailureKind.COOPERATIVE:
        return f"A got records while it joined and gave up their partitions without a commit: B began at {start}"
    if _last_commit_failed(ledger):
        return f"the last commit of A was lost: B began at {committed}"
    them = "them" if len(ledger.duplicated) > 1 else "it"
    return f"A had processed {them} and not committed {them}: B began at {committed}"


def _committed(lab: Lab, ledger: Ledger) -> str:
    return f"the committed offset{'s' * (len(lab.end) > 1)} {_at(begins(lab, ledger), lab)}"


def _last_commit_failed(ledger: Ledger) -> bool:
    tried = [event.kind for event in ledger.events if event.kind in TRIED and event.consumer == FIRST]
    return bool(tried) and tried[-1] is Kind.COMMIT_FAILED


def lost(lab: Lab, failure: Failure, ledger: Ledger) -> str:
    """Why records are lost, or why none is."""
    if not ledger.lost:
        return "None is lost, because no offset was committed past a record that still had to be processed."
    some = f"{_listed(ledger.lost, lab)} {_are(len(ledger.lost))}"
    return f"{some} lost, because {_why_lost(lab, failure)}."


def _why_lost(lab: Lab, failure: Failure) -> str:
    if failure.kind is FailureKind.OUTSIDER_ACCEPTED:
        return f"the standalone consumer committed {_at(failure.outsider, lab)}, past what had been processed"
    if failure.kind is FailureKind.EXCEPTION and lab.strategy is not Strategy.COMMIT_FIRST:
        return "closing the consumer committed its position, which covers the whole batch"
    if lab.strategy is Strategy.WORKERS_SHARED:
        return "auto-commit covers what poll returned, not what the workers had finished"
    if lab.strategy in AUTO_COMMITTING:
        return "auto-commit covers what poll returned, processed or not"
    return "their offset was committed before they were processed"


def besides(lab: Lab, ledger: Ledger) -> list[str]:
    """What else there is to say: records that wait, that were left out, that lost their order."""
    said = []
    if ledger.waiting and lab.poison:
        record = name_of(lab.poison, lab)
        said.append(f"{_listed(ledger.waiting, lab)} wait: every poll throws at {record}, and a restart does not help.")
    if ledger.dropped:
        poisoned = lab.poison in ledger.dropped
        why = "the application seeks past what it cannot read" if poisoned else "the interceptor drops what is expired"
        said.append(f"{_listed(sorted(ledger.dropped), lab)} {_are(len(ledger.dropped))} left out: {why}.")
    if ledger.out_of_order:
        said.append(f"{_listed(ledger.out_of_order, lab)} came after a later record of the same partition.")
    return said


def in_numbers(lab: Lab, failure: Failure) -> str | None:
    """The closed form of it; None where there is none: "13 processed - 10 committed (2 commits x 5) = 3 twice"."""
    found = reach(lab, failure)
    if found is None:
        return None
    processed, committed = f"{found.processed} processed", f"{found.committed} committed ({_rule(lab, failure, found)})"
    if found.processed >= found.committed:
        return f"{processed} − {committed} = {found.processed - found.committed} twice"
    return f"{committed} − {processed} = {found.committed - found.processed} lost"


def _rule(lab: Lab, failure: Failure, found: Reach) -> str:
    """How the committed offset comes about."""
    commits, batch = found.at.commits, lab.batch_records
    if failure.kind is FailureKind.EXCEPTION and lab.strategy in (Strategy.AUTO, Strategy.ASYNC):
        return f"closing covers {plural(found.at.polls, 'poll')} × {batch}"
    if found.committed == sum(lab.end) - sum(lab.start):
        return "all there are"
    if failure.failed_commits:
        return "up to the last commit that did not fail"
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
    """The committed offsets at which the second consumer begins; None when it has nothing to do."""
    before = _before_second(ledger)
    return None if len(before) == len(ledger.events) else committed_offsets(lab.start, before)


def rewind(lab: Lab, ledger: Ledger) -> Event | None:
    """The last commit before the second consumer begins, if it set an offset back."""
    before = _before_second(ledger)
    at = next((at for at in reversed(range(len(before))) if before[at].kind in COMMITS), None)
    if at is None:
        return None
    standing = committed_offsets(lab.start, before[:at])
    return before[at] if any(offset < standing[partition] for partition, offset in before[at].offsets) else None


def _before_second(ledger: Ledger) -> Sequence[Event]:
    at = next((at for at, event in enumerate(ledger.events) if event.consumer == SECOND), len(ledger.events))
    return ledger.events[:at]


def step(lab: Lab, course: Sequence[Event], at: int) -> str:
    """The last of so many steps: "6: process 14"."""
    if at == 0:
        return "before the first poll"
    event = course[at - 1]
    ends = dict.fromkeys(name_of(record, lab) for record in (*event.records[:1], *event.records[-1:]))
    if event.kind in TRIED:
        return f"{at}: {VERBS.get(event.kind, event.kind.value)} {offsets(lab, event)}"
    return f"{at}: {VERBS.get(event.kind, event.kind.value)} {' to '.join(ends)}".strip()


VERBS = {Kind.COMMIT_ASYNC: "commit", Kind.STORE: "store"}
"""Shorter than the kinds, for a slider."""


def offsets(lab: Lab, event: Event) -> str:
    """What an event commits: "15", or "0:4, 1:2" where there are several partitions."""
    return ", ".join(f"{p}:{offset}" if len(lab.end) > 1 else str(offset) for p, offset in event.offsets)


def _at(offsets: Sequence[int] | None, lab: Lab) -> str:
    if offsets is None:
        return "–"
    return ", ".join(f"{p}:{offset}" if len(lab.end) > 1 else str(offset) for p, offset in enumerate(offsets))


def _listed(records: Sequence[Record], lab: Lab) -> str:
    word = "Record" if len(records) == 1 else "Records"
    if len(lab.end) == 1:
        return f"{word} {listing([record.offset for record in records])}"
    names = [str(record) for record in records]
    shown = names if len(names) <= 6 else [*names[:5], f"and {len(names) - 5} more"]
    return f"{word} {', '.join(shown)}"
