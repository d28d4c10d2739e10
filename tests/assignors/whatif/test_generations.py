"""A scenario through the assignors, one rebalance after the other."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import assignors
from assignors.whatif.events import (
    Action,
    AddPartitions,
    Crash,
    DeleteTopic,
    Leave,
    Restart,
    Subscribe,
)
from assignors.whatif.moves import MoveKind
from tests.oracle.client_assignors import NAMES, JavaAssignors
from tests.oracle.client_groups import JavaGroup
from tests.oracle.generations import drive
from tests.support.scenes import join, member, plans, scenario

EAGER = ("range", "roundrobin", "sticky")
CLASSIC = (*EAGER, "cooperative-sticky")
CONSUMER = ("uniform", "server-range")


def test_seven_partitions_for_three_members_and_then_the_first_leaves() -> None:
    lists = {
        "range": ("t-0 t-1 t-2|t-3 t-4|t-5 t-6", "t-0 t-1 t-2 t-3|t-4 t-5 t-6"),
        "roundrobin": ("t-0 t-3 t-6|t-1 t-4|t-2 t-5", "t-0 t-2 t-4 t-6|t-1 t-3 t-5"),
        "sticky": ("t-0 t-3 t-6|t-1 t-4|t-2 t-5", "t-1 t-4 t-0 t-6|t-2 t-5 t-3"),
        "cooperative-sticky": ("t-0 t-3 t-6|t-1 t-4|t-2 t-5", "t-1 t-4 t-0 t-6|t-2 t-5 t-3"),
    }
    for name, (first, second) in lists.items():
        made = assignors.fold(scenario(name, "C1 C2 C3", Leave("C1"), topics="t:7"))
        assert plans(made) == [
            dict(zip(("C1", "C2", "C3"), first.split("|"), strict=True)),
            dict(zip(("C2", "C3"), second.split("|"), strict=True)),
        ]


def test_sticky_from_the_range_layout_when_the_first_leaves() -> None:
    owned = {"C1": "t-0 t-1 t-2", "C2": "t-3 t-4", "C3": "t-5 t-6"}
    there = tuple(member(name, owned=held, generation=3) for name, held in owned.items())
    for name in ("sticky", "cooperative-sticky"):
        made = assignors.fold(scenario(name, there, Leave("C1"), topics="t:7"))
        assert [generation.number for generation in made] == [3, 4]
        assert plans(made) == [owned, {"C2": "t-3 t-4 t-0 t-2", "C3": "t-5 t-6 t-1"}]


def test_a_member_joins_a_cooperative_group_in_two_rounds() -> None:
    made = assignors.fold(scenario("cooperative-sticky", "A", join("B"), join("C")))
    assert plans(made) == [
        {"A": "t-0 t-1 t-2 t-3 t-4 t-5"},
        {"A": "t-0 t-1 t-2", "B": ""},
        {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"},
        {"A": "t-0 t-1", "B": "t-3 t-4", "C": ""},
        {"A": "t-0 t-1", "B": "t-3 t-4", "C": "t-2 t-5"},
    ]
    assert [generation.number for generation in made] == [1, 2, 3, 4, 5]
    assert [generation.at_ms for generation in made] == [0, 600_000, 600_000, 1_200_000, 1_200_000]
    texts = ["first assignment", "B joins", "B joins (rebalance 2)", "C joins", "C joins (rebalance 2)"]
    assert [generation.event for generation in made] == texts
    assert [generation.quality.paused for generation in made] == [0, 3, 0, 2, 0]
    assert [generation.moves.count(MoveKind.REVOKED) for generation in made] == [0, 3, 0, 2, 0]
    assert [generation.moves.count(MoveKind.GAINED) for generation in made] == [6, 0, 3, 0, 2]


def test_what_a_crashed_member_had_is_given_in_one_round() -> None:
    owned = ("t-0 t-1 t-2", "t-3 t-4 t-5", "")
    there = tuple(member(name, owned=held, generation=1) for name, held in zip("ABC", owned, strict=True))
    made = assignors.fold(scenario("cooperative-sticky", there, Crash("A")))
    assert plans(made)[1:] == [{"B": "t-3 t-4 t-5", "C": "t-0 t-1 t-2"}]
    assert made[1].event == "A crashes; it is removed when its 45 s session times out"
    assert made[1].quality.paused == 3


@pytest.mark.parametrize("name", EAGER)
def test_an_eager_group_pauses_everything_once(name: str) -> None:
    made = assignors.fold(scenario(name, "A B", join("C"), AddPartitions("t", 8)))
    assert [generation.quality.paused for generation in made] == [0, 6, 6]
    assert [generation.quality.rebalances for generation in made] == [1, 1, 1]


@pytest.mark.parametrize("name", CONSUMER)
def test_a_kip_848_group_gets_one_target_and_pauses_what_moves(name: str) -> None:
    made = assignors.fold(scenario(name, "A", join("B")))
    assert plans(made)[1] == {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"}
    assert [generation.quality.paused for generation in made] == [0, 3]


def test_a_share_group_pauses_nothing() -> None:
    made = assignors.fold(scenario("share-simple", "A B", join("C"), Leave("A"), topics="t:2"))
    assert [generation.quality.paused for generation in made] == [0, 0, 0]
    assert [move.tp.partition for move in made[1].moves if move.target] == [0, 0, 1, 1]  # two owners each


@pytest.mark.parametrize("name", assignors.names())
def test_each_generation_starts_from_the_one_before(name: str) -> None:
    actions = (join("C"), AddPartitions("t", 9), Crash("A"), Restart("B"), Subscribe("C", ()), DeleteTopic("t"))
    made = assignors.fold(scenario(name, "A B", *actions))
    for before, after in pairwise(made):
        assert after.before == before.after
        assert after.number == before.number + 1
        assert all(one.owned == after.after.by_member[one.member_id] for one in after.members)
        assert {one.generation for one in after.members} <= {after.number}


def test_a_group_without_members_is_number_0() -> None:
    (start,) = assignors.fold(scenario("sticky", ()))
    assert (start.number, start.event, start.members, len(start.moves)) == (0, "the group has no members", (), 0)


def test_the_start_as_it_is_moves_nothing_whatever_the_assignor() -> None:
    there = (member("A", owned="t-0 t-5", generation=7), member("B", generation=6))
    (start,) = assignors.fold(scenario("range", there))
    assert (start.number, start.event, start.at_ms) == (7, "initial state", 0)
    assert (start.quality.rebalances, start.quality.paused, start.quality.stickiness) == (0, 0, None)
    assert (start.quality.assigned, start.quality.unassigned) == (2, 4)
    assert start.moves.count(MoveKind.KEPT) == 2


STEPS: tuple[Action, ...] = (
    join("m3", "t u"),
    join("m4", "t"),
    Leave("m1"),
    join("m5", "u v"),
    AddPartitions("t", 11),
    Leave("m4"),
    join("m6", "t u v"),
    Subscribe("m5", ("t",)),
    join("m0", "t u"),
    Leave("m3"),
)


@pytest.mark.parametrize("steps", [STEPS, tuple(s for s in STEPS if not isinstance(s, Subscribe))], ids=["mixed", "no"])
@pytest.mark.parametrize("name", NAMES)
def test_ten_steps_equal_those_of_clients_with_javas_classes(
    name: str, steps: tuple[Action, ...], java_classes: Callable[[str], Any]
) -> None:
    start = (member("m1", "t u"), member("m2", "t u"))
    made = assignors.fold(scenario(name, start, *steps, topics="t:7 u:5 v:3"))
    java = JavaGroup(JavaAssignors(), name, made[0].topics, start)
    for action in steps:
        drive(java, action)
    assert [{who: list(held) for who, held in one.after.by_member.items()} for one in made] == java.plans


def test_a_share_member_keeps_topics_of_which_it_lost_all_partitions() -> None:
    """Kafka's map keeps them with an empty set, and its size decides the order in which partitions are taken."""
    names = " ".join(f"t{at}" for at in range(13))
    sizes = " ".join(f"t{at}:1" for at in range(13))
    its = scenario("share-simple", (member("m0", names),), join("m1", names), join("m2", names), topics=sizes)
    _, second, third = assignors.fold(its)
    first = second.members[0]
    assert first.owned_topics == second.after.topics_by_member["m0"]
    assert set(first.owned_topics) == set(names.split())
    assert {tp.topic for tp in first.owned} < set(names.split())
    assert third.members[0].owned_topics == first.owned_topics
