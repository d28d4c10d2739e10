"""One poll of a cluster: state, members and commits of every group, offsets of every partition, and what failed.

All brokers are asked at the same time and fail independently. Committed offsets and log ends are read concurrently; if
a commit is beyond the end that was read, the end is read again, since records may have arrived between the two reads.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kafka.future import Future

from lag.cluster import assemble, problems, unread_check
from lag.cluster.connection.connect import Connection, open_manager
from lag.cluster.connection.settings import Settings
from lag.cluster.hidden_groups import ListedGroups
from lag.cluster.requests import committed, describe, log_offsets, metadata
from lag.cluster.requests.coordinators import NOT_VISIBLE, moved, one_per_id
from lag.cluster.requests.metadata import Metadata
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest
from lag.cluster.requests.responses import CommittedOffsets, GroupDescription, LogOffsets
from lag.merged_problems import merged, of_topics
from lag.model import Broker, ClusterSnapshot, GroupType, Problem, Scope, Unread, UnreadRange

RETENTION_EVERY = 30
"""Topic settings are read in every n-th poll: they change rarely and need a request per thousand topics."""


def open_reader(settings: Settings, cluster: str, deadline_s: float = 5.0) -> "ClusterReader":
    """A connected reader. Raises ConfigError for unusable key material, ConnectError if no broker answers."""
    return ClusterReader(open_manager(settings), cluster, deadline_s)


class ClusterReader:
    """Reads snapshots of one cluster over connections that stay open."""

    def __init__(self, connection: Connection, cluster: str, deadline_s: float = 5.0) -> None:
        self._connection = connection
        self._cluster = cluster
        self._deadline_s = deadline_s
        self._polls = 0
        self._retention: dict[str, metadata.Retention] = {}
        self._leaders: Mapping[str, Sequence[int]] = {}
        self._failed: dict[int, Problem] = {}
        self._coordinators = NOT_VISIBLE
        self._listed = ListedGroups()

    def read(self, number: int, at_ms: int) -> ClusterSnapshot:
        """Snapshot `number`, taken at `at_ms`. Raises ConnectError if no broker answers."""
        snapshot = self._connection.manager.run(self._read, number, at_ms)
        self._polls += 1
        return snapshot

    def unread(self, ranges: Sequence[UnreadRange]) -> list[Unread | None]:
        """What read_committed consumers still read in `ranges`: a few small fetches; None where there was no time."""
        return self._connection.manager.run(self._unread, ranges)

    async def _unread(self, ranges: Sequence[UnreadRange]) -> list[Unread | None]:
        client = PollClient(self._connection.manager, self._deadline_s)
        client.failed |= self._failed  # a broker that was silent in this poll does not cost another deadline
        return await unread_check.check(client, self._leaders, ranges)

    def broker_version(self) -> str:
        """The Kafka version that follows from the APIs of the brokers; clients cannot see the exact version."""
        return str(self._connection.manager.broker_version_data.broker_version_str)

    def group_types(self) -> frozenset[GroupType]:
        """The group types that the brokers can describe."""
        known = self._connection.manager.broker_version_data.api_versions
        return frozenset(kind for kind, api_key in describe.DESCRIBED_BY.items() if api_key in known)

    def close(self) -> None:
        """Close every connection."""
        self._connection.close()

    async def _read(self, number: int, at_ms: int) -> ClusterSnapshot:
        started = time.monotonic()
        manager = self._connection.manager
        client = PollClient(manager, self._deadline_s)
        meta = await metadata.fetch(client, manager)
        self._leaders = meta.leaders
        poll = _Poll(client, replace(meta, coordinators=self._coordinators.newest(meta.coordinators)))
        await poll.run()
        self._coordinators = poll.meta.coordinators
        await self._refresh_retention(client, poll.meta)
        meta = self._with_retention(poll.meta)
        absent = await poll.absent()
        hidden = await self._listed.hidden(client, poll.groups, meta.coordinators)
        self._failed = client.failed
        return assemble.snapshot(
            assemble.Read(
                cluster=self._cluster,
                number=number,
                at_ms=at_ms,
                took_s=time.monotonic() - started,
                metadata=meta,
                brokers=tuple(_broker(client, broker) for broker in meta.brokers),
                groups=poll.groups,
                commits=poll.commits,
                ends=poll.ends,
                absent=absent,
                problems=tuple(poll.problems(absent.denied, hidden)),
            )
        )

    async def _refresh_retention(self, client: PollClient, meta: Metadata) -> None:
        """Not in the first poll, for which a user waits. If no broker answers, the last values stay."""
        if self._polls % RETENTION_EVERY == 1:
            found = await metadata.retention(client, list(meta.topics))
            known = self._retention | found
            self._retention = {name: value for name, value in known.items() if name in meta.topics}

    def _with_retention(self, meta: Metadata) -> Metadata:
        topics = {
            name: replace(topic, **known._asdict()) if (known := self._retention.get(name)) is not None else topic
            for name, topic in meta.topics.items()
        }
        return replace(meta, topics=topics)


class _Poll:
    """The requests of one poll: per broker, one task for its groups and one for the log offsets that it serves."""

    def __init__(self, client: PollClient, meta: Metadata) -> None:
        self.client, self.meta = client, meta
        self.groups: list[GroupDescription] = []
        self.commits = CommittedOffsets(topics={name: number for number, name in enumerate(meta.topics)})
        self.ends = LogOffsets()
        self.unlisted: list[Problem] = []
        self.moved: list[Problem] = []

    async def run(self) -> None:
        led = metadata.by_leader(self.meta.leaders, self.commits.topics)
        start = self.client.start
        tasks: list[Future] = [start(self._read_groups, broker.node_id) for broker in self.meta.brokers]
        tasks += [
            start(log_offsets.fetch, self.client, node, partitions, self.ends) for node, partitions in led.items()
        ]
        for task in tasks:
            await task
        await self._keep_one_answer_per_group()
        await self._read_ends_again()

    async def _read_groups(self, node: int) -> None:
        try:
            listed = await describe.list_groups(self.client, node)
        except BrokerFailed as failure:
            self.unlisted.append(failure.problem)
            return
        except UnsupportedRequest as error:
            cause = f"broker {node} is too old to answer {error}"
            self.unlisted.append(Problem("unsupported", Scope.BROKER, str(node), cause))
            return
        self.groups += listed
        described = self.client.start(describe.describe_groups, self.client, node, listed)
        await committed.fetch(self.client, node, listed, self.commits)
        await described

    async def _keep_one_answer_per_group(self) -> None:
        """Drop what brokers listed that are no longer the coordinator, such as one that was frozen."""
        known = self.meta.coordinators
        if len({group.group_id for group in self.groups}) < len(self.groups) or any(map(known.has_lost, self.groups)):
            known = await metadata.newest_coordinators(self.client, known)
            self.meta = replace(self.meta, coordinators=known)
        kept = one_per_id(self.groups, known)
        if len(kept) < len(self.groups):
            self.moved = moved(self.groups, kept)
            self.groups, self.commits = kept, self.commits.of_groups(kept)

    async def _read_ends_again(self) -> None:
        """Read again the log ends that a commit is beyond."""
        suspects = assemble.beyond_end(self.commits, self.ends)
        led: dict[int, dict[str, set[int]]] = {}
        for topic, partition in suspects:
            leaders = self.meta.leaders.get(topic, ())
            if partition < len(leaders):
                led.setdefault(leaders[partition], {}).setdefault(topic, set()).add(partition)
        for node, topics in led.items():
            partitions = [(name, self.commits.topics[name], sorted(parts)) for name, parts in topics.items()]
            await log_offsets.fetch(
                self.client, node, partitions, self.ends, kinds=(log_offsets.LOG_END, log_offsets.LAST_STABLE)
            )

    async def absent(self) -> metadata.Absent:
        """Topics that groups use and the metadata does not have: some may be hidden from us."""
        named = set(self.commits.topics).union(*map(assemble.topics_of_members, self.groups))
        unseen = sorted(named - set(self.meta.topics))
        return await metadata.absent(self.client, unseen) if unseen else metadata.Absent()

    def problems(self, denied: frozenset[str], hidden: list[Problem]) -> list[Problem]:
        """Everything that failed. The groups of a coordinator that failed are not listed, only the coordinator."""
        asked = (group for group in self.groups if group.coordinator not in self.client.failed)
        of_groups = merged([*(problem for group in asked for problem in group.problems), *hidden])
        of_brokers = problems.of_brokers(self.client, self.meta, self.unlisted)
        return [*of_brokers, *self.moved, *of_groups, *of_topics(denied)]


def _broker(client: PollClient, broker: Broker) -> Broker:
    stats, failure = client.stats[broker.node_id], client.failed.get(broker.node_id)
    return replace(
        broker,
        error=failure.cause if failure else None,
        requests=stats.requests,
        busy_s=round(stats.busy_s, 3),
        version=client.version(broker.node_id),
    )
