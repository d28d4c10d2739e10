"""Reads `__consumer_offsets` from given offsets on, without a group and without commits: one long poll per leader."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from kafka.future import Future
from kafka.protocol.consumer import IsolationLevel
from kafka.protocol.metadata import MetadataRequest

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster.connection.connect import Connection, open_manager
from lag.cluster.connection.settings import Settings
from lag.cluster.group_records import UNREADABLE, read_batches
from lag.cluster.requests import log_offsets
from lag.cluster.requests.error_codes import error_name, is_unauthorized
from lag.cluster.requests.messages import Message, fetch_request
from lag.cluster.requests.metadata import NO_LEADER, leaders_of, topic_id_of
from lag.cluster.requests.poll_client import BrokerFailed, PollClient, UnsupportedRequest, chunks
from lag.cluster.requests.responses import LogOffsets
from lag.model import UNAUTHORIZED, Problem, Scope
from lag.records.transactions import GroupRecord, Marker

WAIT_MS = 1_000
"""How long a leader waits for new records before it answers."""

PARTITION_BYTES = 1 << 20
ANSWER_BYTES = 16 << 20
FIRST_VERSION_BY_ID = 12
"""Metadata can be asked for topics by id from this version on."""

NAMES_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class OffsetsPartitions:
    """The number of partitions (0: none yet, or hidden from us), and why some or all cannot be read.

    `topic_id`: None before Kafka 2.8 (KIP-516).
    """

    count: int
    problems: Mapping[int, Problem] = field(default_factory=dict)
    problem: Problem | None = None
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class LogBounds:
    """Log start and log end (high watermark) of a partition."""

    log_start: int
    log_end: int


@dataclass(frozen=True, slots=True)
class PartitionData:
    """What was read of one partition: records and markers, how many records, and the offset to continue from.

    `lost`: the offset asked for is deleted. `unreadable` counts batches that cannot be decoded.
    """

    partition: int
    records: tuple[GroupRecord | Marker, ...] = ()
    next_offset: int = 0
    log_end: int = 0
    records_read: int = 0
    unreadable: int = 0
    lost: bool = False
    problem: Problem | None = None


def open_offsets_log(settings: Settings, deadline_s: float = 5.0) -> "OffsetsLog":
    """Connect. Raises ConfigError for unusable key material, ConnectError when no broker answers."""
    return OffsetsLog(open_manager(settings), deadline_s)


class OffsetsLog:
    """The log of one cluster, over connections that stay open."""

    def __init__(self, connection: Connection, deadline_s: float = 5.0) -> None:
        self._connection = connection
        self._deadline_s = deadline_s
        self._leaders: Sequence[int] = ()

    @property
    def cluster_id(self) -> str | None:
        """The cluster's id."""
        return self._connection.cluster_id

    def partitions(self) -> OffsetsPartitions:
        """The partitions of the topic now. Raises ConnectError if no broker answers."""
        return self._connection.manager.run(self._describe)

    def bounds(self, partitions: Iterable[int]) -> dict[int, LogBounds]:
        """The bounds of the given partitions, where their leader answers."""
        return self._connection.manager.run(self._list_offsets, list(partitions))

    def read(self, offsets: Mapping[int, int]) -> list[PartitionData]:
        """The records of these partitions from these offsets on; waits up to WAIT_MS if there are none."""
        return self._connection.manager.run(self._read, offsets)

    def names(self, topic_ids: Iterable[UUID]) -> dict[UUID, str]:
        """The names of the topics with these ids, where they exist and we may describe them."""
        return self._connection.manager.run(self._find_names, list(topic_ids))

    def close(self) -> None:
        """Close every connection; calls that wait for an answer fail."""
        self._connection.close()

    async def _describe(self) -> OffsetsPartitions:
        client = PollClient(self._connection.manager, self._deadline_s)
        topic = MetadataRequest.MetadataRequestTopic(name=OFFSETS_TOPIC)
        answer = await client.send_to_any(partial(_metadata_request, [topic], 1))
        if answer is None:
            raise client.no_answer()
        self._connection.manager.cluster.update_metadata(answer)
        (found,) = answer.topics
        if is_unauthorized(found.error_code):
            return OffsetsPartitions(0, problem=_NOT_ALLOWED)
        self._leaders = leaders = leaders_of(found)
        lost = [number for number, leader in enumerate(leaders) if leader == NO_LEADER]
        problems = {number: _leaderless(number) for number in lost}
        return OffsetsPartitions(len(leaders), problems, topic_id=topic_id_of(found))

    async def _list_offsets(self, partitions: Sequence[int]) -> dict[int, LogBounds]:
        client, into = PollClient(self._connection.manager, self._deadline_s), LogOffsets()
        kinds = (log_offsets.LOG_START, log_offsets.LOG_END)
        tasks = [
            client.start(log_offsets.fetch, client, node, [(OFFSETS_TOPIC, 0, mine)], into, kinds)
            for node, mine in self._by_leader(partitions).items()
        ]
        for task in tasks:
            await task
        starts, ends = (into.by_partition(kind) for kind in kinds)
        return {number: LogBounds(starts[number], ends[number]) for number in starts.keys() & ends.keys()}

    async def _read(self, offsets: Mapping[int, int]) -> list[PartitionData]:
        client = PollClient(self._connection.manager, self._deadline_s)
        tasks: list[Future] = [
            client.start(_fetch, client, node, {number: offsets[number] for number in mine})
            for node, mine in self._by_leader(offsets).items()
        ]
        return [data for task in tasks for data in await task]

    async def _find_names(self, topic_ids: Sequence[UUID]) -> dict[UUID, str]:
        client = PollClient(self._connection.manager, self._deadline_s)
        found: dict[UUID, str] = {}
        for chunk in chunks(list(topic_ids), NAMES_CHUNK):
            topics = [MetadataRequest.MetadataRequestTopic(topic_id=each, name=None) for each in chunk]
            answer = await client.send_to_any(partial(_metadata_request, topics, FIRST_VERSION_BY_ID))
            found |= {each.topic_id: each.name for each in answer.topics if each.name} if answer is not None else {}
        return found

    def _by_leader(self, partitions: Iterable[int]) -> dict[int, list[int]]:
        led: dict[int, list[int]] = defaultdict(list)
        for number in partitions:
            if number < len(self._leaders) and self._leaders[number] != NO_LEADER:
                led[self._leaders[number]].append(number)
        return led


