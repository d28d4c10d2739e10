"""How many records a consumer had processed and committed when it failed, in closed form.

Records are counted in the order of delivery, in which all strategies but `WORKERS_SHARED` process them. Not covered:
interceptors, poison, `ASYNC_RETRY` (a commit may go back) and `WORKERS_QUEUES`.
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
    if failure.kind is FailureKind.EXCEPTION and closes_with_commit(lab):
        return Reach(at, at.processed, returned(lab, at))
    return Reach(at, at.processed, committed(lab, at, failure.failed_commits))


def closes_with_commit(lab: Lab) -> bool:
    """Whether it commits all records that poll returned when it closes."""
    return lab.strategy in AUTO_COMMITTING or lab.strategy is Strategy.ASYNC


def commit_point(lab: Lab, commits: int) -> int:
    """How many records the commit of this number (from 1) covers; 0 before the first."""
    if commits == 0:
        return 0
    return min(_point(lab, commits), total(lab))


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
    raise LabError(f"There is no closed form for {lab.strategy.name}.")


def _segments(lab: Lab) -> list[int]:
    """Where a batch or a partition ends."""
    sizes = (end - start for start, end in zip(lab.start, lab.end, strict=True))
    return sorted({*range(lab.batch_records, total(lab), lab.batch_records), *accumulate(sizes)} - {0}) or [0]


def committed(lab: Lab, at: Moment, failed: frozenset[int]) -> int:
    """How many records the commits cover; those numbered in `failed` (from 0) have failed."""
    if lab.strategy is Strategy.EXTERNAL:
        return at.processed
    if lab.strategy is Strategy.ASYNC and at.commits * lab.batch_records >= total(lab) + lab.batch_records:
        return total(lab)  # the commitSync before close, which does not fail
    last = next((number for number in range(at.commits, 0, -1) if number - 1 not in failed), 0)
    return commit_point(lab, last)


def returned(lab: Lab, at: Moment) -> int:
    """How many records the polls have returned."""
    return min(at.polls * lab.batch_records, total(lab))


def total(lab: Lab) -> int:
    """How many records the lab has."""
    return sum(lab.end) - sum(lab.start)
