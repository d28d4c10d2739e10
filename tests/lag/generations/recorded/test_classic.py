"""Classic groups: one record at the end of each rebalance."""

from uuid import UUID

from lag.generations.recorded import GenerationRecorder, Timeouts
from lag.model import UNDECODED, Scope
from tests.lag.generations.recorded.events import classic, gained, in_part, plan, recorded, reported, written

FIRST = classic(1000, 1, {"a": [0, 1, 2]}, joined_ms=970)
SECOND = classic(2000, 2, {"a": [0, 1], "b": [2]}, joined_ms=1988)


def test_a_new_group_begins_without_members() -> None:
    nobody, first = recorded(FIRST)
    assert reported([nobody, first]) == [(0, 1000, "the group has no members"), (1, 1000, "c-a joined")]
    assert (plan(nobody), plan(first), gained(first)) == ({}, {"a": [0, 1, 2]}, [0, 1, 2])
    assert (nobody.generation.quality.rebalances, first.generation.quality.rebalances) == (0, 1)


def test_join_and_leave_with_their_moves_and_the_time_of_planning() -> None:
    _, first, joined, left, empty = recorded(FIRST, SECOND, classic(3000, 3, {"b": [0, 1, 2]}), classic(4000, 4, {}))
    assert reported([joined, left, empty]) == [
        (2, 2000, "c-b joined"),
        (3, 3000, "c-a left or timed out"),
        (4, 4000, "c-b left or timed out"),
    ]
    assert [plan(one) for one in (joined, left, empty)] == [{"a": [0, 1], "b": [2]}, {"b": [0, 1, 2]}, {}]
    assert [gained(one) for one in (joined, left)] == [[2], [0, 1]]
    assert [(one.began_ms, one.settled_ms) for one in (first, joined, left)] == [
        (970, 1000),
        (1988, 2000),
        (None, 3000),
    ]


def test_the_first_record_is_where_the_rest_begins_unless_it_is_the_first_of_all() -> None:
    start, joined = recorded(classic(1000, 7, {"a": [0, 1, 2]}), classic(2000, 8, {"a": [0, 1], "b": [2]}))
    assert reported([start, joined]) == [(7, 1000, "first record kept"), (8, 2000, "c-b joined")]
    assert start.generation.before == start.generation.after
    assert start.generation.quality.rebalances == 0


def test_a_group_of_one_record_has_not_changed_and_is_known() -> None:
    recorder = GenerationRecorder(dict[UUID, str]().get)
    recorder.take([classic(1000, 7, {"a": [0]})], whole=False)
    assert (recorder.recorded("g"), recorder.knows("g"), recorder.knows("h")) == ([], True, False)


def test_generations_that_never_had_a_plan_are_counted() -> None:
    *_, joined = recorded(FIRST, classic(2000, 5, {"a": [0], "b": [1], "c": [2]}))
    assert (joined.generation.number, joined.skipped) == (5, 3)
    assert joined.generation.event == "c-b joined; c-c joined"


def test_a_generation_whose_record_cannot_be_decoded_in_part_says_so_and_the_next_does_not() -> None:
    unread = "assignment of member b: version -1"
    second = in_part(classic(2000, 2, {"a": [0, 1], "b": []}), unread)
    _, first, joined, whole = recorded(FIRST, second, classic(3000, 3, {"a": [0, 1], "b": [2]}))
    assert [one.problems for one in (first, whole)] == [(), ()]
    (problem,) = joined.problems
    assert (problem.kind, problem.scope, problem.subject) == (UNDECODED, Scope.GROUP, "g")
    assert problem.cause == f"the {unread}"
    assert plan(joined) == {"a": [0, 1], "b": []}


def test_a_static_member_that_is_replaced_keeps_the_generation_and_moves_nothing() -> None:
    before = classic(1000, 3, {"a1": [0, 1], "b": [2]}, instances={"a1": "pod-1"})
    *_, back = recorded(before, classic(2000, 3, {"a2": [0, 1], "b": [2]}, instances={"a2": "pod-1"}))
    assert reported([back]) == [(3, 2000, "pod-1 came back")]
    assert (back.generation.quality.rebalances, back.generation.quality.paused, back.skipped) == (0, 0, 0)


def test_the_same_record_again_is_no_generation() -> None:
    assert reported(recorded(FIRST, SECOND, SECOND)) == reported(recorded(FIRST, SECOND))


