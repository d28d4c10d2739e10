"""The types of recorded generations: events, generations, and the states of a group between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from assignors.whatif.generations import Generation
from lag.generations.state_buffer import MEMBER_CELLS, AssignmentState
from lag.model import Problem
from lag.records import GroupEvent

STEPS_PER_MEMBER = 4
"""Steps of a reconciliation stored for each member; it needs three (revoke, acknowledge, receive)."""

STEP_CELLS = 12


class TimedEvent(NamedTuple):
    """A group event, and the time of its record in ms since 1970."""

    at_ms: int
    event: GroupEvent


class MemberState(StrEnum):
    """The state of a member in its reconciliation (Kafka's `MemberState`)."""

    STABLE = "stable"
    UNREVOKED = "unrevoked partitions"
    UNRELEASED = "unreleased partitions"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReconciliationStep:
    """One step of a member towards its target assignment (KIP-848).

    It has `partitions` and still has to revoke `leaving` of them. `epoch` is the member's; -2 while a static member is
    away.
    """

    at_ms: int
    member_id: str
    epoch: int
    state: MemberState
    partitions: int
    leaving: int


@dataclass(frozen=True, slots=True)
class RecordedGeneration:
    """A recorded generation. `generation.at_ms` is the time when its assignment was written.

    `began_ms`: when the epoch was bumped; in a classic group when the last member joined, because the start of a
    rebalance is not recorded. `settled_ms`: when the last member reached its target assignment, in a classic group when
    the leader's assignment arrived; None if not yet or never. `skipped`: how many numbers before it have no assignment.
    `departed`: the timeouts of the members that are gone since the one before, by member id, as far as recorded.
    `problems`: what of its record could not be decoded: such a member has no topics, or no partitions, here.
    """

    generation: Generation
    began_ms: int | None = None
    settled_ms: int | None = None
    steps: tuple[ReconciliationStep, ...] = ()
    skipped: int = 0
    departed: Mapping[str, "Timeouts"] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class Timeouts(NamedTuple):
    """The timeouts of a member; None: not in its record (in KIP-848 the session timeout is the broker's).

    The rebalance timeout is the consumer's max.poll.interval.ms.
    """

    session_ms: int | None
    rebalance_ms: int | None


class Origin(StrEnum):
    """Where generations come from."""

    RECORDED = "recorded"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class Recording:
    """The generations of a live group, oldest first. `problem`: why they are inferred, or not recorded up to now.

    `timeouts`: of the present members, by member id, as far as their records were read.
    """

    origin: Origin
    generations: Sequence[RecordedGeneration] = ()
    problem: Problem | None = None
    timeouts: Mapping[str, Timeouts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """How far `__consumer_offsets` is read: `followed` of `partitions` up to their end.

    `records`: read since the start; `unreadable`: batches and records that could not be decoded. `commits`: how many
    offset commits of each group were read.
    """

    partitions: int = 0
    followed: int = 0
    records: int = 0
    unreadable: int = 0
    problems: tuple[Problem, ...] = ()
    commits: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Reconciliation:
    """How a target assignment is reached; updated after its state is stored."""

    began_ms: int | None = None
    settled_ms: int | None = None
    steps: list[ReconciliationStep] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedState(AssignmentState):
    """A state from records. `round` counts the rebalances with one cause; `cause` is the event without the round.

    `modern`: the number is an epoch, and the broker computes the assignment.
    """

    cause: str
    round: int = 1
    modern: bool
    skipped: int = 0
    progress: Reconciliation = field(default_factory=Reconciliation)
    departed: Mapping[str, Timeouts] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def cells(self) -> int:
        """Its part of the budget, with all steps that it may get."""
        members = self.group.members
        each = MEMBER_CELLS + (STEPS_PER_MEMBER * STEP_CELLS if self.modern else 0)
        return sum(len(member.owned) + each for member in members)
