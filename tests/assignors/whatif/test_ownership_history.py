"""One table of who had what, generation by generation."""

import numpy as np
import pytest

import assignors
from assignors.model import Topic, TopicPartition
from assignors.whatif.events import AddPartitions, CreateTopic, DeleteTopic, Join, Leave, Subscribe
from assignors.whatif.ownership_history import ownership_history
from tests.support.scenes import join, member, scenario


def test_owners_by_generation_and_partition() -> None:
    made = assignors.fold(scenario("range", "A B", Leave("A"), AddPartitions("t", 4), join("C"), topics="t:3"))
    table = ownership_history(made)
    assert table.members == ("A", "B", "C")
    assert table.owners.tolist() == [[0, 0, 1, -2], [1, 1, 1, -2], [1, 1, 1, 1], [1, 1, 2, 2]]
    assert table.counts.tolist() == [[2, 1, 0], [0, 3, 0], [0, 4, 0], [0, 2, 2]]
    assert table.owners.dtype == table.counts.dtype == np.int32


def test_missing_partitions_and_those_that_no_group_reads() -> None:
    there = (member("A", "t u"),)
    actions = (CreateTopic(Topic("u", 1)), Subscribe("A", ("t",)), DeleteTopic("u"), Join(member("B", "t")))
    table = ownership_history(assignors.fold(scenario("range", there, *actions, topics="t:1")))
    assert [str(tp) for tp in table.layout.decode(np.arange(2, dtype=np.int32))] == ["t-0", "u-0"]
    # The deletion of u goes unnoticed, until the next rebalance shows it.
    assert table.owners.tolist() == [[0, -2], [0, 0], [0, -1], [0, -2]]


def test_members_stand_in_the_order_in_which_they_appear() -> None:
    assert ownership_history(assignors.fold(scenario("uniform", "z m", join("a"), Leave("z"), join("z")))).members == (
        "z",
        "m",
        "a",
    )


def test_the_first_of_several_owners_shows_and_all_count() -> None:
    made = assignors.fold(scenario("share-simple", "A B C", topics="t:1"))
    table = ownership_history(made)
    assert table.members[table.owners[0, 0]] == next(iter(made[0].after.by_member))
    assert table.counts.tolist() == [[1, 1, 1]]


def test_no_generations_make_an_empty_table() -> None:
    assert ownership_history([]).owners.shape == (0, 0)


@pytest.mark.parametrize("name", assignors.names())
def test_the_table_says_what_the_generations_say(name: str) -> None:
    made = assignors.fold(scenario(name, "A B", join("C"), AddPartitions("t", 9), Leave("B")))
    table = ownership_history(made)
    for generation, owners, counts in zip(made, table.owners, table.counts, strict=True):
        holders: dict[TopicPartition, list[str]] = {}
        for who, held in generation.after.by_member.items():
            for tp in held:
                holders.setdefault(tp, []).append(who)
        owner_of = dict(zip(table.layout.decode(np.arange(len(table.layout), dtype=np.int32)), owners, strict=True))
        assert {tp: table.members[owner_of[tp]] for tp in holders} == {tp: its[0] for tp, its in holders.items()}
        assert counts.sum() == sum(map(len, holders.values()))
