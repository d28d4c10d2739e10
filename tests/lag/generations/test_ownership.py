"""Time without an owner: what classic records, cooperative ones and reconciliation steps show; and what they do not."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assignors.whatif.moves import MoveKind
from lag.generations.ownership import (
    FROM_POLLS,
    NO_JOIN_TIME,
    UNFINISHED,
    Holding,
    OwnershipTimeline,
    Span,
    WithoutOwner,
    ownership_timeline,
    without_owner,
    without_owner_in,
)
from lag.generations.recorded import GenerationRecorder, Origin, RecordedGeneration, Recording, TimedEvent
from tests.lag.generations.recorded.events import NAMES, classic, recorded
from tests.lag.generations.recorded.test_any_events import EVENTS
from tests.lag.generations.recorded.test_classic import FIRST, SECOND
from tests.lag.generations.recorded.test_consumer import A_LEAVES, B_JOINS, B_LEAVES, BEGIN
from tests.support.random_examples import random_examples

COOPERATIVE = (
    classic(1000, 1, {"a": [0, 1, 2, 3]}, protocol="cooperative-sticky"),
    classic(2000, 2, {"a": [0, 1], "b": []}, protocol="cooperative-sticky", joined_ms=1990),
    classic(2100, 3, {"a": [0, 1], "b": [2, 3]}, protocol="cooperative-sticky", joined_ms=2095),
)


def gap(one: RecordedGeneration, before_ms: int | None = None) -> WithoutOwner:
    return without_owner(one, Origin.RECORDED, before_ms)


def timeline(*events: TimedEvent, until_ms: int = 10_000) -> OwnershipTimeline:
    return ownership_timeline(Recording(Origin.RECORDED, recorded(*events)), until_ms)


def test_an_eager_rebalance_stops_every_partition_at_least_from_the_last_join_on() -> None:
    *_, joined = recorded(FIRST, SECOND)
    assert gap(joined) == WithoutOwner(3, 12, 36, at_least=True)


def test_a_first_assignment_ends_no_ownership() -> None:
    _, first = recorded(FIRST)
    assert gap(first) == WithoutOwner(0, 0, 0)


def test_an_eager_rebalance_without_the_time_of_the_last_join_is_unknown() -> None:
    *_, left = recorded(FIRST, SECOND, classic(3000, 3, {"b": [0, 1, 2]}))
    assert gap(left) == WithoutOwner(reason=NO_JOIN_TIME)


def test_a_cooperative_join_takes_only_what_moves_from_one_assignment_to_the_next() -> None:
    *_, revoked, assigned = recorded(*COOPERATIVE)
    assert gap(revoked) == WithoutOwner(0, 0, 0)
    assert gap(assigned, before_ms=revoked.generation.at_ms) == WithoutOwner(2, 100, 200)


def test_a_member_that_is_gone_leaves_its_partitions_without_an_owner_at_least_until_the_others_joined() -> None:
    left = classic(3000, 4, {"a": [0, 1, 2, 3]}, protocol="cooperative-sticky", joined_ms=2950)
    *_, gone = recorded(*COOPERATIVE, left)
    assert gap(gone) == WithoutOwner(2, 50, 100, at_least=True)


def test_a_reconciliation_counts_from_the_acknowledged_revocation_to_the_step_of_the_new_owner() -> None:
    *_, joined = recorded(*BEGIN)
    assert gap(joined) == WithoutOwner(2, 400, 800, at_least=True)


def test_partitions_of_a_member_that_left_count_from_the_new_epoch() -> None:
    *_, left = recorded(*BEGIN, *B_LEAVES)
    assert gap(left) == WithoutOwner(2, 1000, 2000, at_least=True)


def test_a_target_that_was_superseded_is_unknown() -> None:
    overtaken = recorded(*BEGIN[:5], *B_JOINS[:-1], *B_LEAVES)[2]
    assert gap(overtaken) == WithoutOwner(reason=UNFINISHED)


def test_the_first_generation_has_no_gap_and_the_others_begin_at_the_one_before() -> None:
    recording = Recording(Origin.RECORDED, recorded(*COOPERATIVE))
    assert without_owner_in(recording, 0) is None
    assert [without_owner_in(recording, at) for at in range(1, len(recording.generations))] == [
        gap(one, before.generation.at_ms) for before, one in pairwise(recording.generations)
    ]


def test_polls_do_not_show_it() -> None:
    *_, joined = recorded(FIRST, SECOND)
    assert without_owner(joined, Origin.INFERRED) == WithoutOwner(reason=FROM_POLLS)


def test_the_spans_of_a_classic_partition_have_its_owners_and_its_gaps() -> None:
    shown = timeline(FIRST, SECOND, until_ms=5000)
    assert shown.spans(0) == [
        Span(1000, 1988, Holding.OWNED, "a"),
        Span(1988, 2000, Holding.UNOWNED),
        Span(2000, 5000, Holding.OWNED, "a"),
    ]
    assert shown.spans(2)[-1] == Span(2000, 5000, Holding.OWNED, "b")
    assert (shown.without_owner_ms.tolist(), shown.at_least, shown.reason) == ([12, 12, 12], True, "")


def test_the_spans_of_a_cooperative_hand_over_have_one_gap_over_two_rebalances() -> None:
    shown = timeline(*COOPERATIVE, until_ms=3000)
    assert shown.spans(0) == [Span(1000, 3000, Holding.OWNED, "a")]
    assert shown.spans(3) == [
        Span(1000, 2000, Holding.OWNED, "a"),
        Span(2000, 2100, Holding.UNOWNED),
        Span(2100, 3000, Holding.OWNED, "b"),
    ]
    assert shown.without_owner_ms.tolist() == [0, 0, 100, 100]


def test_the_spans_of_a_reconciliation_end_when_the_group_is_empty() -> None:
    shown = timeline(*BEGIN, *B_LEAVES, *A_LEAVES, until_ms=9000)
    assert shown.spans(3) == [
        Span(1000, 3300, Holding.OWNED, "a"),
        Span(3300, 3700, Holding.UNOWNED),
        Span(3700, 5000, Holding.OWNED, "b"),
        Span(5000, 6000, Holding.UNOWNED),
        Span(6000, 8000, Holding.OWNED, "a"),
        Span(8000, 9000, Holding.UNOWNED),
    ]


def test_a_partition_that_its_new_owner_never_received_is_unknown_until_the_next_generation() -> None:
    shown = timeline(*BEGIN[:5], *B_JOINS[:-1], *B_LEAVES, until_ms=7000)
    assert Span(3300, 5000, Holding.UNKNOWN) in shown.spans(3)
    assert shown.spans(0) == [Span(1000, 7000, Holding.OWNED, "a")]


def test_spans_of_polls_have_owners_and_no_gaps() -> None:
    shown = ownership_timeline(Recording(Origin.INFERRED, recorded(FIRST, SECOND)), 5000)
    assert shown.spans(2) == [Span(1000, 2000, Holding.OWNED, "a"), Span(2000, 5000, Holding.OWNED, "b")]
    assert shown.reason == FROM_POLLS


@given(st.lists(EVENTS, max_size=40), st.integers(0, 12))
@random_examples(200)
def test_every_moment_of_every_partition_is_in_one_span(events: list[TimedEvent], until_ms: int) -> None:
    recorder = GenerationRecorder(NAMES.get)
    recorder.take(events, whole=True)
    made = recorder.recorded("g")
    if not made:
        return
    for origin in Origin:
        shown = ownership_timeline(Recording(origin, made), until_ms)
        for column in range(len(shown.layout)):
            spans = shown.spans(column)
            assert sum(span.end_ms - span.start_ms for span in spans) == shown.until_ms - shown.since_ms
            assert [span.end_ms for span in spans[:-1]] == [span.start_ms for span in spans[1:]]
            unowned = sum(span.end_ms - span.start_ms for span in spans if span.holding is Holding.UNOWNED)
            assert unowned == shown.without_owner_ms[column]


@given(st.lists(EVENTS, max_size=40))
@random_examples(200)
def test_moved_kept_and_unassigned_partitions_add_up_in_every_generation(events: list[TimedEvent]) -> None:
    recorder = GenerationRecorder(NAMES.get)
    recorder.take(events, whole=True)
    for one in recorder.recorded("g"):
        moves = one.generation.moves
        assert sum(map(moves.count, MoveKind)) == len(moves)
        assigned = {tp for tps in one.generation.after.by_member.values() for tp in tps}
        assert {move.tp for move in moves if move.target is not None} == assigned
