"""Reads and changes one group: the `GroupWriter` of `lag.reset.access`, over connections that stay open.

Every call asks the brokers. A group is read as in a poll (`lag.cluster.reader`), so its lag is that of a snapshot.
"""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from typing import Any, TypeVar

from assignors.model import TopicPartition
from lag.cluster.connection.connect import Connection, open_manager
from lag.cluster.connection.settings import Settings
from lag.cluster.group_reading import read_group
from lag.cluster.requests import group_changes, group_offsets, log_offsets, metadata, record_heads
from lag.cluster.requests.error_codes import CoordinatorNotReady
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest
from lag.errors import ConnectError, ResetRefused
from lag.reset.access import Errors
from lag.reset.model import Commit, GroupReading, RecordHead
from lag.times import wall_clock_ms

Result = TypeVar("Result")
REASON = "removed with groupscope"
NO_LEADER = "the partition has no leader"
RETRY_S = 0.2


def open_group_client(settings: Settings, deadline_s: float = 10.0) -> "GroupClient":
    """A connected client. Raises ConfigError for unusable key material, ConnectError if no broker answers."""
    return GroupClient(open_manager(settings), deadline_s)


class GroupClient:
    """See `lag.reset.access.GroupWriter`. Methods raise ConnectError, and ResetRefused if a broker refuses to read."""

    def __init__(self, connection: Connection, deadline_s: float = 10.0) -> None:
        self._connection = connection
        self._deadline_s = deadline_s

    def close(self) -> None:
        """Close every connection."""
        self._connection.close()

    def topics(self) -> Mapping[str, int]:
        """See `GroupAccess`."""
        return self._run(self._topics)

    def read(self, group_id: str, topics: Collection[str]) -> GroupReading:
        """See `GroupAccess`."""
        return self._run(self._read, group_id, frozenset(topics))

    def offsets_at(
        self, partitions: Collection[TopicPartition], timestamp_ms: int
    ) -> Mapping[TopicPartition, int | str]:
        """See `GroupAccess`."""
        return self._run(self._offsets_at, list(partitions), timestamp_ms)

    def first_records(
        self, offsets: Mapping[TopicPartition, int], most_records: int = 1, with_values: bool = False
    ) -> Mapping[TopicPartition, tuple[RecordHead, ...] | str]:
        """See `GroupAccess`."""
        return self._run(self._first_records, offsets, most_records, with_values) if offsets else {}

    def count_records(self, ranges: Mapping[TopicPartition, tuple[int, int]]) -> Mapping[TopicPartition, int | str]:
        """See `GroupAccess`."""
        return self._run(self._count_records, ranges) if ranges else {}

    def commits(self, group_id: str) -> Mapping[TopicPartition, Commit]:
        """See `GroupWriter`."""
        return self._run(self._to_coordinator, group_offsets.fetch, group_id)

    def commit(self, group_id: str, offsets: Mapping[TopicPartition, Commit]) -> Errors:
        """See `GroupWriter`."""
        return self._run(self._to_coordinator, group_offsets.commit, group_id, offsets)

    def delete_offsets(self, group_id: str, partitions: Collection[TopicPartition]) -> Errors:
        """See `GroupWriter`."""
        return self._run(self._to_coordinator, group_offsets.delete, group_id, partitions)

    def delete_group(self, group_id: str) -> str | None:
        """See `GroupWriter`."""
        refused: str | None = self._run(self._to_coordinator, group_changes.delete_group, group_id)
        return refused

    def remove_member(self, group_id: str, instance_id: str) -> str | None:
        """See `GroupWriter`."""
        change = group_changes.remove_member
        refused: str | None = self._run(self._to_coordinator, change, group_id, instance_id, REASON)
        return refused

    def _run(self, work: Callable[..., Coroutine[Any, Any, Result]], *args: object) -> Result:
        """Raises ConnectError for a broker that does not answer, or is too old."""
        client = PollClient(self._connection.manager, self._deadline_s)
        try:
            return self._connection.manager.run(work, client, *args)
        except BrokerFailed as failure:
            raise ConnectError(failure.problem.cause, failure.problem.hint) from failure
        except UnsupportedRequest as error:
            raise ResetRefused(f"The brokers are too old to answer {error}", "Use Kafka 2.4 or newer") from error

    async def _topics(self, client: PollClient) -> Mapping[str, int]:
        meta = await metadata.fetch(client, self._connection.manager)
        return {name: topic.partitions for name, topic in meta.topics.items()}

    async def _read(self, client: PollClient, group_id: str, topics: frozenset[str]) -> GroupReading:
        async def read(client: PollClient, node: int, group_id: str) -> GroupReading:
            meta = await metadata.fetch(client, self._connection.manager)
            return await read_group(client, meta, node, group_id, topics, wall_clock_ms())

        return await self._to_coordinator(client, read, group_id)

    async def _to_coordinator(
        self, client: PollClient, work: Callable[..., Awaitable[Result]], group_id: str, *args: object
    ) -> Result:
        """Ask the coordinator; retry for a while if it is loading, moving, or only created by the first request."""
        give_up_s = time.monotonic() + self._deadline_s
        while True:
            try:
                node = await group_changes.find_coordinator(client, group_id)
                if node not in client.nodes():
                    await metadata.fetch(client, self._connection.manager)
                return await work(client, node, group_id, *args)
            except CoordinatorNotReady as error:
                if time.monotonic() > give_up_s:
                    cause = f"The coordinator of group {group_id} is not available: {error}"
                    raise ConnectError(cause, "Try again in a minute") from error
            await client.pause(RETRY_S)

    async def _offsets_at(
        self, client: PollClient, partitions: list[TopicPartition], timestamp_ms: int
    ) -> Mapping[TopicPartition, int | str]:
        async def ask(node: int, mine: list[TopicPartition]) -> Mapping[TopicPartition, int | str]:
            return await log_offsets.at_timestamp(client, node, mine, timestamp_ms)

        return dict.fromkeys(partitions, NO_LEADER) | await self._ask_leaders(client, partitions, ask)

    async def _first_records(
        self, client: PollClient, offsets: Mapping[TopicPartition, int], most: int, with_values: bool
    ) -> Mapping[TopicPartition, tuple[RecordHead, ...] | str]:
        async def ask(node: int, mine: list[TopicPartition]) -> dict[TopicPartition, tuple[RecordHead, ...] | str]:
            first = record_heads.first_records
            return {tp: await _or_reason(first(client, node, tp, offsets[tp], most, with_values)) for tp in mine}

        return await self._ask_leaders(client, offsets, ask)

    async def _count_records(
        self, client: PollClient, ranges: Mapping[TopicPartition, tuple[int, int]]
    ) -> Mapping[TopicPartition, int | str]:
        async def ask(node: int, mine: list[TopicPartition]) -> dict[TopicPartition, int | str]:
            return {tp: await _or_reason(record_heads.count(client, node, tp, *ranges[tp])) for tp in mine}

        return await self._ask_leaders(client, ranges, ask)

    async def _ask_leaders(
        self,
        client: PollClient,
        partitions: Collection[TopicPartition],
        ask: Callable[[int, list[TopicPartition]], Awaitable[Mapping[TopicPartition, Result]]],
    ) -> dict[TopicPartition, Result]:
        """The answers of the leaders, which are asked at the same time; nothing for a partition without leader."""
        leaders = (await metadata.fetch(client, self._connection.manager)).leaders
        of_leader: dict[int, list[TopicPartition]] = defaultdict(list)
        for tp in partitions:
            nodes = leaders.get(tp.topic, ())
            of_leader[nodes[tp.partition] if tp.partition < len(nodes) else metadata.NO_LEADER].append(tp)
        of_leader.pop(metadata.NO_LEADER, None)
        found: dict[TopicPartition, Result] = {}
        for answer in [client.start(ask, node, mine) for node, mine in of_leader.items()]:
            found.update(await answer)
        return found


async def _or_reason(asked: Awaitable[Result | str]) -> Result | str:
    """A broker that fails affects only its own partitions."""
    try:
        return await asked
    except BrokerFailed as failure:
        return failure.problem.cause
    except UnsupportedRequest as error:
        return f"its leader is too old to answer {error}"
