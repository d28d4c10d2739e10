"""A coordinator that fails after the first write, which a real one does too rarely to test."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from assignors.model import TopicPartition
from lag.audit.event import Outcome
from lag.audit.reset_events import Change
from lag.errors import ConnectError, GroupscopeError, ResetRefused
from lag.model import GroupType, Member
from lag.offsets import PartitionLag
from lag.reset.applying import verify
from lag.reset.applying.apply import Applied, ChangeEvent, apply_plan
from lag.reset.model import Action, Commit, GroupReading, Kind, PartitionPlan, Plan, Position, planned_member
from tests.support.reset_cluster import KeptUndo

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
UNANSWERED = ConnectError("The coordinator did not answer", "Try again")
POD_1 = Member("pod-1-0", "worker-1", "/10.0.0.1", instance_id="pod-1")
SHUT = ResetRefused("The coordinator of group g is not known: not authorised")


class Group:
    """Two partitions at 50. `fails` has the calls that raise after they have been carried out; the first is 1.

    One that `is_deaf` carries out neither its deletion nor the removal of a member.
    """

    def __init__(self, error: GroupscopeError, **fails: int) -> None:
        self.offsets = {T0: 50, T1: 50}
        self.members: tuple[Member, ...] = ()
        self.is_deaf = False
        self._error, self._fails = error, fails
        self._calls: dict[str, int] = {}

    def _called(self, method: str) -> None:
        self._calls[method] = self._calls.get(method, 0) + 1
        if self._fails.get(method) == self._calls[method]:
            raise self._error

    def read(self, _group_id: str, _topics: Collection[str]) -> GroupReading:
        self._called("read")
        lags = {tp: PartitionLag(tp, at, 0, 100, 100, 100 - at, None, 0) for tp, at in self.offsets.items()}
        return GroupReading(
            "c",
            "g",
            0,
            GroupType.CLASSIC if lags else None,
            ("Stable" if self.members else "Empty") if lags else "Dead",
            None,
            self.members,
            {tp: Position(lag) for tp, lag in lags.items()},
        )

    def commits(self, _group_id: str) -> Mapping[TopicPartition, Commit]:
        self._called("commits")
        return {tp: Commit(at) for tp, at in self.offsets.items()}

    def commit(self, _group_id: str, offsets: Mapping[TopicPartition, Commit]) -> Mapping[TopicPartition, str]:
        self.offsets |= {tp: commit.offset for tp, commit in offsets.items()}
        self._called("commit")
        return {}

    def delete_group(self, _group_id: str) -> str | None:
        self.offsets = self.offsets if self.is_deaf else {}
        self._called("delete_group")
        return None

    def remove_member(self, _group_id: str, _instance_id: str) -> str | None:
        self.members = self.members if self.is_deaf else ()
        self._called("remove_member")
        return None

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def applied(group: Group, kind: Kind = Kind.OFFSETS) -> tuple[Applied | GroupscopeError, list[Outcome]]:
    """The result or the error, and the outcomes in the audit log. One partition in a request."""
    action, to = (Action.SET, 10) if kind is Kind.OFFSETS else (Action.DELETE, None)
    rows = tuple(PartitionPlan(tp, action, 50, to, log_start=0, log_end=100) for tp in (T0, T1))
    plan = Plan(kind, "c", "g", GroupType.CLASSIC, 0, "Empty", None, specification="x", partitions=rows)
    if kind is Kind.REMOVE_MEMBER:
        plan = replace(plan, partitions=(), members=(planned_member(POD_1),), instance_id="pod-1")
    events: list[ChangeEvent] = []
    try:
        found: Applied | GroupscopeError = apply_plan(plan, group, KeptUndo(), lambda: 1, events.append, batch=1)
    except GroupscopeError as error:
        found = error
    return found, [Change(plan, "me", "", "c").step(event).outcome for event in events]


@pytest.mark.parametrize("error", [UNANSWERED, SHUT])
def test_what_is_written_but_not_read_back_is_no_refusal(error: GroupscopeError) -> None:
    group = Group(error, commits=1)
    found, outcomes = applied(group)
    assert isinstance(found, ConnectError)
    assert str(found) == (
        f"The changes were requested, but the result cannot be read: {error.cause}. "
        "Run groupscope reset verify: it shows what was done"
    )
    assert (group.offsets, outcomes) == ({T0: 10, T1: 10}, [Outcome.STARTED, Outcome.FAILED])


@pytest.mark.parametrize("error", [UNANSWERED, SHUT])
def test_a_batch_without_an_answer_is_read_back(error: GroupscopeError) -> None:
    found, outcomes = applied(Group(error, commit=2))
    assert isinstance(found, Applied)
    assert [(row.tp, row.outcome, row.error) for row in found.results] == [
        (T0, verify.Outcome.DONE, ""),
        (T1, verify.Outcome.DONE, error.cause),
    ]
    assert outcomes == [Outcome.STARTED, Outcome.OK]


@pytest.mark.parametrize("error", [UNANSWERED, SHUT])
def test_a_deletion_that_was_done_without_an_answer_is_done(error: GroupscopeError) -> None:
    found, outcomes = applied(Group(error, delete_group=1), Kind.DELETE_GROUP)
    assert isinstance(found, Applied)
    assert (found.error, [row.outcome for row in found.results]) == ("", [verify.Outcome.DONE] * 2)
    assert outcomes == [Outcome.STARTED, Outcome.OK]


def test_a_deletion_that_was_not_done_and_has_no_answer_has_failed() -> None:
    group = Group(UNANSWERED, delete_group=1)
    group.is_deaf = True
    found, outcomes = applied(group, Kind.DELETE_GROUP)
    assert isinstance(found, Applied)
    assert found.error == "Group g still exists: The coordinator did not answer"
    assert [row.outcome for row in found.results] == [verify.Outcome.NOT_DONE] * 2
    assert outcomes == [Outcome.STARTED, Outcome.FAILED]


def test_a_removal_that_was_done_without_an_answer_is_done() -> None:
    group = Group(UNANSWERED, remove_member=1)
    group.members = (POD_1,)
    found, outcomes = applied(group, Kind.REMOVE_MEMBER)
    assert isinstance(found, Applied)
    assert (found.error, found.is_done, outcomes) == ("", True, [Outcome.STARTED, Outcome.OK])


def test_a_removal_that_was_not_done_and_has_no_answer_has_failed() -> None:
    group = Group(UNANSWERED, remove_member=1)
    group.members, group.is_deaf = (POD_1,), True
    found, outcomes = applied(group, Kind.REMOVE_MEMBER)
    assert isinstance(found, Applied)
    assert found.error == "The static member pod-1 is still in the group: The coordinator did not answer"
    assert outcomes == [Outcome.STARTED, Outcome.FAILED]


@pytest.mark.parametrize(
    ("kind", "fails"),
    [(Kind.DELETE_GROUP, {"delete_group": 1, "read": 3}), (Kind.REMOVE_MEMBER, {"remove_member": 1, "read": 2})],
)
def test_what_has_no_answer_and_cannot_be_read_is_not_known(kind: Kind, fails: dict[str, int]) -> None:
    group = Group(UNANSWERED, **fails)
    group.members = (POD_1,) if kind is Kind.REMOVE_MEMBER else ()
    found, outcomes = applied(group, kind)
    assert isinstance(found, ConnectError)
    assert found.cause == "The changes were requested, but the result cannot be read: The coordinator did not answer"
    assert outcomes == [Outcome.STARTED, Outcome.FAILED]
