"""A simulation as tables: member states, messages, ownership, callbacks. Times are milliseconds since its start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from assignors.model import Member, Topic, TopicPartition

NO_COORDINATOR = "no coordinator"
"""The group's state while its broker is down."""

INITIAL_STATE = "initial state"
"""The cause of a generation that existed at the start."""


class MemberState(StrEnum):
    """The state of a member, as seen from outside its process."""

    JOINING = "joining"  # waits to join, without partitions
    CONSUMING = "consuming"
    IDLE = "idle"  # is a member without partitions
    REJOINING = "rejoining"  # consumes what it keeps while the group rebalances
    PAUSED = "paused"  # has revoked its partitions and waits for the end of the rebalance
    SPLIT = "split"  # consumes, but cannot exchange messages with the coordinator
    STALLED = "stalled"  # does not poll; its heartbeats go on
    FROZEN = "frozen"  # the whole process is stopped
    ZOMBIE = "zombie"  # consumes partitions that it no longer owns
    DOWN = "down"  # closed or dead
    FAILED = "failed"  # died of an error that Kafka's consumer throws


class Hold(StrEnum):
    """How a member has a partition: consuming it as owner, not polling, as frozen process, as zombie; or no owner."""

    OWNED = "owned"
    STALLED = "stalled"
    FROZEN = "frozen"
    ZOMBIE = "zombie"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Span:
    """A member in one state, without gaps to the next span. `generation` is the member's own (-1 = none)."""

    member: str
    state: MemberState
    start_ms: int
    end_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class GroupSpan:
    """The group in one state and generation, without gaps to the next span.

    `state` is Kafka's name, "" before there is a group, "no coordinator" while there is none.
    """

    state: str
    generation: int
    start_ms: int
    end_ms: int


class Message(NamedTuple):
    """A request or a reply. `error` is Kafka's name, None in a request. `arrived_ms` None: it was lost.

    A tuple, because there are hundreds of thousands of them.
    """

    source: str
    target: str
    kind: str
    error: str | None
    sent_ms: int
    arrived_ms: int | None


@dataclass(frozen=True, slots=True)
class OwnershipSpan:
    """A partition with one member (None: no owner)."""

    partition: TopicPartition
    member: str | None
    hold: Hold
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Callback:
    """A call of a member's ConsumerRebalanceListener: onPartitionsRevoked, onPartitionsAssigned, onPartitionsLost."""

    at_ms: int
    member: str
    name: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class PollLoop:
    """A member's poll loop from `at_ms` on: it polls then, and every `processing_ms` after that.

    0 = all the time, None = it does not poll. `commit_due_ms` is the time of the first auto commit of a new process;
    None if the process stays the same.
    """

    member: str
    at_ms: int
    processing_ms: int | None
    commit_due_ms: int | None


@dataclass(frozen=True, slots=True)
class Commit:
    """A member commits all its partitions because it rejoins, revokes partitions or closes.

    `error` is Kafka's name, None if the commit succeeds. Commits by auto.commit.interval.ms are not recorded.
    """

    at_ms: int
    member: str
    partitions: tuple[TopicPartition, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """How records are produced and committed.

    `per_s_milli`: thousandths of a record per second, by partition; `usual_per_s_milli`: of all other partitions.
    `commit_interval_ms` None: enable.auto.commit is false. `reset`: auto.offset.reset.
    """

    per_s_milli: Mapping[TopicPartition, int]
    usual_per_s_milli: int
    commit_interval_ms: int | None
    reset: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A member's consumer threw this error and its process ended."""

    at_ms: int
    member: str
    error: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The assignment of a generation that became Stable, by the members' names in the scenario, and its cause."""

    generation: int
    at_ms: int
    cause: str
    members: tuple[Member, ...]
    by_member: Mapping[str, Sequence[TopicPartition]]
    topics: Mapping[str, Topic]
    assignor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A whole simulation. `unsettled` says what was still in progress at the end; None: the group had settled.

    `ownership` covers the lifetime of each subscribed partition, in order of topic, partition and start; only zombies
    overlap with other members.
    """

    scenario: str
    protocol: str
    assignor: str
    end_ms: int
    unsettled: str | None
    spans: tuple[Span, ...]
    group: tuple[GroupSpan, ...]
    messages: tuple[Message, ...]
    ownership: tuple[OwnershipSpan, ...]
    callbacks: tuple[Callback, ...]
    failures: tuple[Failure, ...]
    plans: tuple[Plan, ...]
    loops: tuple[PollLoop, ...]
    commits: tuple[Commit, ...]
    records: RecordSettings
