"""How far a plan is applied: which partitions are at the new offset, which at the old one, which elsewhere. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assignors.model import TopicPartition
from lag.reset.applying.checks import Commits, is_after, is_before
from lag.reset.model import DEAD, Action, GroupReading, Kind, PartitionPlan, Plan

Answers = Mapping[TopicPartition, str]
"""What the coordinator said to the changes that were requested: ACCEPTED, or why not."""
ACCEPTED = ""


class Outcome(StrEnum):
    """Where a partition is.

    FAILED: the coordinator refused the change. OVERWRITTEN: it accepted it, but something else had committed or deleted
    the offset before it was read back. UNPLANNED: the plan does not change it.
    """

    DONE = "done"
    NOT_DONE = "not_done"
    ELSEWHERE = "elsewhere"
    FAILED = "failed"
    OVERWRITTEN = "overwritten"
    UNPLANNED = "unplanned"


@dataclass(frozen=True, slots=True)
class PartitionResult:
    """A partition after a plan was applied, or tried: `now` is its committed offset, None: nothing is committed."""

    tp: TopicPartition
    outcome: Outcome
    from_offset: int | None
    to_offset: int | None
    now: int | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """How far a plan is applied: a result for each partition, and the group or member that is not gone as planned."""

    results: tuple[PartitionResult, ...]
    error: str = ""

    @property
    def is_done(self) -> bool:
        """Whether all that is planned is done."""
        return not self.error and is_done(self.results)


def verified(plan: Plan, now: GroupReading) -> Verified:
    """How far a plan is applied to the group as it is `now`."""
    commits = {tp: position.commit for tp, position in now.positions.items() if position.commit is not None}
    return Verified(results(plan, commits), remaining(plan, now))


def remaining(plan: Plan, now: GroupReading) -> str:
    """The group or member that still exists though the plan removes it, or why that is not known; empty: it is gone."""
    if plan.kind is Kind.OFFSETS:
        return ""
    if now.problems:
        return f"Group {plan.group_id} cannot be read: {now.problems[0].cause}"
    if plan.kind is Kind.DELETE_GROUP:
        return "" if now.state == DEAD else f"Group {plan.group_id} still exists"
    removed = plan.removed_members & {member.member_id for member in now.members}
    return f"The static member {plan.instance_id} is still in the group" if removed else ""


def results(plan: Plan, commits: Commits, answers: Answers | None = None) -> tuple[PartitionResult, ...]:
    """A result for each partition of the plan. Without `answers`, nothing was requested just now."""
    return tuple(_result(row, commits, (answers or {}).get(row.tp)) for row in plan.partitions)


def _result(row: PartitionPlan, commits: Commits, answer: str | None) -> PartitionResult:
    commit = commits.get(row.tp)
    now = None if commit is None else commit.offset
    return PartitionResult(
        row.tp, _outcome(row, commits, answer), row.from_offset, row.to_offset, now, answer or row.reason
    )


def _outcome(row: PartitionPlan, commits: Commits, answer: str | None) -> Outcome:
    if row.action is Action.NONE:
        return Outcome.UNPLANNED
    if is_after(row, commits):
        return Outcome.DONE
    if answer is not None:
        return Outcome.OVERWRITTEN if answer == ACCEPTED else Outcome.FAILED
    return Outcome.NOT_DONE if is_before(row, commits) else Outcome.ELSEWHERE


def overwritten(found: Sequence[PartitionResult]) -> str:
    """The first partition that something else changed after it was written, and how many more; empty: none."""
    rows = [each for each in found if each.outcome is Outcome.OVERWRITTEN]
    if not rows:
        return ""
    more = f"; and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return f"{rows[0].tp}: {overwritten_text(rows[0].to_offset, rows[0].now)}{more}"


def overwritten_text(to_offset: int | None, now: int | None) -> str:
    """What became of an offset that was written or deleted."""
    if now is None:
        return "written, but nothing is committed now: something else deleted it"
    return f"{'deleted' if to_offset is None else 'written'}, but now at {now:,}: something else committed it"


def is_done(found: Sequence[PartitionResult]) -> bool:
    """Whether every partition that is planned is done."""
    return all(each.outcome in (Outcome.DONE, Outcome.UNPLANNED) for each in found)
