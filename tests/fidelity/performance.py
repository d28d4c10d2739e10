"""What came of a story, in the same words whoever played it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.timeline.tables import Callback, GroupSpan
from assignors.whatif.events import Event
from assignors.whatif.rebalance_protocol import RebalanceProtocol

ASSIGNED = "onPartitionsAssigned"
Ownership = Mapping[str, Sequence[TopicPartition]]
"""What each member has, by its name in the story, partitions sorted."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """A Stable group, and what is going to happen to it; all that the simulator needs to play the same.

    `members` have the ids that Kafka gave them, the leader of a classic group comes first; `beats_ms`: when each sends
    its next heartbeat. `ids`: every member id by the client's name, in order. Times are ms since the story began.
    """

    members: tuple[Member, ...]
    beats_ms: tuple[int, ...]
    ids: Mapping[str, Sequence[str]]
    topic: Topic
    events: tuple[Event, ...]
    restart_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Rebalance:
    """A time in which the group was not Stable. `joined_ms`: all members of a classic group had joined."""

    generation: int
    begins_ms: int
    joined_ms: int | None
    stable_ms: int


@dataclass(frozen=True, slots=True)
class Performance:
    """How it went: who owned what in each generation that became Stable, rebalances, and calls of listeners."""

    ownership: Mapping[int, Ownership]
    rebalances: tuple[Rebalance, ...]
    callbacks: Mapping[str, Sequence[Callback]]


def rebalances(lane: Iterable[GroupSpan]) -> tuple[Rebalance, ...]:
    """The rebalances in the states of a group; one that does not end is none."""
    found, under_way = [], []
    for span in lane:
        if span.state != "Stable":
            under_way.append(span)
        elif under_way:
            found.append(_rebalance(under_way, span))
            under_way = []
    return tuple(found)


def _rebalance(under_way: Sequence[GroupSpan], stable: GroupSpan) -> Rebalance:
    joined = [span.start_ms for span in under_way if span.state == "CompletingRebalance"]
    return Rebalance(stable.generation, under_way[0].start_ms, joined[-1] if joined else None, stable.start_ms)


def by_member(callbacks: Iterable[Callback], protocol: RebalanceProtocol) -> dict[str, list[Callback]]:
    """Each member's, in order; under KIP-848, assignments that follow one another count as one.

    A member that takes over from two others gets their partitions with one heartbeat or with two there, as chance has
    it: a matter of milliseconds.
    """
    found: dict[str, list[Callback]] = {}
    for callback in callbacks:
        calls = found.setdefault(callback.member, [])
        if protocol is RebalanceProtocol.CONSUMER and calls and _go_together(calls[-1], callback):
            together = tuple(sorted((*calls[-1].partitions, *callback.partitions)))
            calls[-1] = replace(calls[-1], partitions=together)
        else:
            calls.append(callback)
    return found


def _go_together(one: Callback, other: Callback) -> bool:
    return bool(one.partitions and other.partitions) and one.name == other.name == ASSIGNED
