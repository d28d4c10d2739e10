"""Generations by polling: what changed between two polls, kept within bounds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assignors.model import TopicPartition as TP
from assignors.whatif.generations import Generation
from assignors.whatif.moves import MoveKind
from lag.generations.inferred import PollObserver
from lag.generations.state_buffer import MEMBER_CELLS
from lag.model import ClusterSnapshot, GroupType, Member, Problem, Scope
from tests.lag.make import cluster, end, group


def member(name: str, *partitions: int, **fields: object) -> Member:
    made = {"topics": ("orders",), "assigned": tuple(TP("orders", number) for number in partitions)} | fields
    return Member(name, f"client-{name}", **made)  # type: ignore[arg-type]


def poll(at_s: int, *members: Member, **fields: Any) -> ClusterSnapshot:
    """A snapshot with one group, "g", of those members."""
    return polls_of(at_s, {"g": members}, **fields)


def polls_of(at_s: int, groups: dict[str, Sequence[Member]], **fields: Any) -> ClusterSnapshot:
    made = {name: group({"orders-0": 1}, members) for name, members in groups.items()}
    snapshot = cluster(made, {"orders-0": end(9)}, at_s, at_s * 1000)
    return replace(snapshot, groups=tuple(replace(found, **fields) for found in snapshot.groups))


def seen(*polls: ClusterSnapshot, group_id: str = "g", **limits: int) -> list[Generation]:
    observer = PollObserver(**limits)
    for snapshot in polls:
        observer.observe(snapshot)
    return observer.generations(group_id)


def plan(generation: Generation) -> dict[str, list[int]]:
    return {name: [tp.partition for tp in tps] for name, tps in generation.after.by_member.items()}


def reported(generations: Sequence[Generation]) -> list[tuple[int, int, str]]:
    return [(made.number, made.at_ms, made.event) for made in generations]


ALONE = member("a", 0, 1, 2)
TWO = member("a", 0, 1), member("b", 2)


def test_group_that_does_not_change_has_no_generations() -> None:
    assert seen(poll(1, *TWO), poll(2, *TWO)) == []
    assert seen(poll(1, *TWO), group_id="unheard of") == []


def test_join_and_leave_are_generations_with_their_moves_and_figures() -> None:
    start, joined, left = seen(poll(1, ALONE), poll(2, ALONE), poll(3, *TWO), poll(4, member("b", 0, 1, 2)))
    assert reported([start, joined, left]) == [
        (1, 1000, "first seen"),
        (2, 3000, "client-b joined"),
        (3, 4000, "client-a left or timed out"),
    ]
    assert [plan(made) for made in (start, joined, left)] == [
        {"a": [0, 1, 2]},
        {"a": [0, 1], "b": [2]},
        {"b": [0, 1, 2]},
    ]
    assert (plan(joined), plan(left)) == ({m.member_id: [tp.partition for tp in m.assigned] for m in TWO}, plan(left))
    assert [move.tp.partition for move in joined.moves.of(MoveKind.GAINED)] == [2]
    assert joined.before == start.after
    assert (start.quality.rebalances, joined.quality.rebalances) == (0, 1)
    assert (joined.quality.kept, joined.quality.most, joined.quality.fewest) == (2, 2, 1)
    assert (joined.assignor, [m.member_id for m in joined.members]) == ("range", ["a", "b"])


def test_number_is_the_epoch_where_there_is_one() -> None:
    at = {"type": GroupType.CONSUMER, "assignor": "uniform"}
    made = seen(poll(1, ALONE, epoch=7, **at), poll(2, *TWO, epoch=9, **at), poll(3, *TWO, epoch=10, **at))
    assert reported(made) == [(7, 1000, "first seen"), (9, 2000, "client-b joined"), (10, 3000, "rebalanced")]
    assert made[0].assignor == "uniform"


def test_number_of_a_classic_group_follows_what_members_claim() -> None:
    again = [replace(m, generation=11) for m in TWO]
    assert reported(seen(poll(1, ALONE), poll(2, *TWO), poll(3, *again))) == [
        (1, 1000, "first seen"),
        (2, 2000, "client-b joined"),
        (12, 3000, "rebalanced"),
    ]


def test_growth_of_a_topic_is_the_event_once_its_partitions_are_assigned() -> None:
    made = seen(poll(1, ALONE), poll(2, member("a", 0, 1, 2, 3, 4)))
    assert made[-1].event == "topic orders: 3 → 5 partitions"
    assert {name: topic.partitions for name, topic in made[-1].topics.items()} == {"orders": 5}
    assert made[-1].moves.count(MoveKind.GAINED) == 2


def test_return_of_a_static_member_is_no_rebalance() -> None:
    stays = member("b", 2, generation=4)
    old, new = (member(name, 0, 1, instance_id="pod-1", generation=4) for name in ("a1", "a2"))
    made = seen(poll(1, old, stays), poll(2, replace(new, generation=None), stays))
    assert reported(made) == [(5, 1000, "first seen"), (5, 2000, "pod-1 came back")]
    assert (made[-1].quality.rebalances, made[-1].quality.paused) == (0, 0)


def test_all_members_gone_and_one_back() -> None:
    empty = poll(2, state="Empty", assignor=None)
    assert [made.event for made in seen(poll(1, ALONE), empty, poll(3, ALONE))] == [
        "first seen",
        "client-a left or timed out",
        "client-a joined",
    ]


def test_equal_members_in_another_order_are_no_change() -> None:
    assert seen(poll(1, *TWO), poll(2, *TWO[::-1])) == []


STALE = Problem("stale", Scope.GROUP, "g", "its coordinator does not answer")


@pytest.mark.parametrize(
    "between",
    [
        poll(2, state="PreparingRebalance"),
        poll(2, member("a", 0, target=()), state="Stable"),
        poll(2, ALONE, *TWO, state="Reconciling"),
        poll(2, complete=False, problems=(STALE,)),
    ],
    ids=["classic", "target", "reconciling", "stale"],
)
def test_group_that_has_not_settled_counts_as_before(between: ClusterSnapshot) -> None:
    assert seen(poll(1, ALONE), between, poll(3, ALONE)) == []
    assert [made.event for made in seen(poll(1, ALONE), between, poll(3, *TWO))] == ["first seen", "client-b joined"]


def test_share_group_keeps_all_owners_of_a_partition() -> None:
    at = {"type": GroupType.SHARE, "assignor": "simple"}
    both = member("a", 0), member("b", 0)
    made = seen(poll(1, member("a", 0), epoch=1, **at), poll(2, *both, epoch=2, **at))
    assert plan(made[-1]) == {"a": [0], "b": [0]}
    assert (made[-1].assignor, made[-1].quality.assigned) == ("share-simple", 1)


def flapping(count: int) -> list[ClusterSnapshot]:
    return [poll(n, *(TWO if n % 2 else (ALONE,))) for n in range(1, count + 1)]


def test_only_the_last_generations_are_kept() -> None:
    made = seen(*flapping(9), most_generations=3)
    assert [generation.number for generation in made] == [7, 8, 9]
    assert made[0].before == made[0].after


def test_budget_is_taken_from_the_group_whose_last_change_is_the_oldest() -> None:
    """A state of two members and three partitions costs 2 × MEMBER_CELLS + 3."""
    one, two = 3 + MEMBER_CELLS, 3 + 2 * MEMBER_CELLS
    observer = PollObserver(most_cells=2 * (one + two))
    for at_s, (first, second, third) in enumerate([(1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2)]):
        shapes = {"f": first, "g": second, "h": third}
        observer.observe(polls_of(at_s, {name: (ALONE,) if shape == 1 else TWO for name, shape in shapes.items()}))
    assert [len(observer.generations(name)) for name in "fgh"] == [0, 2, 2]


def test_forgotten_groups_give_their_budget_back() -> None:
    observer = PollObserver(most_cells=3 + MEMBER_CELLS + 3 + 2 * MEMBER_CELLS)
    for snapshot in (poll(1, ALONE), poll(2, *TWO), polls_of(3, {}), polls_of(4, {"h": (ALONE,)})):
        observer.observe(snapshot)
    assert observer.generations("g") == []
    observer.observe(polls_of(5, {"h": TWO}))
    assert len(observer.generations("h")) == 2


def test_of_very_many_changes_at_once_some_wait_for_the_next_poll() -> None:
    observer = PollObserver(most_changes=2)
    for at_s, members in enumerate([(ALONE,), TWO, TWO]):
        observer.observe(polls_of(at_s, dict.fromkeys("fgh", members)))
        if at_s == 1:
            assert [len(observer.generations(name)) for name in "fgh"] == [2, 2, 0]
    assert [reported(observer.generations(name))[-1] for name in "fgh"] == [
        (2, 1000, "client-b joined"),
        (2, 1000, "client-b joined"),
        (2, 2000, "client-b joined"),
    ]
