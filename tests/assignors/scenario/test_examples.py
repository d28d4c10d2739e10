"""The bundled examples that are worked cases: each generation as Kafka's own assignors make it.

The lists are those of `tests/assignors/client/test_worked_cases.py`, which come from running Kafka 4.3.1's classes.
"""

import pytest

import assignors
from assignors.scenario import examples, load_scenario
from assignors.whatif.generations import Generation


def generations(example: str, assignor: str | None = None) -> list[Generation]:
    return assignors.fold(load_scenario(examples()[example]), assignor)


def owned(generation: Generation) -> dict[str, list[int]]:
    """Partition numbers by member, of the one topic."""
    return {who: [tp.partition for tp in part] for who, part in generation.after.by_member.items()}


def named(generation: Generation) -> dict[str, str]:
    return {who: " ".join(map(str, part)) for who, part in generation.after.by_member.items()}


ROUND_ROBIN = {"C1": [0, 3, 6], "C2": [1, 4], "C3": [2, 5]}


@pytest.mark.parametrize(
    ("assignor", "first"),
    [("range", {"C1": [0, 1, 2], "C2": [3, 4], "C3": [5, 6]}), ("roundrobin", ROUND_ROBIN), ("sticky", ROUND_ROBIN)],
)
def test_seven_partitions_for_three(assignor: str, first: dict[str, list[int]]) -> None:
    assert owned(generations("seven-for-three", assignor)[0]) == first


def test_the_first_of_three_leaves() -> None:
    assert owned(generations("seven-for-three")[1]) == {"C2": [0, 1, 2, 3], "C3": [4, 5, 6]}
    assert owned(generations("sticky-from-range")[1]) == {"C2": [3, 4, 0, 2], "C3": [5, 6, 1]}


def test_unequal_subscriptions() -> None:
    before, after = generations("unequal-subscriptions")
    assert named(before) == {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0 t2-1 t2-2"}
    assert {who: len(part) for who, part in after.after.by_member.items()} == {"C0": 1, "C1": 2, "C2": 3}
    fresh = generations("unequal-subscriptions", "sticky")[0]
    assert named(fresh) == {"C0": "t0-0", "C1": "t1-0 t1-1", "C2": "t2-0 t2-1 t2-2"}


def test_range_overloads_the_first_of_two() -> None:
    before, after = generations("range-overload")
    assert [len(part) for part in before.after.by_member.values()] == [4, 2]
    assert [len(part) for part in after.after.by_member.values()] == [3, 3]


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range"])
@pytest.mark.parametrize(("example", "each"), [("nine-for-three", 3), ("hundred-for-twenty", 5)])
def test_what_divides_evenly(example: str, each: int, assignor: str) -> None:
    first = generations(example, assignor)[0]
    assert {len(part) for part in first.after.by_member.values()} == {each}


def test_sticky_with_one_left_over() -> None:
    assert owned(generations("sticky-remainder")[1]) == {
        "o": [0, 1, 2],
        "p": [4, 5, 6, 7],
        "q": [8, 9, 10],
        "r": [12, 3, 11],
    }


@pytest.mark.parametrize(
    ("example", "revoking", "giving"),
    [
        ("cooperative-second-member", {"A": [0, 1, 2], "B": []}, {"A": [0, 1, 2], "B": [3, 4, 5]}),
        ("cooperative-hand-over", {"c1": [0, 1], "c2": [3, 4], "c3": []}, {"c1": [0, 1], "c2": [3, 4], "c3": [2, 5]}),
    ],
)
def test_cooperative_gives_up_in_one_round_and_gives_in_the_next(
    example: str, revoking: dict[str, list[int]], giving: dict[str, list[int]]
) -> None:
    assert [owned(generation) for generation in generations(example)[1:]] == [revoking, giving]


def test_static_members_come_first_with_range_and_roundrobin_only() -> None:
    assert owned(generations("static-members-first")[0]) == {"a": [2], "b": [0, 1]}
    assert owned(generations("static-members-first", "roundrobin")[0]) == {"a": [1], "b": [0, 2]}
    assert owned(generations("static-members-first", "sticky")[0]) == {"a": [0, 2], "b": [1]}


def test_members_beyond_the_partitions_idle_until_the_topic_grows() -> None:
    before, after = generations("more-members-than-partitions")
    assert owned(before) == {"c1": [0], "c2": [1], "c3": [2], "c4": [], "c5": []}
    assert owned(after) == {"c1": [0], "c2": [1], "c3": [2], "c4": [3], "c5": [4]}
