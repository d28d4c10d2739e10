"""Makes a plan: reads the group and the logs, computes every target offset and what it means. Writes nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assignors.model import TopicPartition
from lag.errors import ConfigError, ResetRefused
from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.reset.access import GroupAccess
from lag.reset.asked import selection
from lag.reset.asked.selection import TopicChoice
from lag.reset.asked.specification import Delete, FromGroup, Listed, Skip, SkippedRecords, Specification, Time
from lag.reset.model import (
    Action,
    GroupReading,
    Kind,
    PartitionPlan,
    Plan,
    Position,
    RecordHead,
    planned_member,
)
from lag.reset.planning.effect import effect
from lag.reset.planning.kafka_tool import KafkaTool
from lag.reset.planning.targets import BLOCKING, Found, Target, target

MOST_PARTITIONS = 10_000
MOST_LOOKED_UP = 1_000
"""Partitions for which the times of records are read: each needs a separate request."""
MOST_SKIPPED = 100
NOT_SHOWN = "its records are shown to operators of the group only"

_OTHER_TOOLS = {GroupType.SHARE: "kafka-share-groups", GroupType.STREAMS: "kafka-streams-groups"}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `topics` are names, `topic:0,1` and patterns; `all_topics` adds all that is committed.

    Topics restrict a `Listed` or `FromGroup` specification; without them, all its partitions count. A `Skip` names its
    own. `with_values`: the values of skipped records are shown as well; without `with_records`, nothing of them is.
    """

    group_id: str
    specification: Specification
    topics: tuple[str, ...] = ()
    all_topics: bool = False
    with_values: bool = False
    with_records: bool = True


def plan_offsets(cluster: GroupAccess, request: Request, tool: KafkaTool | None = None) -> Plan:
    """The plan for committed offsets. Raises ConfigError, ResetRefused or ConnectError."""
    sizes = cluster.topics()
    specification = _with_offsets(cluster, request)
    own = {tp.topic for tp in _own_partitions(specification)}
    before = cluster.read(request.group_id, own)
    refuse_type(before)
    committed = {tp.topic for tp, position in before.positions.items() if position.commit is not None}
    chosen = selection.choices(request.topics, sizes.keys() | committed)
    group = cluster.read(request.group_id, own | {choice.topic for choice in chosen})
    wanted = _partitions(specification, request, chosen, group, sizes)
    found = _look_up(cluster, specification, wanted, group, request.with_values)
    if isinstance(specification, Delete):
        rows = [_deleted(tp, group.positions.get(tp)) for tp in wanted]
    else:
        rows = [_planned(specification, tp, group.positions.get(tp), found) for tp in wanted]
    if isinstance(specification, Skip) and not request.with_records:
        rows = [replace(row, records=(), notes=(*row.notes, NOT_SHOWN)) for row in rows]
    rows = _with_gaps(cluster, _with_times(cluster, rows), group)
    plan = new_plan(Kind.OFFSETS, group, specification.text, tuple(rows))
    return replace(plan, command=(tool or KafkaTool()).command(plan, specification, chosen, request.all_topics))


def new_plan(kind: Kind, group: GroupReading, specification: str, rows: tuple[PartitionPlan, ...] = ()) -> Plan:
    """A plan with the state of the group as it was read."""
    return Plan(
        kind=kind,
        cluster_id=group.cluster_id,
        group_id=group.group_id,
        group_type=group.type,
        made_at_ms=group.at_ms,
        state=group.state,
        epoch=group.epoch,
        members=tuple(map(planned_member, group.members)),
        specification=specification,
        partitions=rows,
    )


def plan_group_deletion(cluster: GroupAccess, group_id: str, tool: KafkaTool | None = None) -> Plan:
    """The plan to delete a group with all that it has committed. Raises ResetRefused, also if it does not exist."""
    group = cluster.read(group_id, ())
    refuse_type(group)
    _refuse_missing(group)
    rows = tuple(_deleted(tp, position) for tp, position in sorted(group.positions.items()) if position.commit)
    plan = new_plan(Kind.DELETE_GROUP, group, "delete the group", rows)
    return replace(plan, command=(tool or KafkaTool()).delete_group(group_id))


