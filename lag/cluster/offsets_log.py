"""Reads `__consumer_offsets` as a log, from given offsets on: no group, nothing committed, one long poll per leader."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from kafka.future import Future
from kafka.protocol.consumer import FetchRequest, IsolationLevel
from kafka.protocol.metadata import MetadataRequest

from assignors.offsets_partition import OFFSETS_TOPIC
from lag.cluster import log_offsets
from lag.cluster.connect import Connection, open_manager
from lag.cluster.describe import error_name
from lag.cluster.group_records import UNREADABLE, GroupRecord, skim
from lag.cluster.messages import Message
from lag.cluster.metadata import NO_LEADER
from lag.cluster.requests import BrokerFailed, Unsupported, Wire, chunks
from lag.cluster.responses import Ends
from lag.cluster.settings import Settings
from lag.cluster.unread_check import LAST_VERSION_BY_NAME
from lag.errors import ConnectError
from lag.model import Problem, Scope

WAIT_MS = 1_000
"""So long a leader waits for something new before it answers."""

PARTITION_BYTES = 1 << 20
ANSWER_BYTES = 16 << 20
FIRST_VERSION_BY_ID = 12
"""From this version on, Metadata may be asked for topics by id."""

NAMES_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Partitions:
    """How many partitions there are (0: none yet, or none that we may see) and why some, or all, cannot be read."""

    count: int
    problems: Mapping[int, Problem] = field(default_factory=dict)
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Edges:
    """Where a partition's log begins and ends (its high watermark)."""

    log_start: int
    log_end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What one partition said: group records, how many records there were in all, and where to go on.

    `lost`: the log no longer has the offset asked for. `unreadable` counts batches that nobody can decode.
    """

    partition: int
    records: tuple[GroupRecord, ...] = ()
    next_offset: int = 0
    log_end: int = 0
    passed: int = 0
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

    def partitions(self) -> Partitions:
        """The topic as it is now. Raises ConnectError when no broker answers."""
        found: Partitions = self._connection.manager.run(self._look)
        return found

    def edges(self, partitions: Iterable[int]) -> dict[int, Edges]:
        """Beginning and end of these partitions, as far as their leaders tell."""
        found: dict[int, Edges] = self._connection.manager.run(self._find_edges, list(partitions))
        return found

    def read(self, offsets: Mapping[int, int]) -> list[Piece]:
        """What stands in these partitions from these offsets on; waits up to WAIT_MS while there is nothing."""
        pieces: list[Piece] = self._connection.manager.run(self._read, offsets)
        return pieces

    def names(self, topic_ids: Iterable[UUID]) -> dict[UUID, str]:
        """The names of these topics, as far as they exist and we may see them."""
        found: dict[UUID, str] = self._connection.manager.run(self._find_names, list(topic_ids))
        return found

    def close(self) -> None:
        """Close every connection; whoever waits for an answer gets an error."""
        self._connection.close()

    async def _look(self) -> Partitions:
        wire = Wire(self._connection.manager, self._deadline_s)
        topic = MetadataRequest.MetadataRequestTopic(name=OFFSETS_TOPIC)
        answer = await _asked(wire, MetadataRequest(topics=[topic], allow_auto_topic_creation=False, min_version=1))
        if answer is None:
            reasons = "; ".join(sorted({problem.cause for problem in wire.failed.values()})) or "no broker is known"
            raise ConnectError(f"No broker answers: {reasons}", "Check that the cluster runs")
        self._connection.manager.cluster.update_metadata(answer)
        (found,) = answer.topics
        if "Authorization" in error_name(found.error_code):
            return Partitions(0, problem=_NOT_ALLOWED)
        leaders = [NO_LEADER] * (1 + max((part.partition_index for part in found.partitions), default=-1))
        for part in found.partitions:
            leaders[part.partition_index] = part.leader_id
        self._leaders = leaders
        lost = [number for number, leader in enumerate(leaders) if leader == NO_LEADER]
        return Partitions(len(leaders), {number: _leaderless(number) for number in lost})

    async def _find_edges(self, partitions: Sequence[int]) -> dict[int, Edges]:
        wire, into = Wire(self._connection.manager, self._deadline_s), Ends()
        kinds = (log_offsets.LOG_START, log_offsets.LOG_END)
        lanes = [
            wire.spawn(log_offsets.fetch, wire, node, [(OFFSETS_TOPIC, 0, mine)], into, kinds)
            for node, mine in self._by_leader(partitions).items()
        ]
        for lane in lanes:
            await lane
        offsets = {
            (into.partition[row], into.kind[row]): into.offset[row]
            for row in range(len(into.offset))
            if not into.problem[row]
        }
        found = {number: [offsets.get((number, kind)) for kind in kinds] for number in partitions}
        return {number: Edges(a, b) for number, (a, b) in found.items() if a is not None and b is not None}

    async def _read(self, offsets: Mapping[int, int]) -> list[Piece]:
        wire = Wire(self._connection.manager, self._deadline_s)
        lanes: list[Future] = [
            wire.spawn(_fetch, wire, node, {number: offsets[number] for number in mine})
            for node, mine in self._by_leader(offsets).items()
        ]
        return [piece for lane in lanes for piece in await lane]

    async def _find_names(self, topic_ids: Sequence[UUID]) -> dict[UUID, str]:
        wire = Wire(self._connection.manager, self._deadline_s)
        found: dict[UUID, str] = {}
        for chunk in chunks(list(topic_ids), NAMES_CHUNK):
            topics = [MetadataRequest.MetadataRequestTopic(topic_id=each, name=None) for each in chunk]
            request = MetadataRequest(topics=topics, allow_auto_topic_creation=False, min_version=FIRST_VERSION_BY_ID)
            answer = await _asked(wire, request)
            found |= {each.topic_id: each.name for each in answer.topics if each.name} if answer is not None else {}
        return found

    def _by_leader(self, partitions: Iterable[int]) -> dict[int, list[int]]:
        led: dict[int, list[int]] = defaultdict(list)
        for number in partitions:
            if number < len(self._leaders) and self._leaders[number] != NO_LEADER:
                led[self._leaders[number]].append(number)
        return led


async def _asked(wire: Wire, request: Message) -> Message | None:
    """The answer of the first broker that gives one."""
    for node in wire.nodes():
        try:
            return await wire.ask(node, request)
        except (BrokerFailed, Unsupported):
            continue
    return None


async def _fetch(wire: Wire, node: int, offsets: Mapping[int, int]) -> list[Piece]:
    try:
        answer = await wire.ask(node, _request(offsets))
    except BrokerFailed as failure:
        return [Piece(number, problem=_unread(number, failure.problem.cause)) for number in offsets]
    except Unsupported:
        return [Piece(number, problem=_unread(number, f"broker {node} is too old")) for number in offsets]
    if answer.error_code:
        return [Piece(number, problem=_unread(number, error_name(answer.error_code))) for number in offsets]
    return [_piece(part, offsets) for topic in answer.responses for part in topic.partitions]


def _request(offsets: Mapping[int, int]) -> Message:
    topic, partition = FetchRequest.FetchTopic, FetchRequest.FetchTopic.FetchPartition
    parts = [
        partition(partition=number, fetch_offset=offset, partition_max_bytes=PARTITION_BYTES)
        for number, offset in offsets.items()
    ]
    return FetchRequest(
        max_wait_ms=WAIT_MS,
        min_bytes=1,
        max_bytes=ANSWER_BYTES,
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        topics=[topic(topic=OFFSETS_TOPIC, partitions=parts)],
        forgotten_topics_data=[],
        min_version=4,
        max_version=LAST_VERSION_BY_NAME,
    )


def _piece(part: Message, offsets: Mapping[int, int]) -> Piece:
    number = part.partition_index
    if part.error_code:
        return _refused(number, error_name(part.error_code))
    try:
        skimmed = skim(bytes(part.records or b""), offsets[number])
    except UNREADABLE as error:
        return Piece(number, problem=_unread(number, f"what it holds cannot be read: {error}"))
    return Piece(
        number,
        skimmed.records,
        skimmed.next_offset,
        part.high_watermark,
        skimmed.passed,
        skimmed.unreadable,
    )


_NOT_ALLOWED = Problem(
    "unauthorized",
    Scope.TOPIC,
    OFFSETS_TOPIC,
    f"this account may not read {OFFSETS_TOPIC}",
    f"Grant READ on {OFFSETS_TOPIC} to see every rebalance as it was",
)


def _refused(number: int, error: str) -> Piece:
    if error == "OffsetOutOfRangeError":
        return Piece(number, lost=True)
    if "Authorization" in error:
        return Piece(number, problem=_NOT_ALLOWED)
    return Piece(number, problem=_unread(number, f"its leader answers {error}"))


def _unread(number: int, cause: str) -> Problem:
    return Problem("unread", Scope.PARTITION, f"{OFFSETS_TOPIC}-{number}", cause)


def _leaderless(number: int) -> Problem:
    hint = "Bring back a broker that holds a replica of it"
    return Problem("leaderless", Scope.PARTITION, f"{OFFSETS_TOPIC}-{number}", "it has no leader", hint)
