"""What every plan must be, and how a broken one is reported."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

import assignors
from assignors.contract import check
from assignors.layout import Layout, PartitionList
from assignors.model import Assignment, AssignorError, Group, Member, Topic, TopicPartition
from tests.support.random_examples import random_examples
from tests.support.scenes import member

GROUP = Group("g", (member("A", "t u"), member("B", "t")), {"t": Topic("t", 3), "u": Topic("u", 1), "v": Topic("v", 1)})


def broken(group: Group = GROUP, **lists: str) -> list[str]:
    return check(group, Assignment(1, {name: member(name, owned=held).owned for name, held in lists.items()}))


def test_a_sound_plan() -> None:
    assert broken(A="t-0 u-0", B="t-1 t-2") == []


def test_a_member_is_missing_and_one_is_too_many() -> None:
    assert broken(A="t-0 t-1 t-2 u-0") == ["Member 'B' is missing."]
    assert broken(A="t-0 t-1 t-2 u-0", B="", X="") == ["There is no member 'X' in the group."]


def test_what_an_unknown_member_gets_has_no_owner() -> None:
    assert broken(A="t-0 t-1 u-0", B="", X="t-2") == ["There is no member 'X' in the group.", "t-2 has no owner."]


def test_partitions_without_owner() -> None:
    assert broken(A="t-0", B="t-2") == ["t-1, u-0 have no owner."]
    many = Group("g", (member("A"),), {"t": Topic("t", 9)})
    assert broken(many, A="t-4") == ["t-0, t-1, t-2 and 5 more have no owner."]


def test_two_owners_and_one_owner_twice() -> None:
    assert broken(A="t-0 t-1 u-0", B="t-1 t-2 t-2") == ["t-1 goes to both 'A' and 'B'.", "t-2 goes to 'B' twice."]
    wide = Group("g", (member("A"), member("B")), {"t": Topic("t", 5)})
    everything = "t-0 t-1 t-2 t-3 t-4"
    assert broken(wide, A=everything, B=everything)[3:] == ["2 more partitions are given twice."]


def test_shared_partitions_may_have_several_owners_but_not_one_twice() -> None:
    shared = Assignment(1, {"A": member("A", owned="t-0 t-1 t-1 u-0").owned, "B": member("B", owned="t-1 t-2").owned})
    assert check(GROUP, shared, shared=True) == ["t-1 goes to 'A' twice."]


def test_partitions_of_topics_to_which_a_member_does_not_subscribe() -> None:
    assert broken(A="t-0 t-1 t-2", B="u-0 v-0") == ["Member 'B' gets u-0, v-0 without subscribing to it."]


def test_partitions_that_do_not_exist() -> None:
    plan = broken(A="t-0 t-1 t-2 u-0 w-0 t-3", B=f"t-{10**12} u-7")
    assert plan == [
        "Member 'A' gets w-0, t-3, which does not exist.",
        "Member 'B' gets t-1000000000000, u-7, which does not exist.",
    ]
    below = Assignment(1, {"A": [TopicPartition("t", -1)], "B": ()})
    assert check(GROUP, below)[0] == "Member 'A' gets t--1, which does not exist."


def test_array_backed_plans_are_checked_as_plain_ones() -> None:
    layout = Layout({"t": 4, "w": 1})
    plan = {
        "A": PartitionList(layout, np.array([0, 3], np.int32)),
        "B": PartitionList(layout, np.array([4, 0], np.int32)),
    }
    as_list = Assignment(1, {name: list(held) for name, held in plan.items()})
    assert check(GROUP, Assignment(1, plan)) == check(GROUP, as_list)
    assert check(GROUP, as_list) == [
        "Member 'A' gets t-3, which does not exist.",
        "Member 'B' gets w-0, which does not exist.",
        "t-0 goes to both 'A' and 'B'.",
        "t-1, t-2, u-0 have no owner.",
    ]


def test_what_a_cooperative_plan_withholds_has_an_owner() -> None:
    owned = Group("g", (member("A", owned="t-0 t-1 t-9 w-0"), member("B")), {"t": Topic("t", 3)})
    plan = Assignment(1, {"A": member("A", owned="t-0").owned, "B": ()})
    assert check(owned, plan, withholds=True) == ["t-2 has no owner."]
    assert check(owned, plan) == ["t-1, t-2 have no owner."]


@pytest.mark.parametrize(
    ("plan", "stated"),
    [
        (None, "The plan is a NoneType. Return an Assignment."),
        ({"A": []}, "The plan is a dict. Return an Assignment."),
        (Assignment(1, []), "by_member is a list. Give a list of partitions for each member id."),  # type: ignore[arg-type]
        (Assignment(1, {"A": "t-0"}), "Member 'A' gets a str. List TopicPartitions."),  # type: ignore[dict-item]
        (Assignment(1, {"A": {1}}), "Member 'A' gets a set. List TopicPartitions."),  # type: ignore[dict-item]
        (Assignment(1, {"A": [("t", 0)]}), "Member 'A' gets ('t', 0). List TopicPartitions."),  # type: ignore[list-item]
        (
            Assignment(1, {"A": [TopicPartition("t", 0), TopicPartition("t", "1")]}),  # type: ignore[arg-type]
            "Member 'A' gets TopicPartition(topic='t', partition='1'). List TopicPartitions.",
        ),
        (
            Assignment(1, {"A": [TopicPartition("t", 10**30)]}),
            f"Member 'A' gets TopicPartition(topic='t', partition={10**30}). List TopicPartitions.",
        ),
        (
            Assignment(1, {"A": PartitionList(Layout({"t": 4}), np.array([0, 4], np.int32))}),
            "Member 'A' gets code 4 of a layout of 4 partitions. List TopicPartitions.",
        ),
    ],
)  # fmt: skip
def test_what_is_no_plan_at_all(plan: Any, stated: str) -> None:
    assert check(GROUP, plan) == [stated]


def test_a_group_without_members_or_topics() -> None:
    assert check(Group("g", (), {}), Assignment(1, {})) == []
    assert broken(Group("g", (member("A"),), {}), A="t-0") == ["Member 'A' gets t-0, which does not exist."]


topic_names = st.sampled_from(["t", "u", "v", "w"])


@st.composite
def groups(draw: st.DrawFn) -> Group:
    """Members that subscribe to something, own what some earlier plan gave them, and have racks or instance ids."""
    topics = {name: Topic(name, size) for name, size in draw(st.dictionaries(topic_names, st.integers(0, 12))).items()}
    free = [TopicPartition(name, number) for name, topic in topics.items() for number in range(topic.partitions)]
    owners = draw(st.lists(st.integers(0, 14), min_size=len(free), max_size=len(free)))
    members = []
    for at in range(draw(st.integers(1, 14))):
        wanted = tuple(draw(st.lists(topic_names, min_size=1, unique=True)))
        held = [tp for tp, owner in zip(free, owners, strict=True) if owner == at and tp.topic in wanted]
        instance = draw(st.sampled_from([None, f"pod-{at}"]))
        members.append(Member(f"m{at}", instance, topics=wanted, owned=tuple(held), generation=3))
    return Group("g", tuple(members), topics)


@random_examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(group=groups())
@pytest.mark.parametrize("name", assignors.names())
def test_kafkas_own_assignors_keep_the_contract(name: str, group: Group) -> None:
    try:
        plan = assignors.get(name).assign(group)
    except AssignorError as error:
        assume(not str(error).startswith("Livelock"))
        raise
    kind = {"shared": name == "share-simple", "withholds": name == "cooperative-sticky"}
    assert check(group, plan, **kind) == []


@random_examples(60)
@given(group=groups(), data=st.data())
def test_every_loss_and_every_double_of_a_sound_plan_is_found(group: Group, data: st.DataObject) -> None:
    plan = {who: list(held) for who, held in assignors.get("roundrobin").assign(group).by_member.items()}
    owners = [who for who, held in plan.items() if held]
    assume(owners)
    who = data.draw(st.sampled_from(owners))
    tp = data.draw(st.sampled_from(plan[who]))
    assert check(group, Assignment(1, plan | {who: [*plan[who], tp]})) == [f"{tp} goes to {who!r} twice."]
    without = [other for other in plan[who] if other != tp]
    assert check(group, Assignment(1, plan | {who: without})) == [f"{tp} has no owner."]
