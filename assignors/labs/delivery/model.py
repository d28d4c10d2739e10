"""The types of the delivery lab: strategies, failures, records, events."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class LabError(ValueError):
    """The settings of a lab are not possible; the message names the setting and a possible value."""


class Record(NamedTuple):
    """One record of the lab's topic."""

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"


Offsets = tuple[int, ...]
"""One offset per partition: the next one to read (position), or the first one not done (committed)."""


class Strategy(StrEnum):
    """When a consumer commits."""

    AUTO = "auto"
    SYNC = "sync"
    ASYNC = "async"
    ASYNC_RETRY = "async-retry"
    PER_PARTITION = "per-partition"
    EVERY_N = "every-n"
    EVERY_N_FROM_ZERO = "every-n-from-zero"
    COMMIT_FIRST = "commit-first"
    EXTERNAL = "external"
    WORKERS_SHARED = "workers-shared"
    WORKERS_QUEUES = "workers-queues"


AUTO_COMMITTING = frozenset({Strategy.AUTO, Strategy.WORKERS_SHARED})


class Interceptor(StrEnum):
    """What onConsume does with expired records before poll returns."""

    NONE = "none"
    DROPS = "drops"
    THROWS = "throws"


class OnPoison(StrEnum):
    """What the application does when a record cannot be deserialized."""

    STOP = "stop"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Lab:
    """A topic, and a consumer that reads it from the committed offsets to the end.

    `end` and `start` hold log end and first committed offset of each partition. `batch_records` is max.poll.records,
    `every_records` the n of commit-every-n, `auto_commit_polls` how many polls auto.commit.interval.ms spans.
    `expired` is what the interceptor's TTL is over for, `poison` the record that cannot be deserialized. Raises
    LabError when the numbers contradict each other.
    """

    strategy: Strategy
    end: Offsets
    start: Offsets = ()
    batch_records: int = 5
    every_records: int = 100
    auto_commit_polls: int = 1
    workers: int = 2
    commits_on_revoke: bool = False
    interceptor: Interceptor = Interceptor.NONE
    expired: frozenset[Record] = frozenset()
    poison: Record | None = None
    on_poison: OnPoison = OnPoison.STOP

    def __post_init__(self) -> None:
        if not self.start:
            object.__setattr__(self, "start", (0,) * len(self.end))
        if len(self.start) != len(self.end):
            raise LabError(f"start names {len(self.start)} partitions, end {len(self.end)}. Give one offset for each.")
        for partition, (start, end) in enumerate(zip(self.start, self.end, strict=True)):
            if not 0 <= start <= end:
                raise LabError(f"Partition {partition} starts at {start} and ends at {end}. Use 0 <= start <= end.")
        for name in ("batch_records", "every_records", "auto_commit_polls", "workers"):
            if getattr(self, name) < 1:
                raise LabError(f"{name} is {getattr(self, name)}. Use 1 or more.")


class FailureKind(StrEnum):
    """What goes wrong. In each case a second consumer continues at the committed offsets, to the end of the log."""

    NONE = "none"
    CRASH = "crash"
    EXCEPTION = "exception"
    KICKED = "kicked"
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    OUTSIDER_REFUSED = "outsider-refused"
    OUTSIDER_ACCEPTED = "outsider-accepted"


@dataclass(frozen=True, slots=True)
class Failure:
    """What goes wrong, and after how many steps of the first consumer (a rebalance: at its next poll).

    `failed_commits` are those asynchronous commits of the first consumer that fail, counted from 0. `outsider` holds
    the offsets that a standalone consumer commits.
    """

    kind: FailureKind = FailureKind.NONE
    step: int = 0
    failed_commits: frozenset[int] = frozenset()
    outsider: Offsets = ()


class Kind(StrEnum):
    """What a consumer does, or what happens to it."""

    POLL = "poll"
    PROCESS = "process"
    COMMIT = "commit"
    COMMIT_ASYNC = "commit without waiting"
    COMMIT_FAILED = "commit failed"
    STORE = "process and store the offset"
    STORE_REFUSED = "store refused"
    DROP = "drop"
    POISON = "deserializer fails"
    SKIP = "skip"
    CRASH = "crash"
    EXCEPTION = "exception"
    KICKED = "left the group"
    REVOKED = "revoked"
    LOST = "lost"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Event:
    """One step. `records` are those it is about, `offsets` what it commits, or a poll's position: partition, offset."""

    consumer: str
    kind: Kind
    records: tuple[Record, ...] = ()
    offsets: tuple[tuple[int, int], ...] = ()
    reason: str = ""
