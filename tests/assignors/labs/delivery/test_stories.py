"""The stories of the delivery lab, each with what it costs."""

import pytest

from assignors.labs.delivery import (
    Failure,
    FailureKind,
    Interceptor,
    Kind,
    Lab,
    LabError,
    Ledger,
    OnPoison,
    Record,
    Strategy,
    first_life,
    run,
)


def at(*offsets: int) -> tuple[Record, ...]:
    return tuple(Record(0, offset) for offset in offsets)


def exactly_once(ledger: Ledger) -> bool:
    return not ledger.lost and not ledger.duplicated


def test_database_example_ends_at_15_with_5_duplicates() -> None:
    lab = Lab(Strategy.SYNC, (15,), (10,))
    after_the_inserts = 1 + 5
    ledger = run(lab, Failure(FailureKind.CRASH, after_the_inserts))
    assert ledger.offsets == (15,)
    assert ledger.duplicated == at(10, 11, 12, 13, 14)
    assert [(event.consumer, event.kind) for event in ledger.events] == [
        ("A", Kind.POLL),
        *[("A", Kind.PROCESS)] * 5,
        ("A", Kind.CRASH),
        ("B", Kind.POLL),
        *[("B", Kind.PROCESS)] * 5,
        ("B", Kind.COMMIT),
    ]
    assert set(ledger.delivered.values()) == set(ledger.processed.values()) == {2}
    assert set(ledger.committed.values()) == {1}


@pytest.mark.parametrize("strategy", Strategy, ids=lambda strategy: strategy.name)
def test_without_failure_every_record_is_processed_once(strategy: Strategy) -> None:
    ledger = run(Lab(strategy, (4, 3), (1, 0), 2, 2))
    assert exactly_once(ledger)
    assert [ledger.processed[record] for record in ledger.records] == [1] * 6
    assert ledger.waiting == ()


@pytest.mark.parametrize("strategy", Strategy, ids=lambda strategy: strategy.name)
def test_crash_at_every_step_keeps_the_strategys_promise(strategy: Strategy) -> None:
    lab = Lab(strategy, (4, 3), (), 3, 2)
    ledgers = [run(lab, Failure(FailureKind.CRASH, step)) for step in range(len(first_life(lab)) + 1)]
    may_lose = {Strategy.COMMIT_FIRST, Strategy.WORKERS_SHARED}
    never_twice = {Strategy.COMMIT_FIRST, Strategy.EXTERNAL}
    assert all(not ledger.lost for ledger in ledgers) == (strategy not in may_lose)
    assert all(not ledger.duplicated for ledger in ledgers) == (strategy in never_twice)
    assert all(map(exactly_once, ledgers)) == (strategy is Strategy.EXTERNAL)
    assert all(ledger.waiting == () for ledger in ledgers)


def test_commit_sent_again_behind_a_newer_one_rewinds_the_group() -> None:
    lab = Lab(Strategy.ASYNC_RETRY, (6,), (), 2)
    two_batches_and_the_retry = 4 + 4 + 1
    ledger = run(lab, Failure(FailureKind.CRASH, two_batches_and_the_retry, frozenset({0})))
    assert ledger.duplicated == at(2, 3)
    assert ledger.committed[Record(0, 2)] == 2
    without_retry = Lab(Strategy.ASYNC, (6,), (), 2)
    assert exactly_once(run(without_retry, Failure(FailureKind.CRASH, 4 + 4, frozenset({0}))))


def test_cooperative_rebalance_repeats_the_batch_returned_while_joining() -> None:
    lab = Lab(Strategy.AUTO, (10,), (), 5)
    assert exactly_once(run(lab, Failure(FailureKind.EAGER, 0)))
    assert run(lab, Failure(FailureKind.COOPERATIVE, 0)).duplicated == at(0, 1, 2, 3, 4)
    committing = Lab(Strategy.AUTO, (10,), (), 5, commits_on_revoke=True)
    assert exactly_once(run(committing, Failure(FailureKind.COOPERATIVE, 0)))


def test_cooperative_rebalance_fails_commits_in_the_client() -> None:
    ledger = run(Lab(Strategy.SYNC, (4,), (), 2), Failure(FailureKind.COOPERATIVE, 0))
    failed = [event for event in ledger.events if event.kind is Kind.COMMIT_FAILED]
    assert [event.reason.split(":")[0] for event in failed] == ["RebalanceInProgressException"]
    assert ledger.duplicated == at(0, 1)
    assert exactly_once(run(Lab(Strategy.COMMIT_FIRST, (4,), (), 2), Failure(FailureKind.COOPERATIVE, 0)))


def test_interceptor_that_drops_the_last_record_leaves_an_offset_that_is_never_committed() -> None:
    expired = frozenset({Record(0, 1), Record(0, 4)})
    lab = Lab(Strategy.PER_PARTITION, (5,), interceptor=Interceptor.DROPS, expired=expired)
    ledger = run(lab)
    assert ledger.dropped == expired
    assert [ledger.delivered[record] for record in ledger.records] == [1, 0, 1, 1, 0]
    assert ledger.offsets == (4,)
    by_position = Lab(Strategy.SYNC, (5,), interceptor=Interceptor.DROPS, expired=expired)
    assert run(by_position).offsets == (5,)


