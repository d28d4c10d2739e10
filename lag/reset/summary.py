"""A plan in numbers and sentences: totals, and what to know before it is applied. Pure."""

from collections.abc import Iterator

from lag.reset.model import DEAD, Action, Kind, PartitionPlan, Plan, Totals


def totals(plan: Plan) -> Totals:
    """Sums over the partitions of a plan."""
    changes = plan.changes
    return Totals(
        partitions=len(plan.partitions),
        changed=len(changes),
        unplanned=sum(row.action is Action.NONE for row in plan.partitions),
        read_again=sum(row.read_again or 0 for row in changes),
        skipped=sum(row.skipped or 0 for row in changes),
        deleted=sum(row.deleted for row in plan.partitions),
        unknown=sum(row.read_again is None for row in changes),
    )


def headline(plan: Plan) -> str:
    """The plan in one sentence."""
    if plan.kind is Kind.REMOVE_MEMBER:
        return _removal(plan)
    if plan.kind is Kind.DELETE_GROUP:
        return f"Deletes group {plan.group_id} with {_count(len(plan.partitions), 'committed offset')}."
    if any(row.action is Action.DELETE for row in plan.changes) and plan.undoes is None:
        return f"Deletes {_count(len(plan.changes), 'committed offset')} of group {plan.group_id}."
    if plan.changes and all(row.from_offset is None for row in plan.changes):
        return f"Commits {_count(len(plan.changes), 'offset')} of group {plan.group_id} where nothing is committed."
    sums = totals(plan)
    moved = f"Changes {sums.changed:,} of {_count(sums.partitions, 'partition')} of group {plan.group_id}"
    unknown = f"; not known for {_count(sums.unknown, 'partition')}" if sums.unknown else ""
    return f"{moved}: {_count(sums.read_again, 'record')} read again, {sums.skipped:,} skipped{unknown}."


def _removal(plan: Plan) -> str:
    removed = next((m for m in plan.members if m.member_id in plan.removed_members), None)
    who = "" if removed is None else f" ({removed.client_id or removed.member_id} at {removed.host})"
    partitions = "its partitions go to the others" if len(plan.members) > 1 else "no other member takes its partitions"
    return f"Removes the static member {plan.instance_id}{who} from group {plan.group_id}; {partitions}."


def warnings(plan: Plan) -> Iterator[str]:
    """What to know before the plan is applied, the most important first."""
    rows = plan.partitions
    if plan.kind is not Kind.REMOVE_MEMBER and plan.members:
        stopped = "it has stopped" if len(plan.members) == 1 else "they have stopped"
        yield f"{active(plan)}: the plan cannot be applied until {stopped}"
    if plan.state == DEAD and plan.kind is Kind.OFFSETS:
        yield f"There is no group {plan.group_id}: applying the plan creates it"
    if unplanned := [row for row in rows if row.action is Action.NONE]:
        yield f"{_count(len(unplanned), 'partition')} cannot be planned and will not be changed: {_first(unplanned)}"
    if clamped := [row for row in rows if row.asked_offset is not None]:
        limited = _count(len(clamped), "partition")
        yield f"{limited} limited to the log start or end; the offset asked for is outside the log"
    if deleted := sum(row.deleted for row in rows):
        yield f"{_count(deleted, 'record')} deleted before the group could read them"
    yield from _held(rows)
    yield from _undoing(plan)
    if gaps := sum(row.gaps or 0 for row in rows):
        yield f"{_count(gaps, 'offset')} without a record between old and new: the topic is compacted"
    if plan.kind is Kind.OFFSETS and any(row.from_metadata and row.is_change for row in rows) and plan.undoes is None:
        yield "Some commits have metadata; a reset clears it, as kafka-consumer-groups does; the undo restores it"


def _undoing(plan: Plan) -> Iterator[str]:
    """What a deletion or removal leaves behind, and how it can be taken back."""
    if any(row.action is Action.DELETE for row in plan.partitions):
        yield "Without a committed offset, consumers start where auto.offset.reset says"
    if plan.kind is Kind.REMOVE_MEMBER:
        yield "There is no undo. The member joins again if its process is still running"
    if plan.kind is Kind.DELETE_GROUP and plan.partitions:
        gone = sum(row.topic_is_gone for row in plan.partitions)
        if gone == len(plan.partitions):
            yield "There is no undo: no offset can be committed again, since none of the topics exists"
            return
        yield "Its undo plan commits these offsets again, which creates the group again"
        if gone:
            yield f"{_count(gone, 'offset')} cannot be committed again: the topic does not exist"


def _held(rows: tuple[PartitionPlan, ...]) -> Iterator[str]:
    held = [row for row in rows if row.held_records]
    if held:
        records = sum(row.held_records for row in held)
        yield f"Open transactions hold {_count(records, 'record')} in {_count(len(held), 'partition')}"
    if any(row.to_offset is not None and row.to_offset > (row.last_stable or 0) for row in held):
        yield "Records of open transactions are skipped: the group never reads them, even if the transaction commits"


def active(plan: Plan) -> str:
    """Who is in the group, the first few."""
    named = "; ".join(member.text for member in plan.members[:3])
    more = f" and {len(plan.members) - 3:,} more" if len(plan.members) > 3 else ""
    return f"The group has {_count(len(plan.members), 'active member')} ({named}{more})"


def _first(rows: list[PartitionPlan]) -> str:
    reasons = dict.fromkeys(f"{row.tp}: {row.reason}" for row in rows[:3])
    return "; ".join(reasons) + ("; …" if len(rows) > 3 else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
