"""Small clusters made by hand, as the reader would report them: end offsets, groups, offset tables, snapshots.

    ends = {"orders-0": end(120, start=20), "gone-0": deleted()}
    snapshot = cluster({"billing": group({"orders-0": 100, "gone-0": 7})}, ends, number=3, at_ms=20_000)

    health = judged([snapshot, …])

Lag, lost records and problems are what `partition_lag` says. `row_problems` and `broker_lag` (share groups) of a group
stand for what reading its offsets gave.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from assignors.model import TopicPartition
from lag import partition_lag
from lag.model import Broker, ClusterSnapshot, GroupSnapshot, GroupType, Member, Problem, Topic
from lag.offsets import UNKNOWN, EndOffsets, OffsetTable, PartitionProblem, PartitionRows, problem_code
from lag.verdict.health import Health
from lag.verdict.judge import Past, judge
from lag.verdict.rules.status_rules import Rules
from lag.verdict.window.sample_window import SampleRing

CLUSTER = "test"
BROKERS = (Broker(1, "b1", 9092), Broker(2, "b2", 9092), Broker(3, "b3", 9092))


@dataclass(frozen=True)
class End:
    """The end of one partition; None is not known."""

    log_end: int | None
    start: int | None = 0
    stable: int | None = None
    leader: int = 1
    problem: PartitionProblem | None = None
    leader_epoch: int | None = None


@dataclass(frozen=True)
class GroupSpec:
    """What one group has committed (None: assigned or subscribed, but never committed), and who is in it."""

    committed: Mapping[str, int | None]
    members: tuple[Member, ...] = ()
    state: str = "Stable"
    type: GroupType = GroupType.CLASSIC
    coordinator: int | None = 1
    complete: bool = True
    problems: tuple[Problem, ...] = ()
    row_problems: Mapping[str, PartitionProblem] = field(default_factory=dict)
    broker_lag: Mapping[str, int] = field(default_factory=dict)
    protocol_type: str = "consumer"
    epoch: int | None = None
    assignment_epoch: int | None = None


def end(log_end: int | None, start: int | None = 0, stable: int | None = None, leader: int = 1) -> End:
    """A partition that answers; `stable` defaults to the log end."""
    return End(log_end, start, log_end if stable is None else stable, leader)


def deleted() -> End:
    """A partition of a topic that the cluster no longer has."""
    return End(None, None, None, UNKNOWN, PartitionProblem.TOPIC_DELETED)


def failed(problem: PartitionProblem = PartitionProblem.LEADERLESS) -> End:
    """A partition whose end offsets could not be read."""
    return End(None, None, None, UNKNOWN, problem)


def group(committed: Mapping[str, int | None], members: int | Sequence[Member] = 1, **rest: object) -> GroupSpec:
    """A group; `members` as a number makes m0, m1, … that share the partitions in turn."""
    made = _members(committed, members) if isinstance(members, int) else tuple(members)
    return replace(GroupSpec(dict(committed), made), **rest)  # type: ignore[arg-type]


def cluster(
    groups: Mapping[str, GroupSpec],
    ends: Mapping[str, End],
    number: int = 1,
    at_ms: int = 0,
    *,
    topic_ids: Mapping[str, str] | None = None,
    brokers: Sequence[Broker] = BROKERS,
    problems: Sequence[Problem] = (),
    complete: bool = True,
) -> ClusterSnapshot:
    """A whole snapshot. Topics whose partitions are all `deleted()` are missing from its topics."""
    order, topics = sorted(groups), _topics(ends, topic_ids or {})
    table = offset_table([groups[name] for name in order], end_offsets(ends), at_ms)
    return ClusterSnapshot(
        cluster=CLUSTER,
        cluster_id="id-test",
        number=number,
        at_ms=at_ms,
        took_s=0.1,
        complete=complete and not problems,
        brokers=tuple(brokers),
        controller=1,
        groups=tuple(_group(name, groups[name], table, i, topics) for i, name in enumerate(order)),
        topics=topics,
        offsets=table,
        problems=tuple(problems),
    )


def end_offsets(ends: Mapping[str, End]) -> EndOffsets:
    """The columns of those partitions, keys being "topic-partition"."""
    order = sorted(ends, key=tp)
    topics = tuple(sorted({tp(key).topic for key in order}))
    rows = [ends[key] for key in order]
    return EndOffsets(
        topics=topics,
        topic=np.array([topics.index(tp(key).topic) for key in order], np.int32),
        partition=np.array([tp(key).partition for key in order], np.int32),
        leader=np.array([row.leader for row in rows], np.int32),
        log_start=_ints(row.start for row in rows),
        log_end=_ints(row.log_end for row in rows),
        last_stable=_ints(row.stable for row in rows),
        leader_epoch=_ints(row.leader_epoch for row in rows).astype(np.int32),
        problem=np.array([problem_code(row.problem) for row in rows], np.uint8),
    )


def offset_table(groups: Sequence[GroupSpec], ends: EndOffsets, at_ms: int = 0) -> OffsetTable:
    """The columns of those groups, in that order."""
    where = {ends.tp(row): row for row in range(len(ends))}
    rows = [(spec, key) for spec in groups for key in sorted(spec.committed, key=tp)]
    end = np.array([where[tp(key)] for _, key in rows], np.int32)
    committed = _ints(spec.committed[key] for spec, key in rows)
    given = np.array([problem_code(spec.row_problems.get(key)) for spec, key in rows], np.uint8)
    broker_lag = _ints(spec.broker_lag.get(key) for spec, key in rows)
    lag, lost, problem = partition_lag.verdicts(committed, broker_lag, given, ends, end)
    return OffsetTable(
        at_ms=at_ms,
        ends=ends,
        bounds=np.cumsum([0, *(len(spec.committed) for spec in groups)], dtype=np.int64),
        end=end,
        committed=committed,
        lag=lag,
        lost=lost,
        problem=problem,
        member=np.array([_owner(spec, tp(key)) for spec, key in rows], np.int32),
    )


def judged(polls: Iterable[ClusterSnapshot], rules: Rules | None = None) -> Health:
    """What is known after those polls: the health of the last one."""
    ring, past = SampleRing(), Past()
    for snapshot in polls:
        past = replace(past, idle=past.idle.after(snapshot))
        health = judge(snapshot, ring.append(snapshot), rules, past=past)
        past = replace(past, onsets=health.onsets or past.onsets)
    return health


def tp(key: str) -> TopicPartition:
    """ "orders-7" as a topic partition."""
    topic, _, partition = key.rpartition("-")
    return TopicPartition(topic, int(partition))


def _members(committed: Mapping[str, int | None], count: int) -> tuple[Member, ...]:
    order = sorted(committed, key=tp)
    return tuple(
        Member(f"m{i}", client_id=f"c{i}", host=f"10.0.0.{i}", assigned=tuple(tp(key) for key in order[i::count]))
        for i in range(count)
    )


def _owner(spec: GroupSpec, wanted: TopicPartition) -> int:
    return next((i for i, member in enumerate(spec.members) if wanted in member.assigned), UNKNOWN)


def _group(name: str, spec: GroupSpec, table: OffsetTable, at: int, topics: Mapping[str, Topic]) -> GroupSnapshot:
    named = {topic for member in spec.members for topic in (*member.topics, *(tp.topic for tp in member.assigned))}
    return GroupSnapshot(
        cluster=CLUSTER,
        group_id=name,
        type=spec.type,
        state=spec.state,
        coordinator=spec.coordinator,
        assignor="range",
        epoch=spec.epoch,
        members=spec.members,
        partitions=PartitionRows(table, table.rows(at), [member.member_id for member in spec.members]),
        at_ms=table.at_ms,
        complete=spec.complete,
        assignment_epoch=spec.assignment_epoch,
        problems=spec.problems,
        protocol_type=spec.protocol_type,
        missing_topics=tuple(sorted(named - topics.keys())),
    )


def _topics(ends: Mapping[str, End], ids: Mapping[str, str]) -> dict[str, Topic]:
    live = [tp(key) for key, row in ends.items() if row.problem is not PartitionProblem.TOPIC_DELETED]
    names = sorted({partition.topic for partition in live})
    return {
        name: Topic(name, ids.get(name, f"id-{name}"), 1 + max(p.partition for p in live if p.topic == name))
        for name in names
    }


def _ints(values: Iterable[int | None]) -> np.ndarray:
    return np.array([UNKNOWN if value is None else value for value in values], np.int64)
