"""How many records are processed twice or lost, in closed form: the results that the step machine must agree with."""

from assignors.labs.delivery import Lab, LabError, Strategy
from assignors.labs.delivery.closed_form import (
    Moment,
    Outcome,
    closes_with_commit,
    commit_point,
    committed,
    returned,
    total,
)
from assignors.labs.delivery.model import AUTO_COMMITTING


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
