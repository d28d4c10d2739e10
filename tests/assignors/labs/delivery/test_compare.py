"""All strategies under one failure, and what each story of the page comes to."""

import pytest

from assignors.labs.delivery import (
    STORIES,
    DeliveryStory,
    Failure,
    FailureKind,
    Lab,
    Record,
    Strategy,
    compare,
    first_life,
    run,
    under,
    worst,
)
from assignors.labs.delivery.compare import Outcome

DATABASE = STORIES["database"]


def at(*offsets: int) -> tuple[Record, ...]:
    return tuple(Record(0, offset) for offset in offsets)


TWICE_AND_LOST = {
    "database": (at(10, 11, 12, 13, 14), ()),
    "nothing-fails": ((), ()),
    "auto-commit-crash": (at(5, 6, 7), ()),
    "auto-commit-exception": ((), at(2, 3, 4)),
    "commit-first": ((), at(2, 3, 4)),
    "per-partition": ((Record(1, 0), Record(1, 1)), ()),
    "every-n": (at(3, 4), ()),
    "every-n-from-zero": (at(1, 2), ()),
    "async-commit-lost": (at(0, 1, 2), ()),
    "async-retry": (at(2, 3), ()),
    "poll-interval": (at(0, 1, 2, 3, 4), ()),
    "external-store": ((), ()),
    "fenced-store": ((), ()),
    "eager": ((), ()),
    "cooperative": (at(5, 6, 7, 8, 9), ()),
    "commit-on-revoke": ((), ()),
    "ttl": ((), ()),
    "interceptor-throws": ((), ()),
    "poison": ((), ()),
    "poison-skipped": ((), ()),
    "consumer-per-thread": (at(3, 4), ()),
    "shared-pool": ((), at(2)),
    "worker-queues": (at(0), ()),
    "standalone-refused": ((), ()),
    "standalone-rewinds": (at(1, 2), ()),
    "standalone-skips": ((), at(3, 4)),
}
"""What each story says in its own words, as records."""


def test_each_story_has_its_own_name_and_an_outcome_here() -> None:
    assert list(STORIES) == list(TWICE_AND_LOST)


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_story_costs_what_it_says(story: DeliveryStory) -> None:
    ledger = run(story.lab, story.failure)
    assert (ledger.duplicated, ledger.lost) == TWICE_AND_LOST[story.name]


def test_database_example_under_every_strategy_once_five_rows_are_inserted() -> None:
    counted = {its: len(ledger.duplicated) for its, ledger in compare(DATABASE.lab, DATABASE.failure).items()}
    all_five = dict.fromkeys(Strategy, 5)
    first_committed, store_knows, all_but_the_last_committed = 0, 0, 1
    assert counted == all_five | {
        Strategy.EVERY_N_FROM_ZERO: 4,  # its one commit, of 100, comes after the first record
        Strategy.COMMIT_FIRST: first_committed,
        Strategy.EXTERNAL: store_knows,
        Strategy.WORKERS_QUEUES: all_but_the_last_committed,
    }


def test_same_moment_is_the_first_with_as_many_polls_and_records() -> None:
    lab = Lab(Strategy.SYNC, (6,), batch_records=3)
    second_poll_and_one_record = Failure(FailureKind.CRASH, 1 + 3 + 1 + 1 + 1)
    lab_there, there = under(lab, second_poll_and_one_record, Strategy.COMMIT_FIRST)
    assert lab_there.strategy is Strategy.COMMIT_FIRST
    assert there.step == 1 + 1 + 3 + 1 + 1 + 1
    assert under(lab, second_poll_and_one_record, Strategy.SYNC) == (lab, second_poll_and_one_record)


def test_worst_crash_per_strategy() -> None:
    lab = Lab(Strategy.SYNC, (6,), batch_records=3, every_records=2)
    found = worst(lab, Failure(FailureKind.CRASH))
    assert found[Strategy.SYNC] == found[Strategy.AUTO] == Outcome(3, 0)
    assert found[Strategy.COMMIT_FIRST] == Outcome(0, 3)
    assert found[Strategy.EVERY_N] == Outcome(2, 0)
    assert found[Strategy.EXTERNAL] == Outcome(0, 0)


@pytest.mark.parametrize("kind", FailureKind, ids=lambda kind: kind.name)
def test_worst_is_no_better_than_any_moment(kind: FailureKind) -> None:
    lab = Lab(Strategy.AUTO, (4, 3), (1, 0), 2)
    bounds = worst(lab, Failure(kind, outsider=(2, 1)))
    for step in range(len(first_life(lab)) + 1):
        for strategy, ledger in compare(lab, Failure(kind, step, outsider=(2, 1))).items():
            assert len(ledger.duplicated) <= bounds[strategy].duplicates
            assert len(ledger.lost) <= bounds[strategy].lost
