"""The watermark lab's types: one partition's replicas at one moment, the settings, and what can happen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class WatermarkError(ValueError):
    """An action cannot happen now; the message says why and what would be possible."""


class Entry(NamedTuple):
    """One record of a log: the leader epoch it was written under, and its value."""

    epoch: int
    value: str


class Truncation(StrEnum):
    """Where a follower cuts its log before it fetches."""

    HIGH_WATERMARK = "high-watermark"
    LEADER_EPOCH = "leader-epoch"


class Timing(StrEnum):
    """Which high watermark a fetch response carries."""

    TEXTBOOK = "textbook"
    EXACT = "exact"


class Ack(StrEnum):
    """The answer that the producer got."""

    WAITING = "waiting"
    ACKED = "acknowledged"
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"
    NOT_LEADER_OR_FOLLOWER = "NOT_LEADER_OR_FOLLOWER"


@dataclass(frozen=True, slots=True)
class Settings:
    """Broker and topic settings under Kafka's names, and which rules to play by.

    `hw_waits_for_min_isr`: the high watermark does not advance while the ISR is below min.insync.replicas (KIP-966).
    """

    min_insync_replicas: int = 1
    replica_lag_time_max_ms: int = 30_000
    replica_fetch_wait_max_ms: int = 500
    produce_timeout_ms: int = 30_000
    unclean_leader_election: bool = False
    truncation: Truncation = Truncation.LEADER_EPOCH
    timing: Timing = Timing.TEXTBOOK
    hw_waits_for_min_isr: bool = True


@dataclass(frozen=True, slots=True)
class Replica:
    """A broker's copy. `hw` is its own high watermark, taken to survive a restart (checkpointed every 5 s)."""

    log: tuple[Entry, ...] = ()
    hw: int = 0
    alive: bool = True

    @property
    def leo(self) -> int:
        """Log end offset: the offset of the next record."""
        return len(self.log)


@dataclass(frozen=True, slots=True)
class Follower:
    """What the leader knows of a follower: its log end (None: not fetched under this epoch), when it was caught up."""

    leo: int | None
    caught_up_ms: int
    fetched_ms: int
    leader_leo: int


@dataclass(frozen=True, slots=True)
class Produced:
    """A produce request: its record's offset, epoch and value, the acks it asked for, and what became of it."""

    offset: int
    entry: Entry
    acks_all: bool
    at_ms: int
    ack: Ack


@dataclass(frozen=True, slots=True)
class State:
    """One partition at one moment. Replicas stand in order of assignment; `leader` is None when there is none."""

    settings: Settings
    replicas: Mapping[str, Replica]
    leader: str | None
    epoch: int
    isr: tuple[str, ...]
    followers: Mapping[str, Follower]
    at_ms: int = 0
    produced: tuple[Produced, ...] = ()

    @property
    def committed(self) -> tuple[Entry, ...]:
        """What consumers can read: the leader's log below its high watermark; nothing without a leader."""
        return () if self.leader is None else self.replicas[self.leader].log[: self.replicas[self.leader].hw]

    @property
    def lost(self) -> tuple[Produced, ...]:
        """Acknowledged records that the leader's log does not hold (none are known lost without a leader)."""
        if self.leader is None:
            return ()
        log = self.replicas[self.leader].log
        acked = (made for made in self.produced if made.ack is Ack.ACKED)
        return tuple(made for made in acked if log[made.offset : made.offset + 1] != (made.entry,))


@dataclass(frozen=True, slots=True)
class Produce:
    """A producer sends one record. `acks_all` False is acks=1."""

    value: str
    acks_all: bool = True


@dataclass(frozen=True, slots=True)
class Fetch:
    """A follower fetches; the response may be lost on its way, after the leader has taken note of the request."""

    follower: str
    response_lost: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes: the leader removes slow followers from the ISR, producers time out."""

    ms: int


@dataclass(frozen=True, slots=True)
class Restart:
    """A follower's process restarts before the controller notices."""

    replica: str


@dataclass(frozen=True, slots=True)
class Crash:
    """A broker dies and the controller fences it; its log is intact."""

    replica: str


@dataclass(frozen=True, slots=True)
class PowerCut:
    """Every broker dies at once, and each loses as many records as it had not flushed."""

    unflushed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """A dead broker comes back."""

    replica: str


Action = Produce | Fetch | Wait | Restart | Crash | PowerCut | Start


@dataclass(frozen=True, slots=True)
class Step:
    """What happened, the partition after it, and a sentence that says why."""

    action: Action | None
    state: State
    sentence: str
