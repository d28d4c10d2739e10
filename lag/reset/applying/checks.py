"""Whether a plan may still be applied to the group as it is now. Pure."""

from collections.abc import Iterator, Mapping

from assignors.model import TopicPartition
from lag.errors import ResetRefused
from lag.offsets import PartitionProblem
from lag.reset.model import EMPTY, Action, Commit, GroupReading, Kind, PartitionPlan, Plan, planned_member
from lag.reset.planning.targets import BLOCKING

MOST_NAMED = 5
STOP = (
    "Stop these processes (scale the deployment to 0, or stop the service) and wait until the group is Empty. "
    "A static member stays until its session times out, or until it is removed: groupscope reset remove-member"
)

NEW_PLAN = (
    "Create a new plan and review it. If offsets change again while the group has no members, "
    "stop the consumer that commits for it without joining it (KafkaConsumer.assign)"
)


def check(plan: Plan, now: GroupReading) -> None:
    """Raise ResetRefused, with every reason, if the plan must not be applied to the group as it is `now`."""
    refuse_other_cluster(plan, now)
    if now.problems:
        raise ResetRefused(f"Group {plan.group_id} cannot be read: {now.problems[0].cause}", now.problems[0].hint)
    if plan.group_type is not None and now.type is not None and now.type is not plan.group_type:
        raise ResetRefused(
            f"Group {plan.group_id} was a {plan.group_type} group and is now a {now.type} group", "Create a new plan"
        )
    if plan.kind is Kind.REMOVE_MEMBER:
        _check_member(plan, now)
        return
    if now.is_active:
        raise ResetRefused(_who(now), STOP)
    if plan.kind is Kind.DELETE_GROUP and now.state != EMPTY:
        raise ResetRefused(f"Group {plan.group_id} no longer exists", "Nothing is left to do")
    if reasons := [*_changed(plan, now), *_unlisted(plan, now)]:
        more = f"; and {len(reasons) - MOST_NAMED:,} more" if len(reasons) > MOST_NAMED else ""
        raise ResetRefused("; ".join(reasons[:MOST_NAMED]) + more, NEW_PLAN)


def refuse_other_cluster(plan: Plan, now: GroupReading) -> None:
    """Raise ResetRefused if the plan was made for another cluster."""
    if plan.cluster_id is not None and now.cluster_id != plan.cluster_id:
        raise ResetRefused(
            f"The plan is for cluster {plan.cluster_id}, but this is cluster {now.cluster_id}",
            "Connect to the cluster of the plan, or make a plan for this one",
        )


def _check_member(plan: Plan, now: GroupReading) -> None:
    """The static member must be there still, as the process that it was when the plan was made."""
    found = {m.member_id for m in now.members if m.instance_id == plan.instance_id}
    if not found:
        raise ResetRefused(
            f"Group {plan.group_id} no longer has a static member {plan.instance_id}", "Nothing is left to do"
        )
    if found != plan.removed_members:
        raise ResetRefused(
            f"The static member {plan.instance_id} has joined again since the plan was made", "Create a new plan"
        )


def _who(now: GroupReading) -> str:
    if not now.members:
        return f"Group {now.group_id} is in state {now.state}"
    named = "; ".join(planned_member(member).text for member in now.members[:MOST_NAMED])
    more = f"; and {len(now.members) - MOST_NAMED:,} more" if len(now.members) > MOST_NAMED else ""
    return f"Group {now.group_id} is active ({now.state}), with the members {named}{more}"


def _changed(plan: Plan, now: GroupReading) -> Iterator[str]:
    commits = {tp: position.commit for tp, position in now.positions.items() if position.commit is not None}
    for row in plan.partitions:
        if row.action is Action.NONE:
            continue
        if not (is_before(row, commits) or is_after(row, commits)):
            yield f"{row.tp} was at {_at(row.from_offset)} and is now at {_at(_offset(commits.get(row.tp)))}"
        elif row.action is Action.SET and row.is_change:
            yield from _log_changed(row, now, is_undo=plan.undoes is not None)


def _log_changed(row: PartitionPlan, now: GroupReading, is_undo: bool) -> Iterator[str]:
    """An undo goes back whatever became of the log since, unless the topic is another one."""
    position = now.positions.get(row.tp)
    problem = PartitionProblem.TOPIC_DELETED if position is None else position.lag.problem
    if position is None or problem in BLOCKING:
        if not is_undo and problem is not None:
            yield f"{row.tp}: {BLOCKING[problem]}"
        return
    lag, to = position.lag, row.to_offset
    if row.topic_id and position.topic_id and row.topic_id != position.topic_id:
        yield f"the topic {row.tp.topic} was deleted and created again since the plan was made"
    elif is_undo or to is None or lag.log_start is None or lag.log_end is None:
        return
    elif row.log_start is not None and row.log_start <= to < lag.log_start:
        yield f"{row.tp}: offset {to:,} was deleted since the plan was made; the log now starts at {lag.log_start:,}"
    elif to > lag.log_end and (row.log_end or 0) >= to:
        yield f"{row.tp}: offset {to:,} is beyond the log end, which went back to {lag.log_end:,}"


def _unlisted(plan: Plan, now: GroupReading) -> Iterator[str]:
    """A group is deleted with all that it has: also with offsets that the plan does not have."""
    if plan.kind is Kind.DELETE_GROUP:
        planned = {row.tp for row in plan.partitions}
        for tp, position in now.positions.items():
            if position.commit is not None and tp not in planned:
                yield f"{tp} has an offset that the plan does not list"


Commits = Mapping[TopicPartition, Commit]


def is_before(row: PartitionPlan, commits: Commits) -> bool:
    """Whether the partition is as it was before the plan."""
    return _offset(commits.get(row.tp)) == row.from_offset


def is_after(row: PartitionPlan, commits: Commits) -> bool:
    """Whether the partition is as the plan wants it."""
    return row.action is not Action.NONE and _offset(commits.get(row.tp)) == row.to_offset


def _offset(commit: Commit | None) -> int | None:
    return None if commit is None else commit.offset


def _at(offset: int | None) -> str:
    return "no commit" if offset is None else f"{offset:,}"
