"""Groups whose coordinator does not answer are kept from the last poll, marked as old, instead of vanishing."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assignors.offsets_partition import offsets_partition
from lag.model import UNLISTED, ClusterSnapshot, GroupSnapshot, Problem, Scope
from lag.offsets import UNKNOWN, OffsetTable, PartitionProblem, PartitionRows, problem_code
from lag.times import from_ms
from lag.verdict import row_index

STALE = "stale"
"""The kind of the problem that a kept group has."""


def carry_forward(before: ClusterSnapshot | None, now: ClusterSnapshot) -> ClusterSnapshot:
    """`now` with those groups of `before` that are missing because nobody could be asked for them.

    A missing group is kept while the snapshot is incomplete and its coordinator, the old or the new one, is among
    the brokers that failed or are gone, or a broker does not list its groups. It is also kept for one poll after its
    coordinator changed: the new one does not list it before it has begun to load it. Otherwise it was deleted.

    Kept groups have the state, members and `at_ms` of the poll that last read them, `complete` False and a problem of
    kind STALE. Their rows stay, without the committed offsets, which may have moved. (A row on a topic that only that
    group still named is left out.)
    """
    missing = [] if before is None else _missing(before, now)
    if before is None or not missing:
        return now
    order = sorted([*now.groups, *(before.groups[i] for i in missing)], key=lambda group: group.group_id)
    table = _merged(before, missing, now, {group.group_id: at for at, group in enumerate(order)})
    groups = tuple(_group(group, table, at, group.group_id in now.by_group) for at, group in enumerate(order))
    return replace(now, groups=groups, offsets=table, complete=False)


def _missing(before: ClusterSnapshot, now: ClusterSnapshot) -> list[int]:
    gone = [i for i, group in enumerate(before.groups) if group.group_id not in now.by_group]
    if not gone:
        return []
    failed = {problem.subject for problem in now.problems if problem.scope is Scope.BROKER}
    answering = {b.node_id for b in now.brokers if b.error is None and str(b.node_id) not in failed}
    anywhere = any(problem.kind == UNLISTED for problem in now.problems)
    return [i for i in gone if anywhere or _may_exist(before.groups[i], now, answering)]


def _may_exist(group: GroupSnapshot, now: ClusterSnapshot, answering: set[int]) -> bool:
    coordinator = _coordinator(group, now)
    has_just_moved = coordinator != group.coordinator and not _is_old(group)
    return has_just_moved or (not now.complete and not {group.coordinator, coordinator} <= answering)


def _coordinator(group: GroupSnapshot, now: ClusterSnapshot) -> int | None:
    """The group's coordinator by the metadata of `now`, that of `group` if the metadata does not show it."""
    leaders = now.offsets_leaders
    return leaders[offsets_partition(group.group_id, len(leaders))] if leaders else group.coordinator


def _group(group: GroupSnapshot, table: OffsetTable, at: int, fresh: bool) -> GroupSnapshot:
    rows = PartitionRows(table, table.rows(at), [member.member_id for member in group.members])
    if fresh:
        return replace(group, partitions=rows)
    problems = group.problems if _is_old(group) else (_problem(group), *group.problems)
    return replace(group, partitions=rows, complete=False, problems=problems)


def _is_old(group: GroupSnapshot) -> bool:
    return any(problem.kind == STALE for problem in group.problems)


def _problem(group: GroupSnapshot) -> Problem:
    seen = f"{from_ms(group.at_ms):%Y-%m-%d %H:%M:%S} UTC"
    who = "its coordinator" if group.coordinator is None else f"its coordinator, broker {group.coordinator},"
    known = [row.lag_records for row in group.partitions if row.lag_records is not None]
    coverage = f"known for {len(known)} of {len(group.partitions)} partitions"
    lag = f"; the group was {sum(known):,} records behind ({coverage})"
    cause = f"{who} has not answered since {seen}: state and members are from that time{lag if known else ''}"
    return Problem(STALE, Scope.GROUP, group.group_id, cause, "Start the broker", len(group.partitions))


def _merged(
    before: ClusterSnapshot, missing: Sequence[int], now: ClusterSnapshot, place: dict[str, int]
) -> OffsetTable:
    """The rows of `now` and those of the missing groups, laid out in the order of `place` (group id -> number)."""
    old, new = before.offsets, now.offsets
    kept = np.concatenate([np.arange(*old.bounds[i : i + 2]) for i in missing])
    end = row_index.partition_indexer(new.ends, old.ends)[old.end[kept]]
    kept, end = kept[end >= 0], end[end >= 0]
    group = np.concatenate(
        [
            _places(now.groups, place)[row_index.group_of_row(new.bounds)],
            _places(before.groups, place)[row_index.group_of_row(old.bounds)[kept]],
        ]
    )
    order = np.argsort(group, kind="stable")
    blank = np.full(len(kept), UNKNOWN, np.int64)
    timeout = np.full(len(kept), problem_code(PartitionProblem.TIMEOUT), np.uint8)
    return OffsetTable(
        at_ms=new.at_ms,
        ends=new.ends,
        bounds=np.searchsorted(group[order], np.arange(len(place) + 1)).astype(np.int64),
        end=np.concatenate([new.end, end.astype(np.int32)])[order],
        committed=np.concatenate([new.committed, blank])[order],
        lag=np.concatenate([new.lag, blank])[order],
        lost=np.concatenate([new.lost, blank])[order],
        problem=np.concatenate([new.problem, timeout])[order],
        member=np.concatenate([new.member, old.member[kept]])[order],
    )


def _places(groups: Sequence[GroupSnapshot], place: dict[str, int]) -> np.ndarray:
    return np.array([place.get(group.group_id, -1) for group in groups], np.int64)
