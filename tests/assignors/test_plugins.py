"""The worked examples of docs/assignors.md do what they promise, on scenarios of all kinds."""

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given

from assignors import fold
from assignors.contract import check
from assignors.model import Assignment, Assignor, Group, Member, Topic, TopicPartition
from assignors.whatif.events import Scenario
from docs.plugins.consistent import Consistent
from docs.plugins.weighted import Weighted, capacity
from tests.assignors.scenario.strategies import scenarios
from tests.support.random_examples import random_examples

TOPICS = {"orders": Topic("orders", 60), "payments": Topic("payments", 30)}


def group(*members: str, plan: Assignment | None = None) -> Group:
    """Members that read both topics and own what the plan gave them."""
    owned: Mapping[str, object] = plan.by_member if plan else {}
    made = (Member(m, topics=tuple(TOPICS), owned=tuple(owned.get(m, ()))) for m in members)  # type: ignore[arg-type]
    return Group("shop", tuple(made), TOPICS)


def owners(plan: Assignment) -> dict[TopicPartition, str]:
    return {tp: member for member, partitions in plan.by_member.items() for tp in partitions}


@pytest.mark.parametrize("plugin", [Weighted(), Consistent()])
def test_a_plan_is_sound_and_always_the_same(plugin: Assignor) -> None:
    shop = group("c1", "c2-x3", "c3")
    plan = plugin.assign(shop)
    assert check(shop, plan) == []
    assert plugin.assign(shop) == plan


@random_examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_plans_are_sound_whatever_happens_to_the_group(scenario: Scenario) -> None:
    """`fold` checks every plan of a plugin against the contract, and raises when it is broken."""
    for plugin in (Weighted(), Consistent()):
        assert {made.assignor for made in fold(scenario, plugin)[:1]} == {plugin.name}


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (Member("c1"), 1),
        (Member("c1-x4"), 4),
        (Member("c1-x4", client_id="c1-x2"), 2),
        (Member("c1-x0"), 1),
        (Member("c1-x4-b"), 1),
    ],
)
def test_capacity_by_name(member: Member, expected: int) -> None:
    assert capacity(member) == expected


def test_weighted_gives_each_member_its_share() -> None:
    plan = Weighted().assign(group("a-x4", "b", "c"))
    assert {member: len(partitions) for member, partitions in plan.by_member.items()} == {"a-x4": 60, "b": 15, "c": 15}


def test_weighted_moves_only_what_the_new_shares_ask_for() -> None:
    """Of 90 partitions a newcomer of capacity 2 among 6 in all takes 90 × 2 / 6 = 30, all from the others."""
    before = Weighted().assign(group("a-x2", "b", "c"))
    after = Weighted().assign(group("a-x2", "b", "c", "d-x2", plan=before))
    moved = [tp for tp, owner in owners(after).items() if owners(before)[tp] != owner]
    assert Counter(owners(after)[tp] for tp in moved) == {"d-x2": 30}


def test_consistent_moves_only_what_the_leaver_had() -> None:
    before, after = (Consistent().assign(group(*members)) for members in (("a", "b", "c", "d"), ("a", "b", "d")))
    moved = {tp for tp, owner in owners(after).items() if owners(before)[tp] != owner}
    assert moved == set(before.by_member["c"])


def test_consistent_moves_only_to_the_newcomer() -> None:
    before, after = (Consistent().assign(group(*members)) for members in (("a", "b"), ("a", "b", "c")))
    moved = {tp for tp, owner in owners(after).items() if owners(before)[tp] != owner}
    assert moved == set(after.by_member["c"])
    assert len(moved) > 0


def test_consistent_knows_a_static_member_by_its_instance_id() -> None:
    before, after = (
        Consistent().assign(Group("shop", (Member(f"pod-{n}", "pod", topics=("orders",)), *others), TOPICS))
        for n in (1, 2)
        for others in [group("a", "b").members]
    )
    assert before.by_member["pod-1"] == after.by_member["pod-2"]
