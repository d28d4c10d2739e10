"""How many records are processed twice or lost, in closed form: the results that the step machine must agree with.

Records are counted in the order of delivery, in which all strategies but `WORKERS_SHARED` process them. Not covered:
interceptors, poison, `ASYNC_RETRY` (a commit may go back) and `WORKERS_QUEUES`.
"""

from itertools import accumulate

from assignors.labs.delivery import Lab, LabError, Strategy
from assignors.labs.delivery.compare import Outcome
from assignors.labs.delivery.model import AUTO_COMMITTING
from assignors.labs.delivery.reach import Moment

UNCOVERED = frozenset({Strategy.ASYNC_RETRY, Strategy.WORKERS_QUEUES})


def crash(lab: Lab, at: Moment, failed_commits: frozenset[int] = frozenset()) -> Outcome:
    """The process dies: what is processed beyond the committed offset comes again, what is short of it never."""
    return _difference(lab, at, committed(lab, at, failed_commits))


def exception(lab: Lab, at: Moment) -> Outcome:
    """Processing throws and `finally` closes: auto-commit, and a last commitSync(), commit the whole batch."""
    return _difference(lab, at, returned(lab, at) if closes_with_commit(lab) else committed(lab, at, frozenset()))


def kicked(lab: Lab, at: Moment) -> Outcome:
    """Two process at once: the zombie goes on to the end of its batch, or to its next commit, which fails."""
    covered = committed(lab, at, frozenset())
    if lab.strategy is Strategy.EXTERNAL:
        return Outcome(0, 0)
    if lab.strategy is Strategy.WORKERS_SHARED:
        raise LabError("There is no closed form for a shared pool that is kicked.")
    if lab.strategy is Strategy.COMMIT_FIRST:
        return Outcome(0, 0)
    done = returned(lab, at)
    if lab.strategy is not Strategy.AUTO:
        done = min(done, commit_point(lab, at.commits + 1))
    return Outcome(max(done, at.processed) - covered, 0)


def planned_eager(lab: Lab, at: Moment) -> Outcome:
    """A planned eager rebalance: nothing comes twice under auto-commit; a shared queue is lost."""
    if lab.strategy not in AUTO_COMMITTING:
        raise LabError(f"{lab.strategy.name} has committed before it polls. Ask for crash() at the next poll.")
    return _difference(lab, at, returned(lab, at))


def _difference(lab: Lab, at: Moment, covered: int) -> Outcome:
    if lab.strategy is Strategy.WORKERS_SHARED:
        below = _finished_below(lab, at.processed, covered)
        return Outcome(at.processed - below, covered - below)
    return Outcome(max(at.processed - covered, 0), max(covered - at.processed, 0))


def _finished_below(lab: Lab, processed: int, limit: int) -> int:
    """How many of the first `limit` records a pool has finished that works through groups from the back."""
    size = min(lab.workers, lab.batch_records)
    whole = processed - processed % size
    group_end = min(whole + size, total(lab))
    return min(limit, whole) + max(0, min(limit, group_end) - (group_end - processed % size))


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