def plan_member_removal(cluster: GroupAccess, group_id: str, instance_id: str) -> Plan:
    """The plan to remove a static member. Raises ResetRefused, also if there is none with that instance id."""
    group = cluster.read(group_id, ())
    _refuse_missing(group)
    instances = sorted(member.instance_id for member in group.members if member.instance_id)
    if instance_id not in instances:
        known = f"Its static members are {', '.join(instances)}" if instances else "It has no static members"
        raise ResetRefused(f"Group {group_id} has no member with the instance id {instance_id}", known)
    plan = new_plan(Kind.REMOVE_MEMBER, group, f"remove the static member {instance_id}")
    return replace(plan, instance_id=instance_id)


def refuse_type(group: GroupReading) -> None:
    """Raise ResetRefused for groups whose offsets Kafka changes with other requests, or that could not be read."""
    if tool := _OTHER_TOOLS.get(group.type or GroupType.UNKNOWN):
        raise ResetRefused(
            f"{group.group_id} is a {group.type} group: its offsets are not those of a consumer group",
            f"Use Kafka's {tool} --reset-offsets",
        )
    if group.problems:
        problem = group.problems[0]
        raise ResetRefused(f"Group {group.group_id} cannot be read: {problem.cause}", problem.hint)


def _refuse_missing(group: GroupReading) -> None:
    if group.type is None:
        raise ResetRefused(f"There is no group {group.group_id}", "Check the spelling")


def _with_offsets(cluster: GroupAccess, request: Request) -> Specification:
    """The offsets of another group are read here, once."""
    if not isinstance(request.specification, FromGroup):
        return request.specification
    other = cluster.read(request.specification.group_id, ())
    _refuse_missing(other)
    refuse_type(other)
    offsets = {tp: position.commit.offset for tp, position in other.positions.items() if position.commit}
    return Listed(offsets, f"group {other.group_id}")


def _own_partitions(specification: Specification) -> Iterable[TopicPartition]:
    if isinstance(specification, Listed):
        return specification.offsets
    return [each.tp for each in specification.records] if isinstance(specification, Skip) else ()


def _partitions(
    specification: Specification,
    request: Request,
    chosen: Sequence[TopicChoice],
    group: GroupReading,
    sizes: Mapping[str, int],
) -> list[TopicPartition]:
    own = sorted(_own_partitions(specification))
    picked = selection.partitions(chosen, request.all_topics, group, sizes)
    if isinstance(specification, Skip):
        picked = own
    elif isinstance(specification, Listed):
        restricted = bool(chosen) or request.all_topics
        picked = [tp for tp in own if tp in set(picked)] if restricted else own
    if not picked:
        raise ConfigError("No partition is chosen", "Name topics, or choose all topics of a group that has committed")
    if len(picked) > MOST_PARTITIONS:
        raise ConfigError(
            f"{len(picked):,} partitions are chosen; a plan has at most {MOST_PARTITIONS:,}", "Choose fewer topics"
        )
    return picked


def _look_up(
    cluster: GroupAccess,
    specification: Specification,
    wanted: Sequence[TopicPartition],
    group: GroupReading,
    with_values: bool,
) -> Found:
    readable = [tp for tp in wanted if tp in group.positions and group.positions[tp].lag.problem not in BLOCKING]
    if isinstance(specification, Time):
        return Found(cluster.offsets_at(readable, specification.timestamp_ms), {})
    if isinstance(specification, Skip):
        commits = {tp: commit for tp in readable if (commit := group.positions[tp].lag.committed) is not None}
        longest = max(each.last - each.first + 1 for each in specification.records)
        if longest > MOST_SKIPPED:
            raise ConfigError(
                f"{longest:,} offsets are to be skipped in one partition; {MOST_SKIPPED} is the limit",
                "Use --to-offset",
            )
        return Found({}, cluster.first_records(commits, longest, with_values))
    return Found({}, {})


def _planned(
    specification: Specification, tp: TopicPartition, position: Position | None, found: Found
) -> PartitionPlan:
    goal = target(specification, tp, position, found)
    row = _row(tp, position)
    records: tuple[RecordHead, ...] = ()
    if isinstance(specification, Skip):
        asked = next(each for each in specification.records if each.tp == tp)
        read = found.records.get(tp, ())
        records = tuple(r for r in read if not isinstance(r, str) and _is_skipped(r, asked))
    if goal.offset is None or position is None:
        return replace(row, reason=goal.reason, records=records)
    return replace(_moved(row, position, goal), records=records)


