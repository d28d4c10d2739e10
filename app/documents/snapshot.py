"""Groups, members and partitions of a snapshot as JSON: `groupscope snapshot --json` and `/api/v1`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal, cast

import numpy as np
from typing_extensions import TypedDict

from lag.model import ClusterSnapshot, GroupSnapshot, GroupType, LagTotal, Member, Problem, Scope
from lag.offsets import PROBLEM_CODES, UNKNOWN, Ints, PartitionProblem
from lag.verdict.health import GroupColumns, Health
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import TOO_EARLY, URGENCY, Status


class ProblemDocument(TypedDict):
    """One thing that could not be read. `affected` counts what is unknown because of it."""

    kind: str
    scope: Scope
    subject: str
    cause: str
    hint: str
    affected: int | None


class OnsetDocument(TypedDict):
    """Since when a verdict holds, in ms since 1970. Without `is_exact` it may have begun earlier."""

    at_ms: int
    is_exact: bool
    source: OnsetSource


class MemberDocument(TypedDict):
    """A member. `assigned` and `target` (KIP-848, else null) are pairs of topic and partition."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    rack: str | None
    epoch: int | None
    assigned: list[tuple[str, int]]
    target: list[tuple[str, int]] | None


class PartitionDocument(TypedDict):
    """A group's position in one partition: offsets, and the lag in records; null when not known, `problem` says why.

    `committed` is the start offset in a share group. `lost` counts records that were deleted before they were read.
    """

    topic: str
    partition: int
    committed: int | None
    log_start: int | None
    log_end: int | None
    last_stable: int | None
    lag: int | None
    lost: int | None
    problem: PartitionProblem | None
    member_id: str | None


class VerdictDocument(TypedDict):
    """A verdict and since when it holds; null with too few polls for a verdict."""

    verdict: Status | None
    onset: OnsetDocument | None


class GroupSummaryDocument(VerdictDocument):
    """A group without its members and partitions.

    `lag` (records) is the sum over `lag_known` of `lag_partitions`, `lost` that of the partitions where it is known.
    """

    group_id: str
    type: GroupType
    state: str
    coordinator: int | None
    assignor: str | None
    epoch: int | None
    assignment_epoch: int | None
    complete: bool
    problems: list[ProblemDocument]
    lag: int | None
    lag_known: int
    lag_partitions: int
    lost: int | None


class GroupDocument(GroupSummaryDocument):
    """A group with its members and partitions."""

    members: list[MemberDocument]
    partitions: list[PartitionDocument]


class SnapshotDocument(TypedDict):
    """What one poll read of a cluster. `complete` is false when something could not be read; `problems` says what."""

    schema: Literal[1]
    cluster_id: str | None
    at_ms: int
    complete: bool
    problems: list[ProblemDocument]
    groups: list[GroupDocument]


def snapshot_document(health: Health, shown: Sequence[tuple[GroupSnapshot, LagTotal]]) -> SnapshotDocument:
    """These groups of the snapshot, each with its total lag."""
    snapshot = health.snapshot
    rows = partitions_document(snapshot, slice(0, len(snapshot.offsets)))
    return {
        "schema": 1,
        "cluster_id": snapshot.cluster_id,
        "at_ms": snapshot.at_ms,
        "complete": snapshot.complete,
        "problems": problems_document(snapshot.problems),
        "groups": [
            group_document(health.columns, number, group, lag, rows[snapshot.offsets.rows(number)])
            for number, group, lag in ((snapshot.by_group[group.group_id], group, lag) for group, lag in shown)
        ],
    }


def group_document(
    columns: GroupColumns, number: int, group: GroupSnapshot, lag: LagTotal, rows: list[PartitionDocument]
) -> GroupDocument:
    """The group of that number in the snapshot, with these rows."""
    return {
        **summary_document(columns, number, group, lag),
        "members": [_member(member) for member in group.members],
        "partitions": rows,
    }


def summary_document(columns: GroupColumns, number: int, group: GroupSnapshot, lag: LagTotal) -> GroupSummaryDocument:
    """The group of that number in the snapshot, without members and partitions."""
    return {
        "group_id": group.group_id,
        "type": group.type,
        "state": group.state,
        "coordinator": group.coordinator,
        "assignor": group.assignor,
        "epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "complete": group.complete,
        "problems": problems_document(group.problems),
        "lag": lag.records,
        "lag_known": lag.known,
        "lag_partitions": lag.partitions,
        "lost": lag.lost_records,
        **_verdict(columns, number),
    }


def _verdict(columns: GroupColumns, number: int) -> VerdictDocument:
    code = int(columns.status[number])
    return {
        "verdict": None if code == TOO_EARLY else URGENCY[code],
        "onset": onset_document(columns.onsets.at(number)),
    }


def onset_document(onset: Onset | None) -> OnsetDocument | None:
    """Since when a verdict holds; None if there is none."""
    return None if onset is None else cast(OnsetDocument, asdict(onset))


def problems_document(problems: Sequence[Problem]) -> list[ProblemDocument]:
    """What could not be read."""
    return [cast(ProblemDocument, asdict(problem)) for problem in problems]


def partitions_document(snapshot: ClusterSnapshot, rows: slice) -> list[PartitionDocument]:
    """These rows of the offset table. From columns: half a million objects would take longer to make than to read."""
    table, ends = snapshot.offsets, snapshot.offsets.ends
    end = table.end[rows]
    columns = (
        [ends.topics[topic] for topic in ends.topic[end].tolist()],
        ends.partition[end].tolist(),
        *map(_known, (table.committed[rows], ends.log_start[end], ends.log_end[end])),
        *map(_known, (ends.last_stable[end], table.lag[rows], table.lost[rows])),
        [PROBLEM_CODES[code] for code in table.problem[rows].tolist()],
        _owners(snapshot, rows),
    )
    keys = PartitionDocument.__annotations__
    made: list[Any] = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    return made


def _known(column: Ints) -> list[int | None]:
    return [None if value == UNKNOWN else value for value in column.tolist()]


def _owners(snapshot: ClusterSnapshot, rows: slice) -> list[str | None]:
    table, members = snapshot.offsets, snapshot.offsets.member[rows].tolist()
    owners: list[str | None] = [None] * len(members)
    first, last = np.searchsorted(table.bounds, (rows.start, rows.stop), side="right")
    for number in range(first - 1, min(last, len(snapshot.groups))):
        group, of_group = snapshot.groups[number], table.rows(number)
        for row in range(max(of_group.start, rows.start), min(of_group.stop, rows.stop)) if group.members else ():
            member = members[row - rows.start]
            owners[row - rows.start] = None if member == UNKNOWN else group.members[member].member_id
    return owners


def _member(member: Member) -> MemberDocument:
    return {
        "member_id": member.member_id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "rack": member.rack,
        "epoch": member.epoch,
        "assigned": [(tp.topic, tp.partition) for tp in member.assigned],
        "target": None if member.target is None else [(tp.topic, tp.partition) for tp in member.target],
    }
