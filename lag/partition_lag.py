"""Offsets -> the lag of every partition of every group, or the reason why it is unknown. Pure: columns in, columns out.

The log end is the high watermark. If a commit is below the log start, the lag is counted from the log start, and the
records before it are lost. A commit beyond the end, a missing commit, a deleted topic or an unread end offset has a
reason instead of a lag.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lag.model import ClusterSnapshot, LagTotal
from lag.offsets import UNKNOWN, Codes, EndOffsets, Ints, OffsetTable, PartitionProblem, Problems, problem_code

NO_COMMIT = problem_code(PartitionProblem.NO_COMMIT)
BELOW_LOG_START = problem_code(PartitionProblem.BELOW_LOG_START)
BEYOND_END = problem_code(PartitionProblem.BEYOND_END)
TOPIC_DELETED = problem_code(PartitionProblem.TOPIC_DELETED)
LEADERLESS = problem_code(PartitionProblem.LEADERLESS)
UNAUTHORIZED = problem_code(PartitionProblem.UNAUTHORIZED)


@dataclass(frozen=True, slots=True, eq=False)
class CommittedRows:
    """(group, topic, partition) rows as read, in any order; topic numbers index `names` of `Catalog`.

    Arrays of length n: `group`, `topic`, `partition` and `member` (the owner's index within its group) int32,
    `committed` and `broker_lag` int64 (UNKNOWN if there is none), `problem` uint8.
    """

    group: Codes
    topic: Codes
    partition: Codes
    committed: Ints
    broker_lag: Ints
    problem: Problems
    member: Codes


@dataclass(frozen=True, slots=True, eq=False)
class LogOffsetRows:
    """Answers to ListOffsets; `kind` 0 log start, 1 log end, 2 last stable.

    Arrays of length n: `topic`, `partition` and `leader_epoch` int32, `kind` int8, `offset` int64, `problem` uint8.
    """

    topic: Codes
    partition: Codes
    kind: NDArray[np.int8]
    offset: Ints
    problem: Problems
    leader_epoch: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """Every topic name that occurs. `leaders[name]` lists a live topic's leaders; `denied` may not be described."""

    names: Sequence[str]
    leaders: Mapping[str, Sequence[int]]
    denied: frozenset[str] = frozenset()


def end_offsets(catalog: Catalog, answers: LogOffsetRows, named: CommittedRows) -> EndOffsets:
    """One row per live partition, and per partition that only `named` has: deleted, or we may not describe it."""
    order = np.argsort(np.array(catalog.names, dtype=object), kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    topics = tuple(catalog.names[i] for i in order)
    live, leader = _live(topics, catalog.leaders)
    keys = np.union1d(live, partition_key(rank[named.topic], named.partition))
    ends = _empty_ends(topics, keys)
    ends.leader[np.searchsorted(keys, live)] = leader
    _place(ends, keys, rank, answers)
    _mark_absent(ends, keys, live, catalog)
    return ends


def partition_key(topic: Codes, partition: Codes) -> Ints:
    """int64[n] keys that sort like (topic, partition); both are int32[n]."""
    return (topic.astype(np.int64) << 32) | partition.astype(np.int64)


def _live(topics: Sequence[str], leaders: Mapping[str, Sequence[int]]) -> tuple[Ints, Codes]:
    """Keys of all partitions in the metadata, sorted, and their leaders."""
    counts = np.array([len(leaders.get(name, ())) for name in topics], dtype=np.int64)
    topic = np.repeat(np.arange(len(topics), dtype=np.int64), counts)
    partition = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    nodes = np.fromiter((n for name in topics for n in leaders.get(name, ())), dtype=np.int32, count=len(topic))
    return (topic << 32) | partition, nodes


def _empty_ends(topics: tuple[str, ...], keys: Ints) -> EndOffsets:
    n = len(keys)
    return EndOffsets(
        topics=topics,
        topic=(keys >> 32).astype(np.int32),
        partition=(keys & 0xFFFFFFFF).astype(np.int32),
        leader=np.full(n, UNKNOWN, dtype=np.int32),
        log_start=np.full(n, UNKNOWN, dtype=np.int64),
        log_end=np.full(n, UNKNOWN, dtype=np.int64),
        last_stable=np.full(n, UNKNOWN, dtype=np.int64),
        leader_epoch=np.full(n, UNKNOWN, dtype=np.int32),
        problem=np.zeros(n, dtype=np.uint8),
    )


def _place(ends: EndOffsets, keys: Ints, rank: Codes, answers: LogOffsetRows) -> None:
    """Put each answer into its column; of several for the same partition the last wins."""
    at = np.searchsorted(keys, partition_key(rank[answers.topic], answers.partition))
    for kind, column in enumerate((ends.log_start, ends.log_end, ends.last_stable)):
        mine = (answers.kind == kind) & (answers.problem == 0)
        column[at[mine]] = answers.offset[mine]
    # The last stable offset is never beyond the end. If it seems to be, it was read later and the log has grown.
    np.maximum(ends.log_end, ends.last_stable, out=ends.log_end, where=ends.log_end != UNKNOWN)
    read, failed = ((answers.kind == 1) & which for which in (answers.problem == 0, answers.problem != 0))
    ends.leader_epoch[at[read]] = answers.leader_epoch[read]
    ends.problem[at[failed]] = answers.problem[failed]
    ends.problem[ends.log_end != UNKNOWN] = 0


def _mark_absent(ends: EndOffsets, keys: Ints, live: Ints, catalog: Catalog) -> None:
    absent = ~np.isin(keys, live, assume_unique=True)
    ends.problem[absent] = TOPIC_DELETED
    denied = np.array([name in catalog.denied for name in ends.topics], dtype=bool)
    if denied.any():
        ends.problem[absent & denied[ends.topic]] = UNAUTHORIZED
    ends.problem[~absent & (ends.leader == UNKNOWN)] = LEADERLESS
    unread = ~absent & (ends.problem == 0) & (ends.log_end == UNKNOWN)
    ends.problem[unread] = problem_code(PartitionProblem.ERROR)


def offset_table(at_ms: int, groups: int, catalog: Catalog, ends: EndOffsets, rows: CommittedRows) -> OffsetTable:
    """The rows sorted by (group, topic, partition), joined with the end offsets, each with its lag and verdict."""
    position = {name: number for number, name in enumerate(ends.topics)}
    rank = np.array([position[name] for name in catalog.names], dtype=np.int32)
    keys = partition_key(ends.topic, ends.partition)
    end = np.searchsorted(keys, partition_key(rank[rows.topic], rows.partition)).astype(np.int32)
    order = _once(np.lexsort((end, rows.group)), end, rows.group)
    end, group = end[order], rows.group[order]
    committed, given = rows.committed[order], rows.broker_lag[order]
    lag, lost, problem = verdicts(committed, given, rows.problem[order], ends, end)
    return OffsetTable(
        at_ms=at_ms,
        ends=ends,
        bounds=np.searchsorted(group, np.arange(groups + 1)).astype(np.int64),
        end=end,
        committed=committed,
        lag=lag,
        lost=lost,
        problem=problem,
        member=rows.member[order],
    )


def _once(order: NDArray[np.intp], end: Codes, group: Codes) -> NDArray[np.intp]:
    """Each (group, partition) once, the last of equal ones: after a failed write to the offsets topic, Kafka 4.3.1
    answers OffsetFetch with the same partition twice."""
    last = np.ones(len(order), np.bool_)
    last[:-1] = (group[order][1:] != group[order][:-1]) | (end[order][1:] != end[order][:-1])
    return order[last]


def verdicts(
    committed: Ints, broker_lag: Ints, given: Problems, ends: EndOffsets, end: Codes
) -> tuple[Ints, Ints, Problems]:
    """Lag, lost records (both UNKNOWN where there is none) and problem code of each row.

    A share group's lag is the broker's own count (KIP-1226), as records may be acknowledged out of order.
    Precedence of reasons: the topic is deleted or we may not describe it (brokers then hide its commits as well), the
    problem of reading the group, no commit, the problem of reading the end. All arrays have length n.
    """
    start, log_end, end_problem = ends.log_start[end], ends.log_end[end], ends.problem[end]
    has_commit = committed != UNKNOWN
    problem = np.where(has_commit, end_problem, NO_COMMIT).astype(np.uint8)
    problem = np.where(given != 0, given, problem)
    hidden = (end_problem == TOPIC_DELETED) | (end_problem == UNAUTHORIZED)
    problem = np.where(hidden, end_problem, problem).astype(np.uint8)

    sound = problem == 0
    beyond = sound & (committed > log_end)
    below = sound & (start != UNKNOWN) & (committed < start)
    lag = np.where(sound & ~beyond, log_end - np.maximum(committed, start), UNKNOWN)
    lag = np.where(sound & (broker_lag != UNKNOWN), broker_lag, lag)
    lost = np.where((lag != UNKNOWN) & (start != UNKNOWN), np.maximum(start - committed, 0), UNKNOWN)
    problem[beyond], problem[below] = BEYOND_END, BELOW_LOG_START
    return lag, lost, problem


def totals(snapshot: ClusterSnapshot) -> list[LagTotal]:
    """One sum per group, each saying for how many of its partitions the lag is known."""
    return totals_of(snapshot.offsets, [group.complete and not group.members for group in snapshot.groups])


def totals_of(table: OffsetTable, none_is_zero: Sequence[bool]) -> list[LagTotal]:
    """The sums of the groups of a table; `none_is_zero`: bool[n_groups], whether the lag is 0 without rows."""
    columns = (*_known_sums(table.lag, table.bounds), *_known_sums(table.lost, table.bounds), np.diff(table.bounds))
    return [
        LagTotal(
            records=lag if known or (not n and zero) else None,
            known=known,
            partitions=n,
            lost_records=lost if lost_known or (not n and zero) else None,
        )
        for lag, known, lost, lost_known, n, zero in zip(*map(np.ndarray.tolist, columns), none_is_zero, strict=True)
    ]


def _known_sums(column: Ints, bounds: Ints) -> tuple[Ints, Ints]:
    """The sum of the known values per group, and how many these are."""
    is_known = column != UNKNOWN
    return _sums(np.where(is_known, column, 0), bounds), _sums(is_known.astype(np.int64), bounds)


def _sums(column: Ints, bounds: Ints) -> Ints:
    """Sum per group; a group without rows sums to 0, which `reduceat` would get wrong."""
    running = np.concatenate(([0], np.cumsum(column)))
    return running[bounds[1:]] - running[bounds[:-1]]
