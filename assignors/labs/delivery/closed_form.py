"""How much is processed twice or lost, in closed form: the table that the machine has to agree with.

Everything is counted in the order of delivery, in which all strategies but `WORKERS_SHARED` process too. Interceptor
and poison are left out, and so are `ASYNC_RETRY` (a rewind) and `WORKERS_QUEUES` (at most one record per worker twice).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from assignors.labs.delivery.failures import first_life
from assignors.labs.delivery.model import (
    AUTO_COMMITTING,
    Event,
    Failure,
    FailureKind,
    Interceptor,
    Kind,
    Lab,
    LabError,
    Strategy,
)

UNCOVERED = frozenset({Strategy.ASYNC_RETRY, Strategy.WORKERS_QUEUES})
_COMMITS = (Kind.COMMIT, Kind.COMMIT_ASYNC, Kind.COMMIT_FAILED)


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a consumer has come: polls made, records processed, commits tried."""

    polls: int
    processed: int
    commits: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many records are processed twice, and how many never."""

    duplicates: int
    lost: int


def moment(events: Iterable[Event]) -> Moment:
    """Where a consumer stands after these steps."""
    kinds = [event.kind for event in events]
    processed = kinds.count(Kind.PROCESS) + kinds.count(Kind.STORE)
    return Moment(kinds.count(Kind.POLL), processed, sum(kind in _COMMITS for kind in kinds))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a consumer had come when it failed, in records: what it had processed, what it had committed."""

    at: Moment
    processed: int
    committed: int


def reach(lab: Lab, failure: Failure) -> Reach | None:
    """How far the first consumer comes; None where twice and lost are not simply the one less the other."""
    plain = lab.interceptor is Interceptor.NONE and lab.poison is None
    simple = plain and lab.strategy not in UNCOVERED | {Strategy.WORKERS_SHARED}
    if not simple or failure.kind not in (FailureKind.CRASH, FailureKind.EXCEPTION):
        return None
    at = moment(first_life(lab, failure.failed_commits)[: failure.step])
    if failure.kind is FailureKind.EXCEPTION and _closes(lab):
        return Reach(at, at.processed, _handed(lab, at))
    return Reach(at, at.processed, _committed(lab, at, failure.failed_commits))


def crash(lab: Lab, at: Moment, failed_commits: frozenset[int] = frozenset()) -> Outcome:
    """The process dies: what is processed beyond the committed offset comes again, what is short of it never."""
    return _difference(lab, at, _committed(lab, at, failed_commits))


def exception(lab: Lab, at: Moment) -> Outcome:
    """Processing throws and `finally` closes: auto-commit, and a last commitSync(), commit the whole batch."""
    return _difference(lab, at, _handed(lab, at) if _closes(lab) else _committed(lab, at, frozenset()))


def _closes(lab: Lab) -> bool:
    """Whether its last commit, as it closes, is of all that poll returned."""
    return lab.strategy in AUTO_COMMITTING or lab.strategy is Strategy.ASYNC


def kicked(lab: Lab, at: Moment) -> Outcome:
    """Two process at once: the zombie goes on to the end of its batch, or to its next commit, which fails."""
    committed = _committed(lab, at, frozenset())
    if lab.strategy is Strategy.EXTERNAL:
        return Outcome(0, 0)
    if lab.strategy is Strategy.WORKERS_SHARED:
        raise LabError("No closed form for a shared pool that is kicked. Use the machine.")
    if lab.strategy is Strategy.COMMIT_FIRST:
        return Outcome(0, 0)
    done = _handed(lab, at)
    if lab.strategy is not Strategy.AUTO:
        done = min(done, commit_point(lab, at.commits + 1))
    return Outcome(max(done, at.processed) - committed, 0)


def planned_eager(lab: Lab, at: Moment) -> Outcome:
    """A planned eager rebalance: nothing comes twice under auto-commit; a shared queue is lost."""
    if lab.strategy not in AUTO_COMMITTING:
        raise LabError(f"{lab.strategy.name} has committed before it polls. Ask for crash() at the next poll.")
    return _difference(lab, at, _handed(lab, at))


def commit_point(lab: Lab, commits: int) -> int:
    """How many records the commit of this number (from 1) covers; 0 before the first."""
    if commits == 0:
        return 0
    return min(_point(lab, commits), _total(lab))


def _point(lab: Lab, commits: int) -> int:
    match lab.strategy:
        case Strategy.AUTO | Strategy.WORKERS_SHARED:
            return commits * lab.auto_commit_polls * lab.batch_records
        case Strategy.EVERY_N:
            return commits * lab.every_records
        case Strategy.EVERY_N_FROM_ZERO:
            return (commits - 1) * lab.every_records + 1
        case Strategy.PER_PARTITION:
            return _segments(lab)[min(commits, len(_segments(lab))) - 1]
        case Strategy.SYNC | Strategy.ASYNC | Strategy.COMMIT_FIRST:
            return commits * lab.batch_records
    raise LabError(f"No closed form for {lab.strategy.name}. Use the machine.")


def _segments(lab: Lab) -> list[int]:
    """Where a batch or a partition ends."""
    sizes = (end - start for start, end in zip(lab.start, lab.end, strict=True))
    return sorted({*range(lab.batch_records, _total(lab), lab.batch_records), *accumulate(sizes)} - {0}) or [0]


def _committed(lab: Lab, at: Moment, failed: frozenset[int]) -> int:
    if lab.strategy is Strategy.EXTERNAL:
        return at.processed
    if lab.strategy is Strategy.ASYNC and at.commits * lab.batch_records >= _total(lab) + lab.batch_records:
        return _total(lab)  # the commitSync before close, which does not fail
    last = next((number for number in range(at.commits, 0, -1) if number - 1 not in failed), 0)
    return commit_point(lab, last)


def _difference(lab: Lab, at: Moment, committed: int) -> Outcome:
    if lab.strategy is Strategy.WORKERS_SHARED:
        below = _finished_below(lab, at.processed, committed)
        return Outcome(at.processed - below, committed - below)
    return Outcome(max(at.processed - committed, 0), max(committed - at.processed, 0))


def _finished_below(lab: Lab, processed: int, limit: int) -> int:
    """How many of the first `limit` records a pool has finished that works through groups from the back."""
    size = min(lab.workers, lab.batch_records)
    whole = processed - processed % size
    group_end = min(whole + size, _total(lab))
    return min(limit, whole) + max(0, min(limit, group_end) - (group_end - processed % size))


def _handed(lab: Lab, at: Moment) -> int:
    return min(at.polls * lab.batch_records, _total(lab))


def _total(lab: Lab) -> int:
    return sum(lab.end) - sum(lab.start)
