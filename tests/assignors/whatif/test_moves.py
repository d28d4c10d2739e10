"""Two assignments -> what happened to each partition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assignors
from assignors.layout import Layout, PartitionList, read_all
from assignors.model import Assignment, AssignorError, Group, Member, Topic, TopicPartition
from assignors.whatif.moves import Move, MoveKind, moves

KEPT, GAINED, REVOKED, UNASSIGNED = MoveKind


def assigned(**lists: str) -> Assignment:
    """`assigned(A="t-0 t-1")`"""
    pairs = {member: (part.rsplit("-", 1) for part in text.split()) for member, text in lists.items()}
    return Assignment(1, {who: tuple(TopicPartition(topic, int(at)) for topic, at in of) for who, of in pairs.items()})


def packed(assignment: Assignment, layout: Layout) -> Assignment:
    found = {who: layout.locate(held) for who, held in assignment.by_member.items()}
    lists = {
        who: PartitionList(layout, (layout.offsets[topics] + numbers).astype(np.int32))
        for who, (topics, numbers) in found.items()
    }
    return Assignment(assignment.generation, lists)


def seen(before: Assignment, after: Assignment, layout: Layout | None = None) -> list[tuple[str, str, str, str]]:
    found = moves(before, after, layout)
    return [(str(move.tp), move.source or "", move.target or "", move.kind.value) for move in found]


BEFORE = assigned(A="t-0 t-1", B="t-2")
AFTER = assigned(A="t-0", C="t-1 t-4")
EXPECTED = [
    ("t-0", "A", "A", "kept"),
    ("t-1", "A", "C", "gained"),
    ("t-2", "B", "", "revoked"),
    ("t-3", "", "", "unassigned"),
    ("t-4", "", "C", "gained"),
]


def test_each_partition_is_kept_gained_revoked_or_unassigned() -> None:
    assert seen(BEFORE, AFTER) == EXPECTED
    found = moves(BEFORE, AFTER)
    assert [found.count(kind) for kind in (KEPT, GAINED, REVOKED, UNASSIGNED)] == [1, 2, 1, 1]
    assert found[1] == Move(TopicPartition("t", 1), "A", "C", GAINED)
    assert found[-1] == Move(TopicPartition("t", 4), None, "C", GAINED)
    assert list(found[3:]) == list(found)[3:]
    with pytest.raises(IndexError):
        found[5]


def test_moves_of_some_kinds_only() -> None:
    found = moves(BEFORE, AFTER).of(REVOKED, KEPT)
    assert [move.kind for move in found] == [KEPT, REVOKED]
    assert found.count(GAINED) == 0


def test_a_topic_that_grew_between_two_layouts() -> None:
    small, large = Layout({"s": 1, "t": 3}), Layout({"s": 1, "t": 5, "u": 1})
    grown = [("s-0", "", "", "unassigned"), *EXPECTED, ("u-0", "", "", "unassigned")]
    assert seen(packed(BEFORE, small), packed(AFTER, large)) == grown
    assert seen(packed(AFTER, large), packed(BEFORE, small))[2] == ("t-1", "C", "A", "gained")
    assert seen(BEFORE, packed(AFTER, large)) == grown


def test_a_layout_says_which_topics_are_in_play() -> None:
    assert seen(BEFORE, AFTER, Layout({"t": 6}))[-1] == ("t-5", "", "", "unassigned")
    gone = seen(packed(BEFORE, Layout({"t": 3})), Assignment(2, {"A": ()}), Layout({}))
    assert gone == [("t-0", "A", "", "revoked"), ("t-1", "A", "", "revoked"), ("t-2", "B", "", "revoked")]


def test_several_owners_keep_gain_and_lose_one_by_one() -> None:
    before = assigned(A="t-0 t-1", B="t-0", C="t-2")
    after = assigned(A="t-0", C="t-0 t-1", B="t-2", D="t-2")
    assert seen(before, after) == [
        ("t-0", "A", "A", "kept"),
        ("t-0", "", "C", "gained"),
        ("t-0", "B", "", "revoked"),
        ("t-1", "A", "C", "gained"),
        ("t-2", "", "B", "gained"),
        ("t-2", "", "D", "gained"),
        ("t-2", "C", "", "revoked"),
    ]


def test_a_partition_listed_twice_for_one_member_is_one_move() -> None:
    assert seen(assigned(A="t-0 t-0"), assigned(A="t-0")) == [("t-0", "A", "A", "kept")]


def test_nothing_before_and_nothing_after() -> None:
    assert list(moves(Assignment(None, {}), Assignment(None, {}))) == []
    assert seen(Assignment(None, {}), assigned(A="t-1"))[0] == ("t-0", "", "", "unassigned")


@pytest.mark.parametrize("number", [-1, 10**12])
def test_partitions_that_cannot_be_are_named(number: int) -> None:
    plan = Assignment(1, {"A": (TopicPartition("t", number),)})
    with pytest.raises(AssignorError, match=f"no partition {number} of topic 't'"):
        moves(plan, plan)


owners = st.lists(st.sampled_from(["", "A", "B", "C"]), min_size=1, max_size=8)


@given(owners, owners)
def test_every_partition_moves_exactly_as_its_owners_say(old: list[str], new: list[str]) -> None:
    size = max(len(old), len(new))
    before, after = ([*names, *[""] * (size - len(names))] for names in (old, new))
    first, second = (
        assigned(**{who: " ".join(f"t-{at}" for at, owner in enumerate(names) if owner == who) for who in "ABC"})
        for names in (before, after)
    )
    kinds = [
        (KEPT if a == b else GAINED) if b else (REVOKED if a else UNASSIGNED)
        for a, b in zip(before, after, strict=True)
    ]
    rows = zip(range(size), before, after, kinds, strict=True)
    assert seen(first, second, Layout({"t": size})) == [(f"t-{at}", a, b, kind.value) for at, a, b, kind in rows]


def test_plain_and_array_backed_plans_move_alike_at_size() -> None:
    topics = {f"t{at}": Topic(f"t{at}", 500) for at in range(20)}
    members = tuple(Member(f"m{at:02d}", topics=tuple(topics)) for at in range(30))
    before = assignors.get("range").assign(Group("g", members, topics))
    after = assignors.get("roundrobin").assign(Group("g", members[1:], topics))
    fast = moves(before, after)
    plain = moves(Assignment(1, read_all(before.by_member)), Assignment(2, read_all(after.by_member)))
    for column in ("codes", "sources", "targets", "kinds"):
        assert np.array_equal(getattr(fast, column), getattr(plain, column))
    assert fast.count(KEPT) + fast.count(GAINED) == 10_000
    assert fast.codes.dtype == fast.sources.dtype == fast.targets.dtype == np.int32
    assert fast.kinds.dtype == np.uint8
