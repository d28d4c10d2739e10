"""A plan is refused when the group is not as the plan says; applied again, it goes on where it was interrupted."""

import pytest

from assignors.model import TopicPartition
from lag.errors import ResetRefused
from lag.model import GroupType, Member
from lag.offsets import PartitionProblem
from lag.reset.applying.checks import check
from lag.reset.applying.undo import undo_plan
from lag.reset.model import Action, GroupReading, Kind, PartitionPlan, Plan, PlannedMember
from tests.lag.reset.make import ORDERS, position, reading


def row(from_offset: int | None = 40, to_offset: int | None = 10, tp: TopicPartition = ORDERS) -> PartitionPlan:
    action = Action.DELETE if to_offset is None else Action.SET
    return PartitionPlan(tp, action, from_offset, to_offset, topic_id="t1", log_start=0, log_end=100, last_stable=100)


def plan(*rows: PartitionPlan, kind: Kind = Kind.OFFSETS) -> Plan:
    return Plan(kind, "cluster-1", "billing", GroupType.CLASSIC, 0, "Empty", None, (), "a test", rows or (row(),))


def refusal(made: Plan, now: GroupReading) -> str:
    with pytest.raises(ResetRefused) as caught:
        check(made, now)
    return str(caught.value)


def test_the_group_is_as_the_plan_says() -> None:
    check(plan(), reading({ORDERS: position(40)}))


def test_a_partition_that_is_at_its_new_offset_already_is_no_change() -> None:
    check(plan(), reading({ORDERS: position(10)}))


def test_a_committed_offset_that_changed_is_refused_with_both_offsets() -> None:
    assert "orders-0 was at 40 and is now at 41" in refusal(plan(), reading({ORDERS: position(41)}))
    assert "orders-0 was at 40 and is now at no commit" in refusal(plan(), reading({ORDERS: position(None)}))
    assert "orders-0 was at no commit and is now at 7" in refusal(plan(row(None)), reading({ORDERS: position(7)}))


def test_active_members_are_named_with_how_to_stop_them() -> None:
    member = Member("m-1", client_id="worker-1", host="10.0.0.7", instance_id="pod-1")
    stated = refusal(plan(), reading({ORDERS: position(40)}, (member,), "Stable"))
    assert "worker-1 at 10.0.0.7, static member pod-1" in stated
    assert "Stop these processes" in stated


def test_a_rebalancing_group_without_members_is_refused() -> None:
    assert "PreparingRebalance" in refusal(plan(), reading({ORDERS: position(40)}, (), "PreparingRebalance"))


def test_another_cluster_or_group_type_is_refused() -> None:
    assert "cluster-2" in refusal(plan(), reading({ORDERS: position(40)}, cluster_id="cluster-2"))
    assert "consumer" in refusal(plan(), reading({ORDERS: position(40)}, kind=GroupType.CONSUMER))


def test_a_topic_that_was_created_again_is_refused() -> None:
    assert "created again" in refusal(plan(), reading({ORDERS: position(40, topic_id="t2")}))


def test_a_new_offset_that_retention_has_deleted_is_refused() -> None:
    assert "offset 10 was deleted" in refusal(plan(), reading({ORDERS: position(40, log_start=11)}))


def test_a_topic_that_was_dropped_is_refused() -> None:
    gone = position(40, None, None, problem=PartitionProblem.TOPIC_DELETED)
    assert "does not exist" in refusal(plan(), reading({ORDERS: gone}))


def test_an_undo_goes_back_as_far_as_kafka_takes_it() -> None:
    undo = undo_plan(plan(row(5, 40)), 1)
    assert undo is not None
    check(undo, reading({ORDERS: position(40, log_start=20)}))
    assert "created again" in refusal(undo, reading({ORDERS: position(40, topic_id="t2")}))
    check(undo, reading({ORDERS: position(40, None, None, problem=PartitionProblem.TOPIC_DELETED)}))


def test_a_group_with_more_offsets_than_its_plan_lists_is_not_deleted() -> None:
    made = plan(row(40, None), kind=Kind.DELETE_GROUP)
    other = TopicPartition("orders", 1)
    check(made, reading({ORDERS: position(40)}))
    assert "orders-1" in refusal(made, reading({ORDERS: position(40), other: position(1, tp=other)}))
    assert "no longer exists" in refusal(made, reading({}, state="Dead", kind=None))


def test_a_static_member_that_joined_again_is_not_removed() -> None:
    made = Plan(
        Kind.REMOVE_MEMBER, "cluster-1", "billing", GroupType.CLASSIC, 0, "Stable", None,
        (PlannedMember("m-1", instance_id="pod-1"),), "a test", instance_id="pod-1",
    )  # fmt: skip
    check(made, reading({}, (Member("m-1", instance_id="pod-1"),), "Stable"))
    assert "joined again" in refusal(made, reading({}, (Member("m-2", instance_id="pod-1"),), "Stable"))
    assert "no longer has a static member" in refusal(made, reading({}, (), "Empty"))
