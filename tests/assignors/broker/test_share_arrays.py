"""The array paths of `share-simple` beside its exact maps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from assignors.broker.group_spec import server_group
from assignors.broker.share_arrays import fast_share_plan
from assignors.broker.share_builders import Sharing
from assignors.broker.share_simple import SHARE_SIMPLE
from assignors.broker.spec_arrays import UncleanError
from assignors.model import Assignment, Group, Member, Topic, TopicPartition
from tests.oracle.server_groups import Chain
from tests.oracle.tally import generator


def _facts(plan: Assignment) -> tuple[list[tuple[str, list[TopicPartition]]], list[tuple[str, tuple[str, ...]]]]:
    return [(member, list(owned)) for member, owned in plan.by_member.items()], list(plan.topics_by_member.items())


def _both_ways(group: Group, jdk: int = 21) -> Assignment:
    """The plan on arrays, which must be that of the exact maps, also once the order of the records is known."""
    seen = server_group(group, jdk)
    plan = fast_share_plan(seen)
    assert _facts(plan) == _facts(Sharing(seen).plan())
    assert _facts(fast_share_plan(seen)) == _facts(plan)
    return plan


def _planned(group: Group) -> Assignment:
    """The assignor's plan, on arrays or from exact maps, which must be that of the exact maps."""
    plan = SHARE_SIMPLE.assign(group)
    assert _facts(plan) == _facts(Sharing(server_group(group, 21)).plan())
    return plan


def _after(group: Group, plan: Assignment) -> Group:
    """The group whose members own the plan."""
    members = [
        replace(
            member,
            owned=plan.by_member[member.member_id],
            owned_topics=plan.topics_by_member.get(member.member_id, ()),
        )
        for member in group.members
    ]
    return replace(group, members=tuple(members))


def _group(topics: dict[str, int], members: int) -> Group:
    made = {name: Topic(name, count) for name, count in topics.items()}
    return Group("group", tuple(Member(f"m{at}", topics=tuple(made)) for at in range(members)), made)


@pytest.mark.parametrize("jdk", [17, 21])
def test_random_groups_get_the_same_plan_on_arrays_as_from_exact_maps(jdk: int) -> None:
    planned = 0
    for number in range(150):
        life = Chain(generator(7, number), large=0.02)
        for _ in range(life.steps):
            try:
                plan = _both_ways(life.group, jdk)
                planned += 1
            except UncleanError:
                plan = Sharing(server_group(life.group, jdk)).plan()
            life.go_on(plan)
    assert planned > 200


@pytest.mark.parametrize(("partitions", "members"), [(1024, 64), (4096, 32), (2048, 128)])
def test_strided_partitions_crowd_the_buckets_of_sets(partitions: int, members: int) -> None:
    group = _group({"a": partitions, "b": 100}, members)
    for _ in range(3):
        group = _after(group, _both_ways(group))
        group = replace(group, members=(*group.members[2:], Member("late", topics=group.members[0].topics)))
        group = replace(group, members=group.members[:-1])
    assert len(group.members) == members - 6


@pytest.mark.parametrize("mixed", [False, True])
def test_more_members_than_partitions_share_them_as_members_come_and_go(mixed: bool) -> None:
    group = _group({"a": 7, "b": 3}, 60)
    if mixed:
        group = replace(group, members=(*group.members[1:], Member("one", topics=("a",))))
    for step in range(6):
        plan = _planned(group)
        holders = [tp for owned in plan.by_member.values() for tp in owned]
        assert len(set(holders)) == 10
        assert all(owned for owned in plan.by_member.values())
        group = _after(group, plan)
        joins = tuple(Member(f"n{step}-{at}", topics=("a", "b")) for at in range(9))
        group = replace(group, members=(*group.members[step + 3 :], *joins))


HELD = {
    "3ec82168-fc19-2410-f86a-394082fa3adc": (1,),
    "87f6727b-5007-d203-1afb-ac72199e5ba0": (3,),
    "9dc62cd3-7b30-0608-6445-d9c4fc287c89": (2,),
    "53bb2f24-75cd-e101-6c1b-93f40e495f2e": (0, 3),
    "baa500ea-2642-8b43-e286-0f96d1890265": (3,),
    "042fcd4c-abe4-efcc-2a70-ad3c4f263af4": (0, 2),
    "92968d44-539e-6ef0-bbf5-efe96125aefe": (1,),
    "ec7e068e-58da-a9c8-d7b4-7877ea9c6e2a": (0,),
    "f2e834a8-8701-0479-e82e-0e60c9f36d19": (),
}
"""Member ids, whose hash codes decide the order of the plan, and the partitions they own."""


