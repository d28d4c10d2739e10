"""Applies a plan: reads again, refuses what changed, stores the undo plan, writes, reads back.

Killed at any point it leaves the undo plan and a group of which `results` says what was done; applying it again
continues, because a partition that is at its new offset already counts as done.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from assignors.model import TopicPartition
from lag.errors import ConnectError, GroupscopeError
from lag.reset.access import Errors, GroupWriter
from lag.reset.applying.checks import check, is_after, refuse_other_cluster
from lag.reset.applying.undo import undo_plan
from lag.reset.applying.verify import (
    ACCEPTED,
    Answers,
    PartitionResult,
    Verified,
    is_done,
    overwritten,
    remaining,
    results,
    verified,
)
from lag.reset.model import Action, Commit, GroupReading, Kind, PartitionPlan, Plan

BATCH = 500
"""Partitions in one request: Kafka writes those of one request together."""


class Step(StrEnum):
    """What happened to a plan: STARTED before the first write, then ENDED; or REFUSED."""

    STARTED = "started"
    ENDED = "ended"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Applied:
    """How a plan ended: a result for each partition, and the undo plan.

    `error` is that of a group or member, or says which partition something else has changed again.
    """

    plan: Plan
    ended_at_ms: int
    results: tuple[PartitionResult, ...]
    error: str = ""
    undo: Plan | None = None

    @property
    def is_done(self) -> bool:
        """Whether all that was planned is done."""
        return not self.error and is_done(self.results)


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """One step of applying a plan, for an audit log: `reason` says why it was refused, or has no result."""

    step: Step
    at_ms: int
    plan: Plan
    applied: Applied | None = None
    reason: str = ""


Audit = Callable[[ChangeEvent], None]
"""Takes the steps of every change. If it raises for STARTED, nothing is written."""


def no_audit(event: ChangeEvent) -> None:
    """Keeps nothing."""


class UndoStore(Protocol):
    """`lag.reset.files.undo_files.UndoFiles` is the real one. If a method raises, nothing is written to Kafka."""

    def lock(self, group_id: str) -> AbstractContextManager[None]:
        """No other plan is applied to the group meanwhile, as far as this machine can see to it."""

    def store(self, undo: Plan) -> None:
        """Stores an undo plan durably."""


def apply_plan(
    plan: Plan,
    cluster: GroupWriter,
    files: UndoStore,
    now_ms: Callable[[], int],
    audit: Audit = no_audit,
    batch: int = BATCH,
) -> Applied:
    """Apply a plan. Raises ResetRefused or ConnectError; after the first write only ConnectError, as it is unread.

    The result is what the group had committed when it was read back: something else may have committed in between.
    """
    undo = undo_plan(plan, now_ms())
    with ExitStack() as held:
        try:
            held.enter_context(files.lock(plan.group_id))
            now = _prepared(plan, cluster, undo, files)
        except GroupscopeError as refusal:
            audit(ChangeEvent(Step.REFUSED, now_ms(), plan, reason=str(refusal)))
            raise
        audit(ChangeEvent(Step.STARTED, now_ms(), plan))
        try:
            found, error = _write(plan, cluster, now, batch)
        except GroupscopeError as unread:
            audit(ChangeEvent(Step.ENDED, now_ms(), plan, reason=f"requested, but not read back: {unread}"))
            raise ConnectError(
                f"The changes were requested, but the result cannot be read: {unread.cause}",
                "Run groupscope reset verify: it shows what was done",
            ) from unread
        applied = Applied(plan, now_ms(), found, error or overwritten(found), undo)
        audit(ChangeEvent(Step.ENDED, applied.ended_at_ms, plan, applied))
        return applied


def _prepared(plan: Plan, cluster: GroupWriter, undo: Plan | None, files: UndoStore) -> GroupReading:
    now = _checked(plan, cluster)
    if undo is None or not undo.partitions:
        return now
    files.store(undo)
    return _checked(plan, cluster)  # storing took time, and a member may have joined


def _checked(plan: Plan, cluster: GroupWriter) -> GroupReading:
    now = cluster.read(plan.group_id, {row.tp.topic for row in plan.partitions if row.action is not Action.NONE})
    check(plan, now)
    return now


def _write(plan: Plan, cluster: GroupWriter, now: GroupReading, batch: int) -> tuple[tuple[PartitionResult, ...], str]:
    """The results of partitions as read back, and the error of the group or member. Raises if nothing is read back."""
    if plan.kind is Kind.OFFSETS:
        answers = _write_offsets(plan, cluster, now, batch)
        return results(plan, cluster.commits(plan.group_id), answers), ""
    error = _write_group(plan, cluster)
    if plan.kind is Kind.REMOVE_MEMBER:
        return (), error
    answers = {} if error else {row.tp: ACCEPTED for row in plan.partitions}
    return results(plan, cluster.commits(plan.group_id), answers), error


def _write_offsets(plan: Plan, cluster: GroupWriter, now: GroupReading, batch: int) -> Answers:
    commits = {tp: position.commit for tp, position in now.positions.items() if position.commit is not None}
    open_rows = [row for row in plan.changes if not is_after(row, commits)]
    answers = {row.tp: ACCEPTED for row in open_rows}
    for action in (Action.SET, Action.DELETE):
        for rows in _batches([row for row in open_rows if row.action is action], batch):
            answers |= _write_batch(plan.group_id, action, rows, cluster)
    return answers


def _write_group(plan: Plan, cluster: GroupWriter) -> str:
    """The error; empty: it is done. The group is read again: a coordinator that does not answer may have done it, and
    what has been removed may be there again."""
    unanswered = ""
    try:
        if refused := _remove(plan, cluster):
            return refused
    except GroupscopeError as error:
        unanswered = error.cause
    now = cluster.read(plan.group_id, ())
    left = remaining(plan, now)
    if left and not unanswered and not now.problems:
        return f"{left}, though it was removed: something else uses the group"
    return ": ".join(filter(None, (left, unanswered))) if left else ""


def _remove(plan: Plan, cluster: GroupWriter) -> str | None:
    if plan.kind is Kind.DELETE_GROUP:
        return cluster.delete_group(plan.group_id)
    assert plan.instance_id is not None
    return cluster.remove_member(plan.group_id, plan.instance_id)


def _write_batch(group_id: str, action: Action, rows: Sequence[PartitionPlan], cluster: GroupWriter) -> Errors:
    """A coordinator that does not answer may have written or not: reading back shows which."""
    try:
        if action is Action.SET:
            return cluster.commit(group_id, _commits(rows))
        return cluster.delete_offsets(group_id, [row.tp for row in rows])
    except GroupscopeError as error:
        return {row.tp: error.cause for row in rows}


def _commits(rows: Sequence[PartitionPlan]) -> Mapping[TopicPartition, Commit]:
    return {row.tp: Commit(row.to_offset, row.to_metadata) for row in rows if row.to_offset is not None}


def _batches(rows: Sequence[PartitionPlan], size: int) -> Iterator[Sequence[PartitionPlan]]:
    return (rows[at : at + size] for at in range(0, len(rows), size))


def verify_plan(plan: Plan, cluster: GroupWriter) -> Verified:
    """How far the plan is applied. Raises ResetRefused for another cluster, ConnectError."""
    now = cluster.read(plan.group_id, ())
    refuse_other_cluster(plan, now)
    return verified(plan, now)