def _is_skipped(record: RecordHead, asked: SkippedRecords) -> bool:
    return asked.first <= record.offset <= asked.last and not record.is_marker


def _moved(row: PartitionPlan, position: Position, goal: Target) -> PartitionPlan:
    assert goal.offset is not None
    what = effect(position.lag, goal.offset)
    return replace(
        row,
        action=Action.SET,
        to_offset=goal.offset,
        asked_offset=goal.asked,
        read_again=what.read_again,
        skipped=what.skipped,
        lag_after=what.lag_after,
        notes=(what.note,) if what.note else (),
    )


def _deleted(tp: TopicPartition, position: Position | None) -> PartitionPlan:
    row = _row(tp, position)
    if position is None or position.commit is None:
        return replace(row, reason="there is no committed offset to delete")
    return replace(row, action=Action.DELETE)


def _row(tp: TopicPartition, position: Position | None) -> PartitionPlan:
    if position is None:
        return PartitionPlan(tp, Action.NONE)
    lag = position.lag
    is_deleted = lag.problem is PartitionProblem.TOPIC_DELETED
    return PartitionPlan(
        tp,
        Action.NONE,
        from_offset=lag.committed,
        from_metadata=position.metadata,
        topic_id=None if is_deleted else position.topic_id,
        topic_is_gone=is_deleted,
        log_start=lag.log_start,
        log_end=lag.log_end,
        last_stable=lag.last_stable,
        deleted=lag.lost_records or 0,
        lag_before=lag.lag_records,
    )


def _with_times(cluster: GroupAccess, rows: Sequence[PartitionPlan]) -> list[PartitionPlan]:
    """The times of the records at the old and the new offset, of the first MOST_LOOKED_UP partitions that change."""
    looked_up = [row for row in rows if row.is_change][:MOST_LOOKED_UP]
    times_from = cluster.first_records(_in_log((row, row.from_offset) for row in looked_up))
    times_to = cluster.first_records(_in_log((row, row.to_offset) for row in looked_up))
    return [replace(row, from_ms=_time(times_from.get(row.tp)), to_ms=_time(times_to.get(row.tp))) for row in rows]


def _in_log(offsets: Iterable[tuple[PartitionPlan, int | None]]) -> dict[TopicPartition, int]:
    """The offsets that have a record, or one after them."""
    return {
        row.tp: offset
        for row, offset in offsets
        if offset is not None and row.log_start is not None and row.log_end is not None
        if row.log_start <= offset < row.log_end
    }


def _time(found: tuple[RecordHead, ...] | str | None) -> int | None:
    return None if not found or isinstance(found, str) else found[0].timestamp_ms


def _with_gaps(cluster: GroupAccess, rows: Sequence[PartitionPlan], group: GroupReading) -> list[PartitionPlan]:
    """In compacted topics, the offsets between old and new that have no record."""
    ranges = {row.tp: _range(row) for row in rows if _is_compacted(group, row.tp) and row.read_again is not None}
    ranges = {tp: (low, high) for tp, (low, high) in ranges.items() if low < high}
    counted = cluster.count_records(ranges) if ranges else {}
    return [_with_gap(row, counted[row.tp], ranges[row.tp]) if row.tp in counted else row for row in rows]


def _is_compacted(group: GroupReading, tp: TopicPartition) -> bool:
    position = group.positions.get(tp)
    return position is not None and bool(position.compacted)


def _range(row: PartitionPlan) -> tuple[int, int]:
    """The offsets that are read again or skipped."""
    assert row.from_offset is not None
    assert row.to_offset is not None
    low, high = sorted((row.from_offset, row.to_offset))
    return max(low, row.log_start or 0), min(high, row.log_end or 0)


def _with_gap(row: PartitionPlan, records: int | str, offsets: tuple[int, int]) -> PartitionPlan:
    if isinstance(records, str):
        return replace(row, notes=(*row.notes, f"its topic is compacted; records were not counted: {records}"))
    return replace(row, gaps=offsets[1] - offsets[0] - records)
