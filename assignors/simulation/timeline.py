"""What a run has been, as tables: member states, messages, who owned what, callbacks, and the sums of it all.

All times are milliseconds since the scenario began.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from assignors.model import Member, Topic, TopicPartition

NO_COORDINATOR = "no coordinator"
"""The group's state while its broker is down."""

AS_IT_IS = "as it is"
"""The cause of a generation that was there before the story began."""


class MemberState(StrEnum):
    """What a member is doing, as somebody sees it who looks at its process."""

    JOINING = "joining"  # waits for its place in the group, and has nothing to lose
    CONSUMING = "consuming"
    IDLE = "idle"  # has its place, and no partition
    REJOINING = "rejoining"  # consumes what it keeps while the group rebalances
    PAUSED = "paused"  # gave up what it had, and waits for the end of the rebalance
    SPLIT = "split"  # consumes what it has; no message passes between it and the coordinator
    STALLED = "stalled"  # does not poll; its heartbeats go on
    FROZEN = "frozen"  # the whole process stands still
    ZOMBIE = "zombie"  # consumes what is no longer its own
    DOWN = "down"  # closed or dead
    FAILED = "failed"  # died of an error that Kafka's consumer throws


class Hold(StrEnum):
    """How a partition is held: consumed, held by a frozen process, held by somebody no longer in the group, free."""

    OWNED = "owned"
    FROZEN = "frozen"
    ZOMBIE = "zombie"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Span:
    """A member in one state; its spans adjoin. `generation`: the member's own (-1: none)."""

    member: str
    state: MemberState
    start_ms: int
    end_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class GroupSpan:
    """The group in one state and generation, as its coordinator has it; its spans adjoin.

    `state`: Kafka's name of it, "" before there is a group, "no coordinator" while there is none.
    """

    state: str
    generation: int
    start_ms: int
    end_ms: int


class Message(NamedTuple):
    """A request or its reply. `error`: Kafka's name, None in a request. `arrived_ms` None: nobody was there any more.

    A tuple, unlike its neighbours: there are hundreds of thousands of them.
    """

    source: str
    target: str
    kind: str
    error: str | None
    sent_ms: int
    arrived_ms: int | None


@dataclass(frozen=True, slots=True)
class Holding:
    """A partition in one pair of hands (None: nobody's)."""

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
class Loop:
    """A member's poll loop from `at_ms` on: it polls then, and every `processing_ms` after that.

    0: all the time; None: it stands still, and does not poll. `commit_due_ms`: when a new process is to commit for the
    first time; None while the process stays the same.
    """

    member: str
    at_ms: int
    processing_ms: int | None
    commit_due_ms: int | None


@dataclass(frozen=True, slots=True)
class Commit:
    """A member committed what it had read of all that it had, because it joins again, gives partitions up or closes.

    `error`: Kafka's name of what it got, None when it was accepted. What is due every auto.commit.interval.ms is not
    among these.
    """

    at_ms: int
    member: str
    partitions: tuple[TopicPartition, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class Records:
    """How records come and are committed.

    `per_s_milli`: thousandths of a record a second; `usual_per_s_milli` that of partitions not named.
    `commit_interval_ms` None: the application commits by itself. `reset`: auto.offset.reset.
    """

    per_s_milli: Mapping[TopicPartition, int]
    usual_per_s_milli: int
    commit_interval_ms: int | None
    reset: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A member's consumer threw this error, and its process ended."""

    at_ms: int
    member: str
    error: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A generation that became Stable: who got what, by the members' names in the scenario. `cause`: what led to it."""

    generation: int
    at_ms: int
    cause: str
    members: tuple[Member, ...]
    by_member: Mapping[str, Sequence[TopicPartition]]
    topics: Mapping[str, Topic]
    assignor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """A whole run. `unsettled` says what was still going on at the end; None: everything had come to rest.

    `ownership` has, of each partition that somebody subscribed to, who held it at any time while it existed, in order
    of topic, partition and start; only zombies overlap with others.
    """

    scenario: str
    protocol: str
    assignor: str
    end_ms: int
    unsettled: str | None
    spans: tuple[Span, ...]
    group: tuple[GroupSpan, ...]
    messages: tuple[Message, ...]
    ownership: tuple[Holding, ...]
    callbacks: tuple[Callback, ...]
    failures: tuple[Failure, ...]
    plans: tuple[Plan, ...]
    loops: tuple[Loop, ...]
    commits: tuple[Commit, ...]
    records: Records
