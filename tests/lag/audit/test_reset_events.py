"""What the audit log says about each step of a plan that is applied."""

from dataclasses import replace

import pytest

from assignors.model import TopicPartition
from lag.audit.event import AuditEvent, Outcome
from lag.audit.reset_events import NOT_ALL_DONE, Change
from lag.model import GroupType
from lag.reset.applying.apply import Applied, ChangeEvent, Step
from lag.reset.applying.verify import Outcome as Found
from lag.reset.applying.verify import PartitionResult
from lag.reset.model import Action, Kind, PartitionPlan, Plan

T0 = TopicPartition("t", 0)
PLAN = Plan(
    Kind.OFFSETS,
    "c",
    "g",
    GroupType.CLASSIC,
    0,
    "Empty",
    None,
    partitions=(PartitionPlan(T0, Action.SET, 50, 10, read_again=40, skipped=0),),
)
SENTENCE = "Changes 1 of 1 partition of group g: 40 records read again, 0 skipped."
CHANGE = Change(PLAN, "ann", "10.0.0.1", "demo", "plan.json")


def ended(found: Found, error: str = "") -> ChangeEvent:
    results = (PartitionResult(T0, found, 50, 10, 10 if found is Found.DONE else 50),)
    return ChangeEvent(Step.ENDED, 7, PLAN, Applied(PLAN, 7, results, error))


@pytest.mark.parametrize(
    ("step", "outcome", "detail"),
    [
        (ChangeEvent(Step.STARTED, 7, PLAN), Outcome.STARTED, SENTENCE),
        (ChangeEvent(Step.REFUSED, 7, PLAN, reason="the group has members"), Outcome.REFUSED, "the group has members"),
        (ended(Found.DONE), Outcome.OK, SENTENCE),
        (ended(Found.FAILED), Outcome.FAILED, NOT_ALL_DONE),
        (ended(Found.DONE, "the group still exists"), Outcome.FAILED, "the group still exists"),
        (ChangeEvent(Step.ENDED, 7, PLAN, reason="not read back"), Outcome.FAILED, "not read back"),
    ],
)
def test_each_step_is_recorded_with_its_outcome_and_who_did_it(
    step: ChangeEvent, outcome: Outcome, detail: str
) -> None:
    expected = AuditEvent(7, "reset", outcome, "ann", "10.0.0.1", "demo", "g", "plan.json", detail)
    assert CHANGE.step(step) == expected


@pytest.mark.parametrize(
    ("plan", "action"),
    [
        (PLAN, "reset"),
        (replace(PLAN, undoes="--to-earliest"), "undo"),
        (replace(PLAN, kind=Kind.DELETE_GROUP), "delete group"),
        (replace(PLAN, kind=Kind.REMOVE_MEMBER, instance_id="pod-1"), "remove member"),
    ],
)
def test_the_action_names_the_kind_of_plan(plan: Plan, action: str) -> None:
    assert Change(plan, "ann", "", "demo").event(7, Outcome.STARTED).action == action
