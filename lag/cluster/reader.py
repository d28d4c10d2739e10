"""One poll of a cluster: every group's state, members and commits, every partition's offsets, and what failed.

All brokers are asked at once and each fails alone: requests to a broker wait for each other, never for another
broker. Committed and end offsets are read side by side; a commit that seems to lie beyond the end is checked against
a second look at that end, so a record committed between the two reads is never taken for a truncated log.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kafka.future import Future

from lag.cluster import assemble, committed, describe, log_offsets, metadata, problems, unread_check
from lag.cluster.connect import Connection, open_manager
from lag.cluster.metadata import Metadata
from lag.cluster.requests import BrokerFailed, Unsupported, Wire
from lag.cluster.responses import Commits, Ends, RawGroup
from lag.cluster.settings import Settings
from lag.model import Broker, ClusterSnapshot, GroupType, Problem, Remainder, Scope
from lag.offsets import PartitionLag

RETENTION_EVERY = 30
"""Topic settings are read once in so many polls; they change rarely and cost a request per thousand topics."""


def open_reader(settings: Settings, cluster: str, deadline_s: float = 5.0) -> "ClusterReader":
    """Connect and make a reader. Raises ConfigError for unusable key material, ConnectError when no broker answers."""
    return ClusterReader(open_manager(settings), cluster, deadline_s)


class ClusterReader:
    """Reads one cluster, snapshot after snapshot, over connections that stay open."""

    def __init__(self, connection: Connection, cluster: str, deadline_s: float = 5.0) -> None:
        self._connection = connection
        self._cluster = cluster
        self._deadline_s = deadline_s
        self._polls = 0
        self._retention: dict[str, int] = {}
        self._leaders: Mapping[str, Sequence[int]] = {}

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        """Snapshot `number`, taken at `at_ms`. Raises ConnectError when no broker answers at all."""
        snapshot: ClusterSnapshot = self._connection.manager.run(self._read, number, at_ms)
        self._polls += 1
        return snapshot

    def left_to_read(self, rows: Sequence[PartitionLag]) -> list[Remainder]:
        """What is really left to read in each of `rows` of the last snapshot: a small fetch for each."""
        found: list[Remainder] = self._connection.manager.run(self._all_left, rows)
        return found

    async def _all_left(self, rows: Sequence[PartitionLag]) -> list[Remainder]:
        wire = Wire(self._connection.manager, self._deadline_s)
        return [await self._left(wire, row) for row in rows]

    async def _left(self, wire: Wire, row: PartitionLag) -> Remainder:
        leaders = self._leaders.get(row.tp.topic, ())
        if row.committed is None or row.log_end is None or row.tp.partition >= len(leaders):
            return Remainder.UNKNOWN
        node = leaders[row.tp.partition]
        return await unread_check.ask(wire, unread_check.Question(row.tp, row.committed, row.log_end, node))

    def broker_version(self) -> str:
        """The Kafka version that the APIs of the brokers tell; clients cannot see more of it."""
        return str(self._connection.manager.broker_version_data.broker_version_str)

    def group_types(self) -> frozenset[GroupType]:
        """The types of groups that the brokers can describe."""
        known = self._connection.manager.broker_version_data.api_versions
        return frozenset(kind for kind, api_key in describe.DESCRIBED_BY.items() if api_key in known)

    def close(self) -> None:
        """Close every connection."""
        self._connection.close()

    async def _read(self, number: int, at_ms: int) -> ClusterSnapshot:
        started = time.monotonic()
        manager = self._connection.manager
        wire = Wire(manager, self._deadline_s)
        meta = await metadata.fetch(wire, manager)
        self._leaders = meta.leaders
        poll = _Poll(wire, meta)
        await poll.run()
        await self._refresh_retention(wire, meta)
        meta = self._with_retention(meta)
        denied = await poll.denied()
        return assemble.snapshot(
            assemble.Read(
                cluster=self._cluster,
                number=number,
                at_ms=at_ms,
                took_s=time.monotonic() - started,
                metadata=meta,
                brokers=_brokers(wire, meta),
                groups=poll.groups,
                commits=poll.commits,
                ends=poll.ends,
                denied=denied,
                problems=tuple(poll.problems(denied)),
            )
        )

    async def _refresh_retention(self, wire: Wire, meta: Metadata) -> None:
        """Not in the first poll, which somebody is waiting for. What nobody tells this time stays as it was."""
        if self._polls % RETENTION_EVERY == 1:
            found = await metadata.retention(wire, [t.name for t in meta.topics.values() if not t.internal])
            known = self._retention | found
            self._retention = {name: kept for name, kept in known.items() if name in meta.topics}

    def _with_retention(self, meta: Metadata) -> Metadata:
        topics = {
            name: replace(topic, retention_ms=kept) if (kept := self._retention.get(name)) is not None else topic
            for name, topic in meta.topics.items()
        }
        return replace(meta, topics=topics)


@dataclass(slots=True, init=False)
class _Poll:
    """The conversations of one poll, a lane for groups and a lane for end offsets per broker."""

    wire: Wire
    meta: Metadata
    groups: list[RawGroup]
    commits: Commits
    ends: Ends
    unlisted: list[Problem]

    def __init__(self, wire: Wire, meta: Metadata) -> None:
        self.wire = wire
        self.meta = meta
        self.groups = []
        self.commits = Commits(topics={name: number for number, name in enumerate(meta.topics)})
        self.ends = Ends()
        self.unlisted = []

    async def run(self) -> None:
        led = metadata.by_leader(self.meta.leaders, self.commits.topics)
        spawn = self.wire.spawn
        lanes: list[Future] = [spawn(self._read_groups, broker.node_id) for broker in self.meta.brokers]
        lanes += [spawn(log_offsets.fetch, self.wire, node, partitions, self.ends) for node, partitions in led.items()]
        for lane in lanes:
            await lane
        await self._look_again()

    async def _read_groups(self, node: int) -> None:
        try:
            listed = await describe.list_groups(self.wire, node)
        except BrokerFailed as failure:
            self.unlisted.append(failure.problem)
            return
        except Unsupported as error:
            cause = f"broker {node} is too old to answer {error}"
            self.unlisted.append(Problem("unsupported", Scope.BROKER, str(node), cause))
            return
        self.groups += listed
        described = self.wire.spawn(describe.describe_groups, self.wire, node, listed)
        await committed.fetch(self.wire, node, listed, self.commits)
        await described

    async def _look_again(self) -> None:
        """Ask once more for the ends that a commit has passed: it may have been made between the two reads."""
        suspects = assemble.beyond_end(self.commits, self.ends)
        led: dict[int, dict[str, set[int]]] = {}
        for topic, partition in suspects:
            leaders = self.meta.leaders.get(topic, ())
            if partition < len(leaders):
                led.setdefault(leaders[partition], {}).setdefault(topic, set()).add(partition)
        for node, topics in led.items():
            partitions = [(name, self.commits.topics[name], sorted(parts)) for name, parts in topics.items()]
            await log_offsets.fetch(
                self.wire, node, partitions, self.ends, kinds=(log_offsets.LOG_END, log_offsets.LAST_STABLE)
            )

    async def denied(self) -> frozenset[str]:
        """Topics that groups name and the metadata does not: hidden from us, unless they are deleted."""
        owned = {tp.topic for group in self.groups for member in group.members for tp in member.assigned}
        named = owned | set(self.commits.topics)
        missing = sorted(named - set(self.meta.topics))
        return frozenset(await metadata.unauthorized(self.wire, missing)) if missing else frozenset()

    def problems(self, denied: frozenset[str]) -> list[Problem]:
        """All that failed or was refused. Groups of a coordinator that failed are not named: it is."""
        asked = (group for group in self.groups if group.coordinator not in self.wire.failed)
        of_groups = problems.gathered(problem for group in asked for problem in group.problems)
        of_brokers = problems.of_brokers(self.wire, self.meta, self.unlisted)
        return [*of_brokers, *of_groups, *problems.of_topics(denied)]


def _brokers(wire: Wire, meta: Metadata) -> tuple[Broker, ...]:
    def told(broker: Broker) -> Broker:
        traffic, failure = wire.traffic[broker.node_id], wire.failed.get(broker.node_id)
        return replace(
            broker,
            error=failure.cause if failure else None,
            requests=traffic.requests,
            busy_s=round(traffic.busy_s, 3),
            version=wire.version(broker.node_id),
        )

    return tuple(told(broker) for broker in meta.brokers)
