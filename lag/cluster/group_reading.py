"""One group with the logs of its partitions, read and computed as a poll does."""

from collections.abc import Iterator
from dataclasses import replace

from kafka.future import Future

from assignors.model import TopicPartition
from lag.cluster import assemble
from lag.cluster.requests import committed, describe, group_offsets, log_offsets, metadata
from lag.cluster.requests.error_codes import CoordinatorNotReady
from lag.cluster.requests.metadata import Metadata
from lag.cluster.requests.poll_client import BrokerFailed, PollClient
from lag.cluster.requests.responses import CommittedOffsets, GroupDescription, LogOffsets
from lag.model import UNLISTED, ClusterSnapshot
from lag.offsets import PROBLEM_CODES, PartitionLag, PartitionProblem, known
from lag.reset.model import DEAD, Commit, GroupReading, Position


async def _list_groups(client: PollClient, node: int) -> list[GroupDescription]:
    """A broker that still loads a part of `__consumer_offsets` lists no group: that passes. Raises as `read_group`."""
    try:
        return await describe.list_groups(client, node)
    except BrokerFailed as failure:
        if failure.problem.kind == UNLISTED:
            raise CoordinatorNotReady(failure.problem.cause) from failure
        raise


async def read_group(
    client: PollClient, meta: Metadata, coordinator: int, group_id: str, topics: frozenset[str], at_ms: int
) -> GroupReading:
    """The group, with every partition of `topics` and of its commits.

    A group that is not listed may not exist, or may have another coordinator: the request for its offsets tells. Raises
    BrokerFailed, CoordinatorNotReady or UnsupportedRequest.
    """
    groups = [g for g in await _list_groups(client, coordinator) if g.group_id == group_id]
    commits = CommittedOffsets(topics={name: number for number, name in enumerate(sorted(topics))})
    await describe.describe_groups(client, coordinator, groups)
    await committed.fetch(client, coordinator, groups, commits)
    stored = await group_offsets.fetch(client, coordinator, group_id)
    if stored and not groups:
        raise CoordinatorNotReady(f"{group_id} has offsets and is not listed yet")
    named = [name for name in commits.topics if name in meta.topics]
    policies = await metadata.retention(client, named) if named else {}
    snapshot = assemble.snapshot(
        assemble.Read(
            cluster="",
            number=1,
            at_ms=at_ms,
            took_s=0.0,
            metadata=replace(meta, leaders={name: meta.leaders[name] for name in named}),
            brokers=meta.brokers,
            groups=groups,
            commits=commits,
            ends=await _ends(client, meta, named, commits),
            absent=await metadata.absent(client, sorted(set(commits.topics) - set(named))),
        )
    )
    compacted = {name: "compact" in (policy.cleanup_policy or "") for name, policy in policies.items()}
    positions = {
        row.tp: _position(row, stored.get(row.tp), meta, compacted)
        for row in _rows(snapshot, group_id)
        if row.committed is not None or row.tp.topic in topics
    }
    return _reading(meta, groups, group_id, at_ms, positions)


async def _ends(client: PollClient, meta: Metadata, named: list[str], commits: CommittedOffsets) -> LogOffsets:
    ends = LogOffsets()
    led = metadata.by_leader({name: meta.leaders[name] for name in named}, commits.topics)
    tasks: list[Future] = [client.start(log_offsets.fetch, client, node, parts, ends) for node, parts in led.items()]
    for task in tasks:
        await task
    return ends


def _rows(snapshot: ClusterSnapshot, group_id: str) -> Iterator[PartitionLag]:
    """Every partition that was read: first those without a commit, then the rows of the group."""
    ends = snapshot.offsets.ends
    for row in range(len(ends)):
        yield PartitionLag(
            tp=ends.tp(row),
            committed=None,
            log_start=known(ends.log_start[row]),
            log_end=known(ends.log_end[row]),
            last_stable=known(ends.last_stable[row]),
            lag_records=None,
            member_id=None,
            at_ms=snapshot.at_ms,
            problem=PROBLEM_CODES[ends.problem[row]] or PartitionProblem.NO_COMMIT,
        )
    group = snapshot.group(group_id)
    yield from group.partitions if group is not None else ()


def _position(row: PartitionLag, stored: Commit | None, meta: Metadata, compacted: dict[str, bool]) -> Position:
    """The metadata of the commit is that of a second answer: it counts if the offset is still the same."""
    same = stored is not None and stored.offset == row.committed
    topic = meta.topics.get(row.tp.topic)
    return Position(
        lag=row,
        metadata=stored.metadata if stored is not None and same else "",
        topic_id=None if topic is None else topic.topic_id,
        compacted=compacted.get(row.tp.topic),
    )


def _reading(
    meta: Metadata,
    groups: list[GroupDescription],
    group_id: str,
    at_ms: int,
    positions: dict[TopicPartition, Position],
) -> GroupReading:
    group = groups[0] if groups else None
    return GroupReading(
        cluster_id=meta.cluster_id,
        group_id=group_id,
        at_ms=at_ms,
        type=None if group is None else group.type,
        state=DEAD if group is None else group.state,
        epoch=None if group is None else group.epoch,
        members=() if group is None else group.members,
        positions=positions,
        problems=() if group is None else tuple(group.problems),
        coordinator=None if group is None else group.coordinator,
    )