def test_interceptor_that_throws_is_ignored_and_expired_records_are_processed() -> None:
    lab = Lab(Strategy.SYNC, (5,), interceptor=Interceptor.THROWS, expired=frozenset({Record(0, 1)}))
    assert run(lab).processed == dict.fromkeys(at(0, 1, 2, 3, 4), 1)


def test_failing_deserializer_stops_the_group_at_its_record() -> None:
    lab = Lab(Strategy.SYNC, (5,), poison=Record(0, 2))
    for failure in (Failure(), Failure(FailureKind.CRASH, len(first_life(lab)))):
        ledger = run(lab, failure)
        assert ledger.events[-1].kind is Kind.POISON
        assert ledger.offsets == (2,)
        assert ledger.waiting == at(2, 3, 4)
        assert ledger.lost == ()


@pytest.mark.parametrize(("poison", "processed"), [(2, (0, 1, 3, 4)), (4, (0, 1, 2, 3)), (0, (1, 2, 3, 4))])
def test_seeking_past_the_failing_record_skips_it_alone(poison: int, processed: tuple[int, ...]) -> None:
    lab = Lab(Strategy.AUTO, (5,), poison=Record(0, poison), on_poison=OnPoison.SKIP)
    ledger = run(lab)
    assert tuple(ledger.processed) == at(*processed)
    assert ledger.dropped == set(at(poison))
    assert ledger.offsets == (5,)


def test_shared_pool_loses_what_is_queued_and_the_order_with_it() -> None:
    lab = Lab(Strategy.WORKERS_SHARED, (6,), (), 3)
    poll_two_of_three_commit_poll = 1 + 2 + 1 + 1
    ledger = run(lab, Failure(FailureKind.CRASH, poll_two_of_three_commit_poll))
    assert ledger.lost == at(2)
    assert run(lab).out_of_order == at(0, 2, 4)


def test_queues_per_partition_keep_order_and_lose_nothing() -> None:
    lab = Lab(Strategy.WORKERS_QUEUES, (3, 4), (), 3)
    for step in range(len(first_life(lab)) + 1):
        ledger = run(lab, Failure(FailureKind.CRASH, step))
        assert ledger.out_of_order == ledger.lost == ()
        assert len(ledger.duplicated) <= lab.workers


def test_standalone_consumer_of_the_group_id_is_refused_while_the_group_is_stable() -> None:
    failure = Failure(FailureKind.OUTSIDER_REFUSED, 2, outsider=(4,))
    ledger = run(Lab(Strategy.SYNC, (5,)), failure)
    assert exactly_once(ledger)
    assert [event.reason.split(":")[0] for event in ledger.events if event.consumer == "standalone"] == [
        "CommitFailedException (UNKNOWN_MEMBER_ID)"
    ]


@pytest.mark.parametrize(("commits", "duplicated", "lost"), [(1, at(1, 2), ()), (3, (), ()), (5, (), at(3, 4))])
def test_standalone_consumer_moves_the_offsets_of_an_empty_group(
    commits: int, duplicated: tuple[Record, ...], lost: tuple[Record, ...]
) -> None:
    three_processed = Failure(FailureKind.OUTSIDER_ACCEPTED, 1 + 3, outsider=(commits,))
    ledger = run(Lab(Strategy.SYNC, (6,)), three_processed)
    assert ledger.duplicated == duplicated
    assert ledger.lost == lost


def test_zombies_transaction_is_refused_by_the_external_store() -> None:
    ledger = run(Lab(Strategy.EXTERNAL, (4,)), Failure(FailureKind.KICKED, 1 + 2))
    assert [event.records for event in ledger.events if event.kind is Kind.STORE_REFUSED] == [at(2), at(3)]
    assert exactly_once(ledger)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"end": (5,), "start": (6,)}, "Partition 0 starts at 6 and ends at 5. Use 0 <= start <= end."),
        ({"end": (5, 5), "start": (0,)}, "start names 1 partitions, end 2. Give one offset for each."),
        ({"end": (5,), "batch_records": 0}, "batch_records is 0. Use 1 or more."),
    ],
)
def test_contradictory_lab_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(LabError, match=message):
        Lab(Strategy.SYNC, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (Failure(FailureKind.CRASH, 8), "Step 8 is outside the consumer's 7 steps. Use 0 to 7."),
        (Failure(FailureKind.OUTSIDER_ACCEPTED, 0, outsider=(9,)), "commits .9,.. Give each partition an offset"),
    ],
)
def test_failure_that_cannot_happen_is_refused(failure: Failure, message: str) -> None:
    with pytest.raises(LabError, match=message):
        run(Lab(Strategy.SYNC, (5,)), failure)
