"""What goes in, what comes out, and what is kept of a group in between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from assignors.whatif.generations import Generation
from lag.generations.kept_states import MEMBER_CELLS, State
from lag.model import Problem
from lag.records import GroupEvent

STEPS_PER_MEMBER = 4
"""So many steps of a reconciliation are kept for each member; three are what one needs (give up, say so, receive)."""

STEP_CELLS = 12


class Timed(NamedTuple):
    """A group event, and when its record was written (ms since 1970)."""

    at_ms: int
    event: GroupEvent


class Phase(StrEnum):
    """How far a member has come in its reconciliation (Kafka's MemberState)."""

    STABLE = "stable"
    UNREVOKED = "unrevoked partitions"
    UNRELEASED = "unreleased partitions"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a member towards its target (KIP-848): what it has now, and what it still has to give up.

    `epoch` is the member's; -2 while a static member is away.
    """

    at_ms: int
    member_id: str
    epoch: int
    phase: Phase
    partitions: int
    leaving: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """A generation as the records tell it. `generation.at_ms` is when its plan was written.

    `began_ms`: of a KIP-848 or share group when its epoch was bumped; of a classic one when the last member had joined,
    for the beginning of a rebalance is not recorded. `settled_ms`: when the last member had reached its target, of a
    classic group when its leader's plan was there; None when that never came, or not yet. `steps` are those of the
    reconciliation. `skipped`: so many numbers since the generation before have no plan of their own.
    """

    generation: Generation
    began_ms: int | None = None
    settled_ms: int | None = None
    steps: tuple[Step, ...] = ()
    skipped: int = 0


class Timeouts(NamedTuple):
    """What a member joined with; None: its record does not say (under KIP-848 the session is the broker's).

    The rebalance timeout is a consumer's max.poll.interval.ms.
    """

    session_ms: int | None
    rebalance_ms: int | None


class How(StrEnum):
    """How generations are known."""

    RECORDED = "recorded"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True)
class Recording:
    """The generations of a live group, oldest first. `problem` is why they are not recorded but inferred, if so.

    `timeouts` are those of its members now, by id, as far as their records were read.
    """

    how: How
    generations: Sequence[Recorded] = ()
    problem: Problem | None = None
    timeouts: Mapping[str, Timeouts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Following:
    """How following `__consumer_offsets` goes: `followed` of `partitions` are read to their end.

    `records` were passed since the start; `unreadable` counts batches and records that could not be decoded.
    """

    partitions: int = 0
    followed: int = 0
    records: int = 0
    unreadable: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Progress:
    """How a plan is carried out; goes on after its state is kept."""

    began_ms: int | None
    settled_ms: int | None
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(State):
    """A kept state of which records tell. `round` counts the rebalances of one cause, `cause` is the event without it.

    `modern`: its number is an epoch, its group plans at the broker.
    """

    cause: str
    round: int
    modern: bool
    skipped: int
    progress: Progress

    @property
    def cells(self) -> int:
        """What it costs of the budget, with all steps that it may have."""
        members = self.group.members
        each = MEMBER_CELLS + (STEPS_PER_MEMBER * STEP_CELLS if self.modern else 0)
        return sum(len(member.owned) + each for member in members)