def test_member_holds_already_the_partition_whose_turn_it_is() -> None:
    owned = {member: tuple(TopicPartition("t0", number) for number in numbers) for member, numbers in HELD.items()}
    members = tuple(Member(member, topics=("t0",), owned=mine) for member, mine in owned.items())
    plan = _planned(Group("g", members, {"t0": Topic("t0", 4)}))
    assert sorted(map(str, plan.by_member["9dc62cd3-7b30-0608-6445-d9c4fc287c89"])) == ["t0-1", "t0-2"]


def _owning(group: Group, owned: Mapping[int, Sequence[int]]) -> Group:
    """The group in the coordinator's order, where the members at those rows own partitions of topic `a`."""
    members = server_group(group).members
    return replace(
        group,
        members=tuple(
            replace(member, owned=tuple(TopicPartition("a", number) for number in owned.get(row, ())))
            for row, member in enumerate(members)
        ),
    )


def test_only_unfilled_member_takes_the_last_partition_twice() -> None:
    group = _owning(_group({"a": 3}, 4), {1: (0,), 2: (0, 1), 3: (1,)})
    plan = _both_ways(group)
    assert list(plan.by_member[group.members[0].member_id]) == [TopicPartition("a", 2)]


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("stride", [16, 32, 64])
def test_too_many_holders_of_a_partition_crowd_a_bucket_of_their_set(stride: int, mixed: bool) -> None:
    group = _group({"a": 500, "b": 2}, 900)
    if mixed:
        group = replace(group, members=(*group.members[1:], Member("one", topics=("a",))))
    group = _owning(group, {row: (0, 1 + row % 5)[: 1 + at % 2] for at, row in enumerate(range(0, 900, stride))})
    plan = _both_ways(group)
    holders = [member for member, owned in plan.by_member.items() if TopicPartition("a", 0) in owned]
    assert len(holders) == 2


def test_group_that_comes_to_share_each_partition_needs_no_exact_maps() -> None:
    group = _group({"a": 20, "b": 3}, 20)
    group = _after(group, _both_ways(group))
    group = replace(group, members=(*group.members, *(Member(f"late{at}", topics=("a", "b")) for at in range(4))))
    assert len(_both_ways(group).by_member) == 24


def test_known_order_of_records_serves_a_group_with_other_members() -> None:
    group = _group({"a": 300, "b": 40, "c": 1}, 17)
    group = _after(group, _both_ways(group))
    _both_ways(group)
    late = Member("late", topics=("a", "b"), owned=(TopicPartition("a", 7), TopicPartition("b", 3)))
    assert len(_both_ways(replace(group, members=(*group.members[3:], late))).by_member) == 15


def test_topic_deleted_leaves_every_map_at_once() -> None:
    group = _group({"a": 50, "b": 50}, 7)
    group = _after(group, _both_ways(group))
    left = replace(group, topics={"a": Topic("a", 50)})
    plan = _both_ways(left)
    assert {tp.topic for owned in plan.by_member.values() for tp in owned} == {"a"}


def test_ids_of_topics_that_collide_crowd_the_map_of_partitions() -> None:
    topics = {
        f"t{at}": Topic(f"t{at}", 5, topic_id=f"00000000-0000-00{at:02x}-0000-00{at:02x}00000001") for at in range(12)
    }
    members = tuple(Member(f"m{at}", topics=tuple(topics)) for at in range(5))
    group = Group("group", members, topics)
    group = _after(group, _both_ways(group))
    _both_ways(replace(group, members=group.members[1:]))


def test_partition_that_does_not_exist_needs_exact_maps() -> None:
    group = _group({"a": 2}, 2)
    first = replace(group.members[0], owned=(TopicPartition("a", 2),))
    with pytest.raises(UncleanError):
        fast_share_plan(server_group(replace(group, members=(first, *group.members[1:]))))
