"""The step machine and the closed formulae agree, for every small lab and every step at which something can fail."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from assignors.labs.delivery import Failure, FailureKind, Lab, Ledger, Record, Strategy, run
from assignors.labs.delivery.compare import Outcome
from assignors.labs.delivery.consumer_steps import life
from assignors.labs.delivery.ledger import COMMITS
from assignors.labs.delivery.model import AUTO_COMMITTING, Kind
from assignors.labs.delivery.reach import Moment, moment, reach
from tests.assignors.labs.delivery.formulas import UNCOVERED, crash, exception, kicked, planned_eager

COVERED = [strategy for strategy in Strategy if strategy not in UNCOVERED]


def labs(strategy: Strategy) -> Iterator[Lab]:
    """Up to 7 records in one partition or two, batches up to 4, intervals and pools up to 3."""
    for end, batch, small in product([(0,), (4,), (7,), (2, 3)], range(1, 5), range(1, 4)):
        yield Lab(strategy, end, (0,) * len(end), batch, small, small, small)


def moments(lab: Lab) -> Iterator[tuple[int, Moment]]:
    course = life(lab, lab.start, "A")
    return ((step, moment(course[:step])) for step in range(len(course) + 1))


def outcome(ledger: Ledger) -> Outcome:
    assert max(ledger.processed.values(), default=0) <= 2
    return Outcome(len(ledger.duplicated), len(ledger.lost))


FAILURES = [
    FailureKind.CRASH, FailureKind.EXCEPTION, FailureKind.KICKED, FailureKind.EAGER, FailureKind.COOPERATIVE,
]  # fmt: skip


@pytest.mark.parametrize("strategy", list(Strategy), ids=lambda strategy: strategy.name)
def test_whatever_fails_at_whatever_step_nobody_commits_beyond_its_position_or_polls_beyond_the_end(
    strategy: Strategy,
) -> None:
    for lab in labs(strategy):
        for (step, _), kind in product(moments(lab), FAILURES):
            positions: dict[tuple[str, int], int] = {}
            committed = dict(enumerate(lab.start))  # where a consumer begins that has not polled yet
            for event in run(lab, Failure(kind, step)).events:
                for partition, offset in event.offsets:
                    if event.kind is Kind.POLL:
                        assert offset <= lab.end[partition], (lab, step, kind)
                        positions[event.consumer, partition] = offset
                    elif event.kind in COMMITS:
                        at = positions.get((event.consumer, partition), committed[partition])
                        assert offset <= at, (lab, step, kind, event)
                        committed[partition] = offset


@pytest.mark.parametrize("strategy", COVERED, ids=lambda strategy: strategy.name)
def test_crash_at_every_step_costs_what_the_formula_says(strategy: Strategy) -> None:
    for lab in labs(strategy):
        for step, at in moments(lab):
            assert outcome(run(lab, Failure(FailureKind.CRASH, step))) == crash(lab, at), (lab, step)


@pytest.mark.parametrize("strategy", COVERED, ids=lambda strategy: strategy.name)
def test_exception_and_close_at_every_step_cost_what_the_formula_says(strategy: Strategy) -> None:
    for lab in labs(strategy):
        for step, at in moments(lab):
            assert outcome(run(lab, Failure(FailureKind.EXCEPTION, step))) == exception(lab, at), (lab, step)


@pytest.mark.parametrize(
    "strategy", [s for s in COVERED if s is not Strategy.WORKERS_SHARED], ids=lambda strategy: strategy.name
)
def test_being_kicked_at_every_step_costs_what_the_formula_says(strategy: Strategy) -> None:
    for lab in labs(strategy):
        for step, at in moments(lab):
            assert outcome(run(lab, Failure(FailureKind.KICKED, step))) == kicked(lab, at), (lab, step)


@pytest.mark.parametrize("strategy", sorted(AUTO_COMMITTING), ids=lambda strategy: strategy.name)
def test_planned_eager_rebalance_under_auto_commit_repeats_nothing(strategy: Strategy) -> None:
    for lab in labs(strategy):
        course = life(lab, lab.start, "A")
        for step, _ in moments(lab):
            poll = next((at for at in range(step, len(course)) if course[at].kind is Kind.POLL), len(course))
            expected = planned_eager(lab, moment(course[:poll]))
            assert expected.duplicates == 0
            assert outcome(run(lab, Failure(FailureKind.EAGER, step))) == expected, (lab, step)


@pytest.mark.parametrize("strategy", [Strategy.AUTO, Strategy.ASYNC], ids=lambda strategy: strategy.name)
def test_failed_commits_before_a_crash_cost_what_the_formula_says(strategy: Strategy) -> None:
    failing = [frozenset({0}), frozenset({1, 2})]
    for lab, failed in product(labs(strategy), failing):
        for step, at in moments(lab):
            expected = crash(lab, at, failed)
            assert outcome(run(lab, Failure(FailureKind.CRASH, step, failed))) == expected, (lab, step, failed)


@pytest.mark.parametrize("kind", [FailureKind.CRASH, FailureKind.EXCEPTION])
@pytest.mark.parametrize(
    "strategy", [s for s in COVERED if s is not Strategy.WORKERS_SHARED], ids=lambda strategy: strategy.name
)
def test_twice_and_lost_are_processed_less_committed_and_the_other_way_round(
    strategy: Strategy, kind: FailureKind
) -> None:
    for lab in labs(strategy):
        for step, at in moments(lab):
            found = reach(lab, Failure(kind, step))
            assert found is not None
            assert (found.at, found.processed) == (at, at.processed)
            ahead = found.processed - found.committed
            assert outcome(run(lab, Failure(kind, step))) == Outcome(max(ahead, 0), max(-ahead, 0)), (lab, step)


def test_no_reach_where_records_are_not_counted_in_their_order() -> None:
    plain, died = Lab(Strategy.SYNC, (7,)), Failure(FailureKind.CRASH, 3)
    assert reach(replace(plain, strategy=Strategy.WORKERS_SHARED), died) is None
    assert reach(replace(plain, strategy=Strategy.ASYNC_RETRY), died) is None
    assert reach(replace(plain, poison=Record(0, 2)), died) is None
    assert reach(plain, Failure(FailureKind.KICKED, 3)) is None


def test_the_rows_of_the_table_for_a_batch_of_five_with_three_processed() -> None:
    assert crash(Lab(Strategy.SYNC, (5,)), Moment(1, 3, 0)) == Outcome(3, 0)
    assert crash(Lab(Strategy.COMMIT_FIRST, (5,)), Moment(1, 3, 1)) == Outcome(0, 5 - 3)
    assert exception(Lab(Strategy.AUTO, (5,)), Moment(1, 3, 0)) == Outcome(0, 5 - 3)
    assert kicked(Lab(Strategy.SYNC, (5,)), Moment(1, 3, 0)) == Outcome(5, 0)
    assert crash(Lab(Strategy.EVERY_N, (300,), (), 500), Moment(1, 250, 2)) == Outcome(250 % 100, 0)
    assert crash(Lab(Strategy.EVERY_N_FROM_ZERO, (300,), (), 500), Moment(1, 250, 3)) == Outcome((250 - 1) % 100, 0)
    assert crash(Lab(Strategy.EXTERNAL, (5,)), Moment(1, 3, 0)) == Outcome(0, 0)