def test_a_lower_generation_is_that_of_another_group_of_the_name() -> None:
    made = recorded(FIRST, SECOND, classic(9000, 1, {"c": [0, 1, 2]}))
    assert reported(made[-2:]) == [(0, 9000, "the group was deleted"), (1, 9000, "c-c joined")]
    assert gained(made[-1]) == [0, 1, 2]


def test_a_deleted_group_ends_and_another_of_the_same_name_starts_over() -> None:
    tombstone = written(5000, 2, None)
    ended = recorded(FIRST, SECOND, tombstone)
    assert reported(ended)[-1] == (0, 5000, "the group was deleted")
    at_once = recorded(FIRST, SECOND, tombstone, classic(9000, 4, {"c": [0, 1, 2]}))
    recorder = GenerationRecorder(dict[UUID, str]().get)
    for events in ([FIRST, SECOND, tombstone], [classic(9000, 4, {"c": [0, 1, 2]})]):
        recorder.take(events, whole=True)
    assert reported(at_once) == reported(recorder.recorded("g"))
    assert reported(at_once)[-2:] == [(0, 5000, "the group was deleted"), (4, 9000, "c-c joined")]


def test_the_second_rebalance_of_a_cooperative_join_has_the_cause_of_the_first() -> None:
    rounds = (
        classic(1000, 1, {"a": [0, 1, 2, 3]}, protocol="cooperative-sticky"),
        classic(2000, 2, {"a": [0, 1], "b": []}, protocol="cooperative-sticky"),
        classic(2100, 3, {"a": [0, 1], "b": [2, 3]}, protocol="cooperative-sticky"),
        classic(3000, 4, {"a": [0, 1], "b": [2, 3]}, protocol="cooperative-sticky"),
    )
    made = recorded(*rounds)
    assert [one.generation.event for one in made[2:]] == [
        "c-b joined",
        "c-b joined (rebalance 2)",
        "a member rejoined",
    ]
    assert [one.generation.quality.unassigned for one in made[1:]] == [0, 2, 0, 0]
    assert {topic.partitions for one in made[1:] for topic in one.generation.topics.values()} == {4}


def test_growth_of_a_topic_and_a_new_subscription_are_causes() -> None:
    made = recorded(
        FIRST,
        classic(2000, 2, {"a": [0, 1, 2, 3, 4]}),
        classic(3000, 3, {"a": [0, 1, 2, 3, 4]}, topics=("orders", "refunds")),
    )
    assert [one.generation.event for one in made[2:]] == ["topic orders: 3 → 5 partitions", "c-a changed subscription"]


def test_a_topic_whose_partitions_nobody_gets_any_more_is_gone() -> None:
    made = recorded(FIRST, classic(2000, 2, {"a": []}), classic(3000, 3, {"a": []}))
    assert [list(one.generation.topics) for one in made[1:]] == [["orders"], ["orders"], []]


def test_an_impossible_partition_is_counted_and_the_group_stays_as_it_was() -> None:
    recorder = GenerationRecorder(dict[UUID, str]().get)
    recorder.take([FIRST, classic(2000, 2, {"a": [-1]}), SECOND], whole=True)
    assert (recorder.unusable, [number for number, *_ in reported(recorder.recorded("g"))]) == (1, [0, 1, 2])


def test_only_the_last_generations_are_kept() -> None:
    events = [classic(1000 * n, n, {"a": [0, 1], "b": [2]} if n % 2 else {"a": [0, 1, 2]}) for n in range(1, 9)]
    made = recorded(*events, most_generations=3)
    assert reported(made) == [(6, 6000, "oldest one kept"), (7, 7000, "c-b joined"), (8, 8000, "c-b left or timed out")]


def test_timeouts_are_those_of_the_last_record_and_go_with_the_group() -> None:
    recorder = GenerationRecorder(dict[UUID, str]().get)
    recorder.take([FIRST, SECOND], whole=True)
    assert dict(recorder.timeouts("g")) == dict.fromkeys("ab", Timeouts(1, None))
    assert dict(recorder.timeouts("h")) == {}
    recorder.take([written(9000, 2, None)], whole=True)
    assert dict(recorder.timeouts("g")) == {}


def test_a_generation_has_the_timeouts_of_the_members_that_are_gone() -> None:
    *_, joined, left = recorded(FIRST, SECOND, classic(3000, 3, {"b": [0, 1, 2]}))
    assert (dict(joined.departed), dict(left.departed)) == ({}, {"a": Timeouts(1, None)})
