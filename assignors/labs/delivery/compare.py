"""All commit strategies under one failure: at the same moment, and at the worst one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assignors.labs.delivery.failures import first_life, run
from assignors.labs.delivery.ledger import Ledger
from assignors.labs.delivery.model import Failure, FailureKind, Lab, Strategy
from assignors.labs.delivery.reach import moment


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many records are processed twice, and how many never."""

    duplicates: int
    lost: int


def compare(lab: Lab, failure: Failure) -> Mapping[Strategy, Ledger]:
    """The ledger of every strategy, in their order. Raises LabError when the failure cannot happen."""
    return {strategy: run(*under(lab, failure, strategy)) for strategy in Strategy}


def worst(lab: Lab, failure: Failure) -> Mapping[Strategy, Outcome]:
    """Per strategy the most records twice, and the most lost, over all moments of the failure (not always the same)."""
    return {strategy: _worst(replace(lab, strategy=strategy), failure) for strategy in Strategy}


def under(lab: Lab, failure: Failure, strategy: Strategy) -> tuple[Lab, Failure]:
    """The same failure under another strategy, once the consumer has polled as often and processed as many records."""
    if strategy is lab.strategy:
        return lab, failure
    reached = moment(first_life(lab, failure.failed_commits)[: failure.step])
    other = replace(lab, strategy=strategy)
    course = first_life(other, failure.failed_commits)
    for step in range(len(course)):
        now = moment(course[:step])
        if now.polls >= reached.polls and now.processed >= reached.processed:
            return other, replace(failure, step=step)
    return other, replace(failure, step=len(course))


def _worst(lab: Lab, failure: Failure) -> Outcome:
    last = 0 if failure.kind is FailureKind.NONE else len(first_life(lab, failure.failed_commits))
    ledgers = [run(lab, replace(failure, step=step)) for step in range(last + 1)]
    return Outcome(max(len(its.duplicated) for its in ledgers), max(len(its.lost) for its in ledgers))
