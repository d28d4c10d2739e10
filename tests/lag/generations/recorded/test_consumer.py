"""KIP-848 groups: what the coordinator writes for joins, leaves, successors and what comes of it."""

from uuid import UUID

from lag.generations.recorded import GenerationRecorder, MemberState, TimedEvent, Timeouts
from lag.records.group_values import ShareGroupMemberMetadata, ShareGroupMetadata
from lag.records.group_values import TargetAssignmentMember as Target
from lag.records.group_values import TargetAssignmentMetadata as Planned
from lag.records.group_values import TopicIdPartitions as Given
from tests.lag.generations.recorded.events import (
    NAMES,
    ORDERS,
    STABLE,
    UNRELEASED,
    UNREVOKED,
    classic,
    current,
    epoch,
    gained,
    gone,
    member,
    plan,
    planned,
    recorded,
    reported,
    target,
    written,
)

A_JOINS = [
    member(1000, "a"),
    epoch(1000, 2),
    target(1000, "a", 0, 1, 2, 3),
    planned(1000, 2),
    current(1000, "a", 2, STABLE, [0, 1, 2, 3]),
]
B_JOINS = [
    member(2000, "b"),
    epoch(2000, 3),
    current(2000, "b", 2, STABLE, []),
    target(3000, "a", 0, 1),
    target(3000, "b", 2, 3),
    planned(3000, 3),
    current(3000, "b", 3, UNRELEASED, []),
    current(3200, "a", 2, UNREVOKED, [0, 1], [2, 3]),
    current(3300, "a", 3, STABLE, [0, 1]),
    current(3700, "b", 3, STABLE, [2, 3]),
]
B_LEAVES = [
    *gone(5000, "b"),
    epoch(5000, 4),
    target(6000, "a", 0, 1, 2, 3),
    planned(6000, 4),
    current(6000, "a", 4, STABLE, [0, 1, 2, 3]),
]
A_LEAVES = [*gone(8000, "a"), epoch(8000, 5)]
BEGIN = [*A_JOINS, *B_JOINS]


def test_each_target_is_a_generation_and_the_last_leave_too() -> None:
    made = recorded(*BEGIN, *B_LEAVES, *A_LEAVES)
    assert reported(made) == [
        (0, 1000, "the group has no members"),
        (2, 1000, "c-a joined"),
        (3, 3000, "c-b joined"),
        (4, 6000, "c-b left or timed out"),
        (5, 8000, "c-a left or timed out"),
    ]
    assert [plan(one) for one in made] == [
        {},
        {"a": [0, 1, 2, 3]},
        {"a": [0, 1], "b": [2, 3]},
        {"a": [0, 1, 2, 3]},
        {},
    ]
    assert {one.generation.assignor for one in made} == {"uniform"}


def test_it_begins_with_the_epoch_and_settles_when_the_last_member_is_stable_at_it() -> None:
    _, first, joined, left, empty = recorded(*BEGIN, *B_LEAVES, *A_LEAVES)
    took = [(one.began_ms, one.settled_ms) for one in (first, joined, left, empty)]
    assert took == [(1000, 1000), (2000, 3700), (5000, 6000), (8000, 8000)]
    assert [(s.at_ms, s.member_id, s.epoch, s.state, s.partitions, s.leaving) for s in joined.steps] == [
        (3000, "b", 3, MemberState.UNRELEASED, 0, 0),
        (3200, "a", 2, MemberState.UNREVOKED, 2, 2),
        (3300, "a", 3, MemberState.STABLE, 2, 0),
        (3700, "b", 3, MemberState.STABLE, 2, 0),
    ]


def test_epochs_without_a_plan_are_one_generation_with_both_causes() -> None:
    made = recorded(
        *A_JOINS,
        *(member(2000, "b"), epoch(2000, 3), member(2100, "c"), epoch(2100, 4)),
        *(target(3000, "a", 0, 1), target(3000, "b", 2), target(3000, "c", 3), planned(3000, 4)),
    )
    assert reported(made[2:]) == [(4, 3000, "c-b joined; c-c joined")]
    assert (made[2].skipped, made[2].began_ms, made[2].settled_ms) == (1, 2000, None)


def test_a_plan_that_is_overtaken_never_settles() -> None:
    overtaken, last = recorded(*A_JOINS, *B_JOINS[:-1], *B_LEAVES)[2:]
    assert (overtaken.settled_ms, last.settled_ms) == (None, 6000)


def test_a_static_members_successor_takes_over_without_an_epoch() -> None:
    first = [member(1000, "a1", "pod"), *A_JOINS[1:2], target(1000, "a1", 0, 1), planned(1000, 2)]
    first.append(current(1000, "a1", 2, STABLE, [0, 1]))
    away = current(2000, "a1", -2, STABLE, [0, 1])
    swap = [
        *gone(2500, "a1"),
        member(2500, "a2", "pod"),
        target(2500, "a2", 0, 1),
        current(2500, "a2", 2, STABLE, [0, 1]),
    ]
    made = recorded(*first, away, *swap)
    assert reported(made[2:]) == [(2, 2500, "pod came back")]
    assert (plan(made[2]), made[2].generation.quality.rebalances) == ({"a2": [0, 1]}, 0)


def test_growth_of_a_topic_and_other_news_of_it_are_causes() -> None:
    grown = [epoch(2000, 3, 7), target(2000, "a", 0, 1, 2, 3, 4), planned(2000, 3)]
    made = recorded(*A_JOINS, *grown, epoch(3000, 4, 8), planned(3000, 4), epoch(4000, 5, 8), planned(4000, 5))
    assert [one.generation.event for one in made[2:]] == [
        "topic orders: 4 → 5 partitions",
        "its topics' metadata changed",
        "assignment computed again",
    ]


