"""The plan that takes another one back. Pure."""

from dataclasses import replace

from lag.offsets import PartitionLag
from lag.reset.model import Action, Kind, PartitionPlan, Plan
from lag.reset.planning.effect import effect


def undo_plan(plan: Plan, made_at_ms: int) -> Plan | None:
    """Every changed offset back to what it was, with its metadata; None for the removal of a member.

    A partition that had no commit gets none. An offset of a topic that does not exist cannot be committed again.
    """
    if plan.kind is Kind.REMOVE_MEMBER:
        return None
    return replace(
        plan,
        kind=Kind.OFFSETS,
        made_at_ms=made_at_ms,
        members=(),
        specification=f"undo: {plan.specification}",
        partitions=tuple(_back(row) for row in plan.changes),
        command="",
        undoes=plan.specification,
    )


def _back(row: PartitionPlan) -> PartitionPlan:
    back = PartitionPlan(
        row.tp,
        Action.DELETE if row.from_offset is None else Action.SET,
        from_offset=row.to_offset,
        to_offset=row.from_offset,
        from_metadata=row.to_metadata,
        to_metadata=row.from_metadata,
        topic_id=row.topic_id,
        topic_is_gone=row.topic_is_gone,
        log_start=row.log_start,
        log_end=row.log_end,
        last_stable=row.last_stable,
        from_ms=row.to_ms,
        to_ms=row.from_ms,
        gaps=row.gaps,
        lag_before=row.lag_after,
        lag_after=row.lag_before,
    )
    if row.topic_is_gone:
        return replace(back, action=Action.NONE, reason="the topic does not exist: nothing can be committed for it")
    if row.from_offset is None or row.to_offset is None:
        return back
    lag = PartitionLag(row.tp, row.to_offset, row.log_start, row.log_end, row.last_stable, None, None, 0)
    what = effect(lag, row.from_offset)
    return replace(back, read_again=what.read_again, skipped=what.skipped)
