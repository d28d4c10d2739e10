"""Generations as arrays: what each did to each partition, and what stands in a part of them."""

import numpy as np
import pytest

from app.ui.movement.from_generations import frame_names, steps_of
from app.ui.movement.steps import GAINED, KEPT, NO_CELL, REVOKED, UNASSIGNED
from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.fold import fold
from assignors.whatif.events import AddPartitions, DeleteTopic, Event, Join, Leave, Scenario
from assignors.whatif.moves import MoveKind
from tests.app.ui.movement.ownerships import steps

BOTH = ("orders", "payments")


def scenario(assignor: str) -> Scenario:
    return Scenario(
        "two topics",
        assignor,
        {"orders": Topic("orders", 6), "payments": Topic("payments", 6)},
        (Member("c1", topics=BOTH), Member("c2", topics=BOTH)),
        (
            Event(600_000, Join(Member("c3", topics=BOTH))),
            Event(1200_000, AddPartitions("orders", 12)),
            Event(1800_000, Leave("c1")),
            Event(2400_000, DeleteTopic("payments")),
        ),
    )


def test_kinds_are_those_of_moves() -> None:
    assert [list(MoveKind)[kind] for kind in (KEPT, GAINED, REVOKED, UNASSIGNED)] == list(MoveKind)


@pytest.mark.parametrize("assignor", ["cooperative-sticky", "range"])
def test_every_generation_counts_as_its_moves_do(assignor: str) -> None:
    generations = fold(scenario(assignor))
    made = steps_of(generations)
    for at, generation in enumerate(generations):
        ours = [int((made.kinds(at) == kind).sum()) for kind in (KEPT, GAINED, REVOKED, UNASSIGNED)]
        assert ours == [generation.moves.count(kind) for kind in MoveKind]


def test_a_fold_keeps_numbers_events_and_who_was_there() -> None:
    made = steps_of(fold(scenario("range")))
    assert made.title(1) == "2 · c3 joins"
    assert made.members == ("c1", "c2", "c3")
    assert made.present.tolist() == [[True, True, False], *[[True] * 3] * 2, *[[False, True, True]] * 2]
    assert made.counts()[1].tolist() == [4, 4, 4]


def test_no_generation_is_an_error() -> None:
    with pytest.raises(ValueError, match="no generation"):
        steps_of([])


def test_each_change_of_owner_has_a_kind() -> None:
    made = steps("aaa...-", "ab.a.-a", before="aaa...-")
    assert made.kinds(1).tolist() == [KEPT, GAINED, REVOKED, GAINED, UNASSIGNED, NO_CELL, GAINED]


def test_a_deleted_partition_is_revoked_and_then_gone() -> None:
    made = steps("ab", "a-", "a-")
    assert made.all_kinds()[:, 1].tolist() == [KEPT, REVOKED, NO_CELL]


def test_the_first_generation_is_measured_against_what_was_before() -> None:
    assert steps("ab", before="..").kinds(0).tolist() == [GAINED, GAINED]
    assert steps("ab", before="aa").kinds(0).tolist() == [KEPT, GAINED]


def test_a_window_keeps_what_was_before_it() -> None:
    made = steps("aa", "ab", "bb")
    part = made.window(1, 3)
    assert part.names == ("2", "3")
    assert np.array_equal(part.all_kinds(), made.all_kinds()[1:])


def test_one_topic_and_the_movers_are_columns_of_the_whole() -> None:
    made = steps("aabb", "aaab", topics={"orders": 2, "payments": 2})
    assert [made.topic("payments").partition(at) for at in range(2)] == [
        TopicPartition("payments", 0),
        TopicPartition("payments", 1),
    ]
    assert made.movers().tolist() == [False, False, True, False]
    assert made.only(made.movers()).partition(0) == TopicPartition("payments", 0)


def test_numbers_that_come_again_still_name_different_frames() -> None:
    assert frame_names([7, 8, 1, 7, 7]) == ("7", "8", "1", "7 (2)", "7 (3)")
