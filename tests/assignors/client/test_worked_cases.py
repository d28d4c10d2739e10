"""Worked cases of Kafka's four client assignors, by name. Expected lists come from running Kafka 4.3.1's classes."""

from dataclasses import replace

import pytest

import assignors
from assignors.model import Group, Member, Topic, TopicPartition

FOUR = ("range", "roundrobin", "sticky", "cooperative-sticky")


def group(topics: str, subscriptions: dict[str, str]) -> Group:
    """`group("t:7", {"C1": "t"})`: topics with their sizes, members with their topics."""
    sizes = dict(part.split(":") for part in topics.split())
    members = tuple(Member(member, topics=tuple(wanted.split())) for member, wanted in subscriptions.items())
    return Group("g", members, {name: Topic(name, int(size)) for name, size in sizes.items()})


def plan(name: str, group: Group) -> dict[str, str]:
    """`{"C1": "t-0 t-3"}`"""
    return {member: " ".join(map(str, owned)) for member, owned in assignors.get(name).assign(group).by_member.items()}


def with_owned(group: Group, owned: dict[str, str], generation: int | None = 1) -> Group:
    """The same group, whose members own what `"t-0 t-3"` says; only the members named remain."""
    members = []
    for member in group.members:
        if member.member_id in owned:
            pairs = (part.rsplit("-", 1) for part in owned[member.member_id].split())
            mine = tuple(TopicPartition(topic, int(number)) for topic, number in pairs)
            members.append(replace(member, owned=mine, generation=generation))
    return replace(group, members=tuple(members))


SEVEN = group("t:7", {"C1": "t", "C2": "t", "C3": "t"})


def test_seven_partitions_for_three_members() -> None:
    assert plan("range", SEVEN) == {"C1": "t-0 t-1 t-2", "C2": "t-3 t-4", "C3": "t-5 t-6"}
    dealt = {"C1": "t-0 t-3 t-6", "C2": "t-1 t-4", "C3": "t-2 t-5"}
    assert plan("roundrobin", SEVEN) == plan("sticky", SEVEN) == plan("cooperative-sticky", SEVEN) == dealt


def test_the_first_of_three_leaves() -> None:
    left = with_owned(SEVEN, {"C2": "t-3 t-4", "C3": "t-5 t-6"})
    assert plan("range", left) == {"C2": "t-0 t-1 t-2 t-3", "C3": "t-4 t-5 t-6"}
    assert plan("roundrobin", left) == {"C2": "t-0 t-2 t-4 t-6", "C3": "t-1 t-3 t-5"}
    kept = {"C2": "t-3 t-4 t-0 t-2", "C3": "t-5 t-6 t-1"}
    assert plan("sticky", left) == plan("cooperative-sticky", left) == kept


def test_unequal_subscriptions_are_out_of_balance_with_roundrobin_only() -> None:
    unequal = group("t0:1 t1:2 t2:3", {"C0": "t0", "C1": "t0 t1", "C2": "t0 t1 t2"})
    assert plan("roundrobin", unequal) == {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0 t2-1 t2-2"}
    assert plan("range", unequal) == {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0 t2-1 t2-2"}
    balanced = {"C0": "t0-0", "C1": "t1-0 t1-1", "C2": "t2-0 t2-1 t2-2"}
    assert plan("sticky", unequal) == plan("cooperative-sticky", unequal) == balanced


def test_range_gives_the_left_overs_of_all_topics_to_the_first_member() -> None:
    both = group("ta:3 tb:3", {"C0": "ta tb", "C1": "ta tb"})
    assert plan("range", both) == {"C0": "ta-0 ta-1 tb-0 tb-1", "C1": "ta-2 tb-2"}
    assert plan("roundrobin", both) == {"C0": "ta-0 ta-2 tb-1", "C1": "ta-1 tb-0 tb-2"}


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize(("partitions", "members", "each"), [(9, 3, 3), (100, 20, 5)])
def test_partitions_that_divide_evenly(name: str, partitions: int, members: int, each: int) -> None:
    even = group(f"t:{partitions}", {f"c{number:02d}": "t" for number in range(members)})
    assert {len(owned) for owned in assignors.get(name).assign(even).by_member.values()} == {each}


def test_cooperative_takes_two_rounds_when_a_member_joins() -> None:
    two = group("t:6", {"A": "t", "B": "t"})
    first = with_owned(two, {"A": "t-0 t-1 t-2 t-3 t-4 t-5", "B": ""})
    assert plan("cooperative-sticky", first) == {"A": "t-0 t-1 t-2", "B": ""}
    assert plan("sticky", first) == {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"}
    second = with_owned(two, {"A": "t-0 t-1 t-2", "B": ""}, generation=2)
    assert plan("cooperative-sticky", second) == {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"}


def test_cooperative_when_a_third_member_joins() -> None:
    three = group("t:6", {"A": "t", "B": "t", "C": "t"})
    first = with_owned(three, {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5", "C": ""})
    assert plan("cooperative-sticky", first) == {"A": "t-0 t-1", "B": "t-3 t-4", "C": ""}
    second = with_owned(three, {"A": "t-0 t-1", "B": "t-3 t-4", "C": ""}, generation=2)
    assert plan("cooperative-sticky", second) == {"A": "t-0 t-1", "B": "t-3 t-4", "C": "t-2 t-5"}


def test_what_a_dead_member_had_is_given_at_once() -> None:
    three = group("t:6", {"A": "t", "B": "t", "C": "t"})
    left = with_owned(three, {"B": "t-3 t-4 t-5", "C": ""})
    assert plan("cooperative-sticky", left) == {"B": "t-3 t-4 t-5", "C": "t-0 t-1 t-2"}


def test_more_members_with_too_much_than_may_keep_one_more() -> None:
    # 13 partitions, 4 members: one may have 4. The order of a HashMap decides that it is none of those sorted first.
    four = group("t:13", {"o": "t", "p": "t", "q": "t", "r": "t"})
    owned = {"o": "t-0 t-1 t-2 t-3", "p": "t-4 t-5 t-6 t-7", "q": "t-8 t-9 t-10 t-11", "r": "t-12"}
    assert plan("sticky", with_owned(four, owned)) == {
        "o": "t-0 t-1 t-2",
        "p": "t-4 t-5 t-6 t-7",
        "q": "t-8 t-9 t-10",
        "r": "t-12 t-3 t-11",
    }


def test_an_empty_subscription_before_others_gets_partitions() -> None:
    # Kafka takes the subscriptions for equal, as the empty one comes first in its map.
    odd = group("t:3", {"a": "", "b": "t"})
    assert plan("sticky", odd) == {"a": "t-0 t-2", "b": "t-1"}
    assert plan("sticky", group("t:3", {"a": "t", "b": ""})) == {"a": "t-0 t-1 t-2", "b": ""}


def test_static_members_come_first_with_range_and_roundrobin_only() -> None:
    members = (Member("a", topics=("t",)), Member("b", instance_id="pod-9", topics=("t",)))
    two = Group("g", members, {"t": Topic("t", 3)})
    assert plan("range", two) == {"a": "t-2", "b": "t-0 t-1"}
    assert plan("roundrobin", two) == {"a": "t-1", "b": "t-0 t-2"}
    assert plan("sticky", two) == {"a": "t-0 t-2", "b": "t-1"}
