"""The last rebalances of all groups of a cluster, newest first."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise

import numpy as np

from assignors.whatif.generations import Generation
from assignors.whatif.moves import NOBODY
from lag.generations.cause_kind import CauseKind, cause_kinds
from lag.generations.ownership import UNFINISHED, WithoutOwner, without_owner
from lag.generations.recorded import Origin, RecordedGeneration
from lag.generations.recorded.model import RecordedState
from lag.generations.recorded.recorder import recorded_generation
from lag.generations.state_buffer import AssignmentState, generation_between

MAX_REBALANCES = 200
"""Rows of the list; each is computed from two stored states."""

MAX_CELLS = 500_000
"""Partitions and members in the states of all rows, so that the list takes well below a second."""


@dataclass(frozen=True, slots=True)
class Rebalance:
    """One rebalance of a group, with the number of members before and after it.

    `moved`: partitions that an owner gave up in it. `partitions`: all that are assigned before or after it.
    `before_ms`: when the state before it was written or first seen.
    """

    group_id: str
    number: int
    at_ms: int
    event: str
    kinds: tuple[CauseKind, ...]
    origin: Origin
    moved: int
    partitions: int
    without_owner: WithoutOwner
    members_before: int
    members_after: int
    before_ms: int


@dataclass(frozen=True, slots=True)
class RecentRebalances:
    """The newest rebalances, newest first.

    `has_older`: there are older ones, which are not listed. `known_since_ms`, `known_until_ms`: every rebalance between
    them is known, of others only some; None: it is not known since when, or up to now.
    """

    rebalances: tuple[Rebalance, ...] = ()
    has_older: bool = False
    known_since_ms: int | None = None
    known_until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class _Pair:
    """The states of a group before and after a rebalance."""

    group_id: str
    old: AssignmentState
    new: AssignmentState


def recent_rebalances(
    recorded: Mapping[str, Sequence[RecordedState]],
    inferred: Mapping[str, Sequence[AssignmentState]],
    known: Iterable[Rebalance] = (),
    most: int = MAX_REBALANCES,
    most_cells: int = MAX_CELLS,
    until_ms: int | None = None,
) -> RecentRebalances:
    """The newest rebalances by the states of each group; recorded states are used where there are any.

    At most `most`, and no more than fit in `most_cells` cells of states; with `until_ms`, those up to that time. Those
    `known` from an earlier call are not computed again once their times are known.
    """
    pairs = [pair for pair in _all_pairs(recorded, inferred) if until_ms is None or pair.new.at_ms <= until_ms]
    newest = list(_within(nlargest(most, pairs, key=lambda pair: pair.new.at_ms), most_cells))
    done = {(one.group_id, one.number, one.at_ms): one for one in known if one.without_owner.reason != UNFINISHED}
    rows = (done.get((pair.group_id, pair.new.number, pair.new.at_ms)) or _rebalance(pair) for pair in newest)
    return RecentRebalances(tuple(rows), len(newest) < len(pairs))


def rebalance_counts(
    recorded: Mapping[str, Sequence[RecordedState]], inferred: Mapping[str, Sequence[AssignmentState]], since_ms: int
) -> dict[str, int]:
    """Group id -> how many of its rebalances are known from `since_ms` on, without groups that have none."""
    return Counter(pair.group_id for pair in _all_pairs(recorded, inferred) if pair.new.at_ms >= since_ms)


def with_stored(live: RecentRebalances, stored: RecentRebalances) -> RecentRebalances:
    """The rebalances that this process knows and those of the history, each once.

    Where polls saw what the history has recorded, the history's is listed.
    """
    recorded = {(one.group_id, one.number, one.at_ms) for one in live.rebalances}
    times: dict[tuple[str, int], list[int]] = {}
    for one in stored.rebalances:
        times.setdefault((one.group_id, one.number), []).append(one.at_ms)
    both = [one for one in live.rebalances if one.origin is Origin.RECORDED or not _saw(one, times)]
    both += [one for one in stored.rebalances if (one.group_id, one.number, one.at_ms) not in recorded]
    cut = [part for part in (live, stored) if part.has_older and part.rebalances]
    oldest_ms = max((part.rebalances[-1].at_ms for part in cut), default=0)
    rows = sorted((one for one in both if one.at_ms >= oldest_ms), key=lambda one: one.at_ms, reverse=True)
    return RecentRebalances(tuple(rows), live.has_older or stored.has_older, _known_since_ms(live, stored))


def _saw(inferred: Rebalance, times: Mapping[tuple[str, int], Sequence[int]]) -> bool:
    """Whether one of the stored times is that of a rebalance that was seen in polls."""
    stored = times.get((inferred.group_id, inferred.number), ())
    return any(inferred.before_ms < at_ms <= inferred.at_ms for at_ms in stored)


def _known_since_ms(live: RecentRebalances, stored: RecentRebalances) -> int | None:
    """The history's beginning if it reaches up to what this process knows, else the process's."""
    if live.known_since_ms is None or stored.known_since_ms is None or stored.known_until_ms is None:
        return live.known_since_ms
    reaches = stored.known_until_ms >= live.known_since_ms
    return min(stored.known_since_ms, live.known_since_ms) if reaches else live.known_since_ms


def _all_pairs(
    recorded: Mapping[str, Sequence[RecordedState]], inferred: Mapping[str, Sequence[AssignmentState]]
) -> Iterator[_Pair]:
    """The recorded states of a group if it has any, else the inferred ones."""
    states: dict[str, Sequence[AssignmentState]] = {**inferred, **recorded}
    for group_id, kept in states.items():
        yield from _pairs(group_id, kept)


def _pairs(group_id: str, states: Sequence[AssignmentState]) -> Iterator[_Pair]:
    for old, new in pairwise(states):
        if new.number > old.number:
            yield _Pair(group_id, old, new)


def _within(pairs: Iterable[_Pair], most_cells: int) -> Iterator[_Pair]:
    cells = 0
    for pair in pairs:
        cells += pair.old.cells + pair.new.cells
        if cells > most_cells:
            return
        yield pair


def _rebalance(pair: _Pair) -> Rebalance:
    one, origin = _generation(pair)
    made = one.generation
    return Rebalance(
        group_id=pair.group_id,
        number=made.number,
        at_ms=made.at_ms,
        event=made.event,
        kinds=cause_kinds(made.event),
        origin=origin,
        moved=moved_partitions(made),
        partitions=len(np.unique(made.moves.codes[(made.moves.sources >= 0) | (made.moves.targets >= 0)])),
        without_owner=without_owner(one, origin, pair.old.at_ms),
        members_before=len(pair.old.group.members),
        members_after=len(made.members),
        before_ms=pair.old.at_ms,
    )


def _generation(pair: _Pair) -> tuple[RecordedGeneration, Origin]:
    made = generation_between(pair.old, pair.new)
    if isinstance(pair.old, RecordedState) and isinstance(pair.new, RecordedState):
        return recorded_generation(made, pair.new), Origin.RECORDED
    return RecordedGeneration(made), Origin.INFERRED


def moved_partitions(generation: Generation) -> int:
    """How many partitions an owner gave up in the generation."""
    moves = generation.moves
    return len(np.unique(moves.codes[(moves.sources != NOBODY) & (moves.sources != moves.targets)]))
