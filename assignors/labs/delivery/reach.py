"""How far a consumer had come when it failed: what it had polled, processed and committed."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from assignors.labs.delivery.failures import FIRST, first_life, run
from assignors.labs.delivery.ledger import PROCESSES, committed_offsets
from assignors.labs.delivery.model import Event, Failure, FailureKind, Interceptor, Kind, Lab, Strategy

_OUT_OF_ORDER = (Strategy.ASYNC_RETRY, Strategy.WORKERS_SHARED, Strategy.WORKERS_QUEUES)
"""Records are not processed or not committed in the order of delivery."""
_COMMITS = (Kind.COMMIT, Kind.COMMIT_ASYNC, Kind.COMMIT_FAILED)


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a consumer has come: polls made, records processed, commits tried."""

    polls: int
    processed: int
    commits: int


def moment(events: Iterable[Event]) -> Moment:
    """Where a consumer stands after these steps."""
    kinds = [event.kind for event in events]
    processed = sum(kind in PROCESSES for kind in kinds)
    return Moment(kinds.count(Kind.POLL), processed, sum(kind in _COMMITS for kind in kinds))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a consumer had come when it failed, in records: what it had processed, what it had committed."""

    at: Moment
    processed: int
    committed: int


def reach(lab: Lab, failure: Failure) -> Reach | None:
    """How far the first consumer comes; None where twice and lost are not simply the one less the other."""
    plain = lab.interceptor is Interceptor.NONE and lab.poison is None and lab.strategy not in _OUT_OF_ORDER
    if not plain or failure.kind not in (FailureKind.CRASH, FailureKind.EXCEPTION):
        return None
    at = moment(first_life(lab, failure.failed_commits)[: failure.step])
    own = takewhile(lambda event: event.consumer == FIRST, run(lab, failure).events)
    return Reach(at, at.processed, sum(committed_offsets(lab.start, own)) - sum(lab.start))
