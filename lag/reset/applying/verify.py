"""How far a plan is applied: which partitions are at the new offset, which at the old one, which elsewhere. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from assignors.model import TopicPartition
from lag.reset.access import Errors
from lag.reset.applying.checks import Commits, is_after, is_before
from lag.reset.model import DEAD, Action, GroupReading, Kind, PartitionPlan, Plan


class Outcome(StrEnum):
    """Where a partition is. UNPLANNED: the plan does not change it; FAILED: the coordinator refused the change."""

    DONE = "done"
    NOT_DONE = "not_done"
    ELSEWHERE = "elsewhere"
    FAILED = "failed"
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


def results(plan: Plan, commits: Commits, errors: Errors | None = None) -> tuple[PartitionResult, ...]:
    """A result for each partition of the plan. `errors` are those of the coordinator."""
    return tuple(_result(row, commits, (errors or {}).get(row.tp, "")) for row in plan.partitions)


def _result(row: PartitionPlan, commits: Commits, error: str) -> PartitionResult:
    commit = commits.get(row.tp)
    now = None if commit is None else commit.offset
    return PartitionResult(
        row.tp, _outcome(row, commits, error), row.from_offset, row.to_offset, now, error or row.reason
    )


def _outcome(row: PartitionPlan, commits: Commits, error: str) -> Outcome:
    if row.action is Action.NONE:
        return Outcome.UNPLANNED
    if is_after(row, commits):
        return Outcome.DONE
    if error:
        return Outcome.FAILED
    return Outcome.NOT_DONE if is_before(row, commits) else Outcome.ELSEWHERE


def is_done(found: Sequence[PartitionResult]) -> bool:
    """Whether every partition that is planned is done."""
    return all(each.outcome in (Outcome.DONE, Outcome.UNPLANNED) for each in found)
