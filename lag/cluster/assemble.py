"""The answers of the brokers -> one immutable snapshot."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lag.cluster.requests.log_offsets import LOG_END
from lag.cluster.requests.metadata import NO_LEADER, Absent, Metadata
from lag.cluster.requests.responses import CommittedOffsets, GroupDescription, LogOffsets
from lag.model import (
    Broker,
    ClusterSnapshot,
    GroupSnapshot,
    GroupType,
    Problem,
    is_internal_group,
)
from lag.offsets import UNKNOWN, OffsetTable, PartitionRows, problem_code
from lag.partition_lag import Catalog, CommittedRows, LogOffsetRows, end_offsets, offset_table, partition_key
from lag.verdict.rules.status_rules import is_complete

FEWEST_BEFORE = 2
"""Partitions of a topic before it grew."""


@dataclass(frozen=True, slots=True)
class Read:
    """The answers of one poll; `absent` are topics that groups use and that the metadata does not have."""

    cluster: str
    number: int
    at_ms: int
    took_s: float
    metadata: Metadata
    brokers: tuple[Broker, ...]
    groups: list[GroupDescription]
    commits: CommittedOffsets
    ends: LogOffsets
    absent: Absent = field(default_factory=Absent)
    problems: tuple[Problem, ...] = ()


def snapshot(read: Read) -> ClusterSnapshot:
    """The snapshot of a poll: groups by id, every row with its lag or its problem."""
    groups = sorted(read.groups, key=lambda group: group.group_id)
    table = _table(read, groups)
    built = tuple(_group(read, table, number, group) for number, group in enumerate(groups))
    return ClusterSnapshot(
        cluster=read.cluster,
        cluster_id=read.metadata.cluster_id,
        number=read.number,
        at_ms=read.at_ms,
        took_s=read.took_s,
        complete=is_complete(read.problems, built, table.ends),
        brokers=read.brokers,
        controller=read.metadata.controller,
        groups=built,
        topics=read.metadata.topics,
        offsets=table,
        problems=read.problems,
        offsets_leaders=_offsets_leaders(read.metadata),
    )


def _offsets_leaders(metadata: Metadata) -> tuple[int | None, ...]:
    return tuple(None if at.node == NO_LEADER else at.node for at in metadata.coordinators.leaders)


def _group(read: Read, table: OffsetTable, number: int, group: GroupDescription) -> GroupSnapshot:
    member_ids = tuple(member.member_id for member in group.members)
    return GroupSnapshot(
        cluster=read.cluster,
        group_id=group.group_id,
        type=group.type,
        state=group.state,
        coordinator=group.coordinator,
        assignor=group.assignor,
        epoch=group.epoch,
        members=group.members,
        partitions=PartitionRows(table, table.rows(number), member_ids),
        at_ms=read.at_ms,
        complete=not group.problems,
        assignment_epoch=group.assignment_epoch,
        problems=tuple(group.problems),
        internal=is_internal_group(group.group_id),
        protocol_type=group.protocol_type,
        missing_topics=tuple(sorted(read.absent.missing & topics_of_members(group))) if read.absent.missing else (),
    )


def topics_of_members(group: GroupDescription) -> set[str]:
    """The topics that members subscribe to or are assigned."""
    subscribed = {topic for member in group.members for topic in member.topics}
    return subscribed | {tp.topic for member in group.members for tp in member.assigned}


def _table(read: Read, groups: list[GroupDescription]) -> OffsetTable:
    rows = _rows(groups, read.commits, read.metadata)
    catalog = Catalog(tuple(read.commits.topics), read.metadata.leaders, read.absent.denied)
    ends = end_offsets(catalog, _end_rows(read.ends), rows)
    return offset_table(read.at_ms, len(groups), catalog, ends, rows)


def _end_rows(ends: LogOffsets) -> LogOffsetRows:
    return LogOffsetRows(
        topic=np.asarray(ends.topic),
        partition=np.asarray(ends.partition),
        kind=np.asarray(ends.kind),
        offset=np.asarray(ends.offset),
        problem=np.asarray(ends.problem),
        leader_epoch=np.asarray(ends.leader_epoch),
    )


def _rows(groups: list[GroupDescription], commits: CommittedOffsets, metadata: Metadata) -> CommittedRows:
    """One row per commit, with its owner, and one per partition that a group owns or subscribes to without a commit.

    Where no member tells what the group subscribes to, partitions that were added to the topics of its commits count.
    """
    position = {group.group_id: number for number, group in enumerate(groups)}
    renumber = np.array([position[group.group_id] for group in commits.groups], dtype=np.int32)
    owner = np.full(len(commits.group), UNKNOWN, dtype=np.int32)
    added: list[tuple[int, int, int, int, int]] = []
    spans = _spans(commits)
    for number, group in enumerate(groups):
        if group.members:
            rest = _own(group, spans.get(group.group_id, range(0)), commits, metadata, owner)
            problem = problem_code(group.offsets_problem) if group.offsets_problem else 0
            added += [(number, topic, partition, problem, member) for (topic, partition), member in rest.items()]
    untold = np.array([_tells_nothing(group) for group in commits.groups], np.bool_)
    added += [(int(renumber[g]), topic, p, 0, UNKNOWN) for g, topic, p in _without_commit(commits, metadata, untold)]
    columns = np.fromiter(chain.from_iterable(added), np.int64).reshape(-1, 5).T
    extra_group, extra_topic, extra_partition, extra_problem, extra_member = columns
    no_offset = np.full(len(added), UNKNOWN)
    return CommittedRows(
        group=_append(renumber[np.asarray(commits.group)], extra_group),
        topic=_append(np.asarray(commits.topic), extra_topic),
        partition=_append(np.asarray(commits.partition), extra_partition),
        committed=_append(np.asarray(commits.offset), no_offset),
        broker_lag=_append(np.asarray(commits.lag), no_offset),
        problem=_append(np.asarray(commits.problem), extra_problem),
        member=_append(owner, extra_member),
    )


def _tells_nothing(group: GroupDescription) -> bool:
    """Whether the group was read, is no share group (which lists its partitions), and no member tells what it reads."""
    if group.problems or group.offsets_problem or group.type == GroupType.SHARE:
        return False
    return not any(member.topics or member.topic_regex or member.assigned for member in group.members)


def _without_commit(
    commits: CommittedOffsets, metadata: Metadata, wanted: NDArray[np.bool_]
) -> Iterator[tuple[int, int, int]]:
    """(group, topic, partition) numbers of partitions that a topic got after a group had committed all of it.

    That is how it looks when commits cover the first partitions, at least two, and no others: a consumer that assigns
    itself a part of the topic seldom has just these. Groups are numbered as in `commits`; `wanted`: bool[n_groups].
    """
    names = list(commits.topics)
    width = np.array([len(metadata.leaders.get(name, ())) for name in names], np.int64)
    group, topic, partition = (
        np.asarray(column, np.int64) for column in (commits.group, commits.topic, commits.partition)
    )
    rows = np.flatnonzero(wanted[group]) if len(group) else group
    pairs, of_row, counts = np.unique((group[rows] << 32) | topic[rows], return_inverse=True, return_counts=True)
    last = np.zeros(len(pairs), np.int64)
    np.maximum.at(last, of_row, partition[rows])
    grew = (counts == last + 1) & (counts >= FEWEST_BEFORE) & (counts < width[pairs & 0xFFFFFFFF])
    for pair, first in zip(pairs[grew].tolist(), counts[grew].tolist(), strict=True):
        of_topic = pair & 0xFFFFFFFF
        yield from ((pair >> 32, of_topic, each) for each in range(first, width[of_topic]))


def _append(column: NDArray, more: NDArray) -> NDArray:  # type: ignore[type-arg]
    return np.concatenate((column, more.astype(column.dtype)))


def _spans(commits: CommittedOffsets) -> dict[str, range]:
    """Group id -> its rows in `commits`."""
    bounds = [*commits.first, len(commits.group)]
    return {group.group_id: range(*bounds[number : number + 2]) for number, group in enumerate(commits.groups)}


def _own(
    group: GroupDescription, span: range, commits: CommittedOffsets, metadata: Metadata, owner: NDArray[np.int32]
) -> dict[tuple[int, int], int]:
    """Put the owner of each row of the group into `owner`; returns its partitions without a commit, with their owners.

    By (topic number, partition); UNKNOWN where the group subscribes to the topic and nobody owns the partition.
    """
    owners = _owners(group, commits)
    for row in span:
        owner[row] = owners.pop((commits.topic[row], commits.partition[row]), UNKNOWN)
    committed = {(commits.topic[row], commits.partition[row]) for row in span}
    uncommitted = {key: UNKNOWN for key in _subscribed(group, commits, metadata) if key not in committed}
    return uncommitted | owners


def _owners(group: GroupDescription, commits: CommittedOffsets) -> dict[tuple[int, int], int]:
    """(topic number, partition) -> index of its owner; UNKNOWN if several members have it (share groups)."""
    owners: dict[tuple[int, int], int] = {}
    for index, member in enumerate(group.members):
        for tp in member.assigned:
            key = (commits.topic_number(tp.topic), tp.partition)
            owners[key] = UNKNOWN if key in owners else index
    return owners


def _subscribed(group: GroupDescription, commits: CommittedOffsets, metadata: Metadata) -> Iterable[tuple[int, int]]:
    """Every partition of the topics that the members subscribe to; none for share groups, which list theirs."""
    if group.type == GroupType.SHARE:
        return
    for topic in sorted({topic for member in group.members for topic in member.topics}):
        number = commits.topic_number(topic)
        for partition in range(len(metadata.leaders.get(topic, ()))):
            yield number, partition


def beyond_end(commits: CommittedOffsets, ends: LogOffsets) -> list[tuple[str, int]]:
    """(topic, partition) of the commits that are beyond the log end that was read, each once."""
    answers = _end_rows(ends)
    read = (answers.kind == LOG_END) & (answers.problem == 0)
    keys = partition_key(answers.topic[read], answers.partition[read])
    order = np.argsort(keys)
    keys, offsets = keys[order], answers.offset[read][order]
    mine = partition_key(np.asarray(commits.topic), np.asarray(commits.partition))
    at = np.searchsorted(keys, mine)
    found = at < len(keys)
    found[found] = keys[at[found]] == mine[found]
    found[found] = np.asarray(commits.offset)[found] > offsets[at[found]]
    names = list(commits.topics)
    return [(names[key >> 32], key & 0xFFFFFFFF) for key in np.unique(mine[found]).tolist()]