def test_a_topic_without_a_known_name_goes_by_its_id() -> None:
    lost = UUID(int=9)
    *_, made = recorded(*A_JOINS[:2], target(1000, "a", 0, topic_id=lost), planned(1000, 2))
    assert [tp.topic for tp in made.generation.after.by_member["a"]] == [f"topic id {lost}"]


def test_a_group_read_from_its_middle_is_known_from_its_next_beginning_on() -> None:
    assert recorded(*B_JOINS, *B_LEAVES, whole=False) == []
    deleted = [*A_LEAVES, written(9000, 6, None), written(9000, 3, None)]
    again = [TimedEvent(timed.at_ms + 9000, timed.event) for timed in A_JOINS]
    assert reported(recorded(*B_JOINS, *deleted, *again, whole=False)) == [
        (0, 10000, "the group has no members"),
        (2, 10000, "c-a joined"),
    ]


def test_a_log_that_begins_late_gives_a_first_record() -> None:
    assert reported(
        recorded(*A_JOINS[:1], epoch(1000, 9), *A_JOINS[2:3], planned(1000, 9), *gone(2000, "a"), epoch(2000, 10))
    ) == [
        (9, 1000, "first record kept"),
        (10, 2000, "c-a left or timed out"),
    ]


def test_a_classic_group_that_goes_over_keeps_what_its_members_have() -> None:
    upgrade = [written(2000, 2, None), member(2000, "a"), epoch(2000, 7), target(2000, "a", 0, 1), planned(2000, 7)]
    back = [*gone(3000, "a"), written(3000, 6, None), written(3000, 3, None), classic(3000, 8, {"a": [0, 1]})]
    made = recorded(classic(1000, 7, {"a": [0, 1]}), *upgrade, *back)
    assert [(number, event) for number, _, event in reported(made)] == [
        (7, "first record kept"),
        (7, "the group was upgraded to the consumer protocol (KIP-848); assignor range → uniform"),
        (8, "the group was downgraded to the classic protocol; assignor uniform → range"),
    ]
    assert [gained(one) for one in made] == [[], [], []]


def test_members_of_a_share_group_may_have_the_same_partition() -> None:
    names = ("a", "b")
    events = [written(1000, 10, ShareGroupMemberMetadata(None, f"c-{n}", "/h", ("orders",)), n) for n in names]
    events += [written(1000, 11, ShareGroupMetadata(2, 0))]
    events += [written(1000, 13, Target((Given(ORDERS, (0,)),)), n) for n in names]
    *_, made = recorded(*events, written(1000, 12, Planned(2)))
    assert (plan(made), made.generation.assignor) == ({"a": [0], "b": [0]}, "share-simple")


def test_the_target_of_a_share_member_keeps_topics_without_partitions() -> None:
    recorder = GenerationRecorder(NAMES.get)
    recorder.take([written(1000, 11, ShareGroupMetadata(5, 0))], whole=False)
    assert recorder.share_targets("g") == {}
    recorder.take([written(1000, 13, Target((Given(ORDERS, ()),)), "a")], whole=False)
    assert recorder.share_targets("g") == {"a": (("orders", ()),)}
    recorder.take([written(2000, 13, None, "a")], whole=False)
    assert recorder.share_targets("g") == {}


def test_steps_beyond_four_for_each_member_are_not_kept() -> None:
    again = [current(4000 + n, "a", 2, UNREVOKED, [0, 1], [2, 3]) for n in range(20)]
    *_, joined = recorded(*A_JOINS, *B_JOINS[:-1], *again, B_JOINS[-1])
    assert (len(joined.steps), joined.settled_ms) == (8, 3700)


def test_forgotten_groups_start_over() -> None:
    recorder = GenerationRecorder(dict[UUID, str]().get)
    recorder.take(BEGIN, whole=True)
    assert recorder.known() == ["g"]
    recorder.forget(recorder.known())
    assert (recorder.known(), recorder.recorded("g")) == ([], [])


def test_timeouts_are_those_that_members_sent_last() -> None:
    recorder = GenerationRecorder(dict[UUID, str]().get)
    recorder.take([*A_JOINS, *B_JOINS], whole=True)
    assert dict(recorder.timeouts("g")) == dict.fromkeys("ab", Timeouts(None, 1))
    recorder.take(gone(9000, "b"), whole=True)
    assert dict(recorder.timeouts("g")) == {"a": Timeouts(None, 1)}
    recorder.forget(["g"])
    assert dict(recorder.timeouts("g")) == {}


def test_a_generation_has_the_timeouts_of_the_members_that_are_gone() -> None:
    *_, joined, left = recorded(*BEGIN, *B_LEAVES)
    assert (dict(joined.departed), dict(left.departed)) == ({}, {"b": Timeouts(None, 1)})


def test_compaction_leaves_when_a_group_became_empty() -> None:
    """Of the target assignment only the epoch is left, and of the member that left the tombstones."""
    compacted = [planned(6000, 4), *gone(8000, "a"), epoch(8000, 5)]
    recorder = GenerationRecorder(NAMES.get)
    recorder.take(compacted, whole=True)
    assert recorder.emptied_ms("g") == 8000
    joins = [member(9000, "c"), epoch(9000, 6), target(9500, "c", 0, 1, 2, 3), planned(9500, 6)]
    recorder.take(joins, whole=True)
    made = recorder.recorded("g")
    assert reported(made) == [(5, 8000, "the group has no members"), (6, 9500, "c-c joined")]
    assert made[1].skipped == 0
    every = recorded(*BEGIN, *B_LEAVES, *A_LEAVES, *joins)
    assert made[1] == every[-1]