def _metadata_request(topics: Sequence[Message], min_version: int) -> Message:
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False, min_version=min_version)


async def _fetch(client: PollClient, node: int, offsets: Mapping[int, int]) -> list[PartitionData]:
    try:
        answer = await client.send(node, _request(offsets))
    except BrokerFailed as failure:
        return [PartitionData(number, problem=_unread(number, failure.problem.cause)) for number in offsets]
    except UnsupportedRequest:
        return [PartitionData(number, problem=_unread(number, f"broker {node} is too old")) for number in offsets]
    if answer.error_code:
        return [PartitionData(number, problem=_unread(number, error_name(answer.error_code))) for number in offsets]
    return [_partition_data(part, offsets) for topic in answer.responses for part in topic.partitions]


def _request(offsets: Mapping[int, int]) -> Message:
    return fetch_request(
        OFFSETS_TOPIC,
        offsets,
        IsolationLevel.READ_UNCOMMITTED,
        partition_bytes=PARTITION_BYTES,
        answer_bytes=ANSWER_BYTES,
        wait_ms=WAIT_MS,
    )


def _partition_data(part: Message, offsets: Mapping[int, int]) -> PartitionData:
    number = part.partition_index
    if part.error_code:
        return _refused(number, part.error_code)
    try:
        contents = read_batches(bytes(part.records or b""), offsets[number])
    except UNREADABLE as error:
        return PartitionData(number, problem=_unread(number, f"its records cannot be read: {error}"))
    return PartitionData(
        number,
        contents.records,
        contents.next_offset,
        part.high_watermark,
        contents.records_read,
        contents.unreadable,
    )


_NOT_ALLOWED = Problem(
    UNAUTHORIZED,
    Scope.TOPIC,
    OFFSETS_TOPIC,
    f"this account may not read {OFFSETS_TOPIC}",
    f"Grant READ on {OFFSETS_TOPIC} to see every rebalance",
)


def _refused(number: int, code: int) -> PartitionData:
    if error_name(code) == "OffsetOutOfRangeError":
        return PartitionData(number, lost=True)
    if is_unauthorized(code):
        return PartitionData(number, problem=_NOT_ALLOWED)
    return PartitionData(number, problem=_unread(number, f"its leader returned {error_name(code)}"))


def _unread(number: int, cause: str) -> Problem:
    return Problem("unread", Scope.PARTITION, f"{OFFSETS_TOPIC}-{number}", cause)


def _leaderless(number: int) -> Problem:
    hint = "Start a broker that has a replica of it"
    return Problem("leaderless", Scope.PARTITION, f"{OFFSETS_TOPIC}-{number}", "it has no leader", hint)
