"""How good a plan is: balance, stickiness, co-partitioning, racks, load per member, time to drain."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assignors.arrays import GroupArrays, group_arrays
from assignors.assignment_arrays import translated
from assignors.layout import Layout
from assignors.model import Assignment, Group, Topic
from assignors.whatif.drain import Drain, drain_of_group, drains
from assignors.whatif.events import Loads
from assignors.whatif.loads import KnownLoads, known_loads
from assignors.whatif.locality import co_partitioned, rack_hits
from assignors.whatif.moves import NOBODY, MoveKind, Moves, moves
from assignors.whatif.ownership_table import Placed, in_group, place
from assignors.whatif.rebalance_protocol import paused, protocol_of
from assignors.whatif.skew import Skew, skew


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one step, from one assignment to the next.

    `partitions`: those of topics that exist and that somebody subscribes to, `assigned` and `unassigned` of them; a
    partition with several owners counts once. `members` and of them the idle ones, and the `fewest` and `most`
    partitions of a member, `spread` apart.

    `kept` and `moved` count partitions by owner: still there, and given up (to somebody or, for now, to nobody; not
    because the partition is gone). `stickiness` is the share of what could be kept (owner still there and subscribed,
    partition still there) that was; None where nothing could, or nothing was planned. `rebalances` is how many
    this step took, 0 or 1; `paused` how many partitions stopped for it.

    `co_partitioned` and `rack_hits`: so many of so many possible; None where nothing is possible or known. `skews` by
    "weight", "lag_records" and "produced_per_s", where something of it is known. `drain` of the group, `drains` by
    member.
    """

    partitions: int
    assigned: int
    members: int
    idle_members: tuple[str, ...]
    fewest: int
    most: int
    spread: int
    kept: int
    moved: int
    unassigned: int
    stickiness: float | None
    rebalances: int
    paused: int
    co_partitioned: tuple[int, int] | None
    rack_hits: tuple[int, int] | None
    skews: Mapping[str, Skew]
    drain: Drain
    drains: Mapping[str, Drain]


def measure(
    before: Assignment,
    after: Assignment,
    group: Group,
    loads: Loads,
    *,
    changes: Moves | None = None,
    known: KnownLoads | None = None,
    rebalances: int = 1,
    pauses: int | None = None,
) -> Quality:
    """Figures of `after`, given what was `before`; `group` as it is after.

    `changes` and `known` spare their computation: the moves between the two, and the loads by code of the topics in
    play (`group_arrays(group).layout`). `pauses`: how many partitions stopped; None: as the group's assignor has it.
    Raises AssignorError when the group cannot be planned.
    """
    arrays = group_arrays(group)
    changes = moves(before, after, arrays.layout) if changes is None else changes
    known = known_loads(loads, arrays.layout) if known is None else known
    placed = place(changes, arrays)
    counts = placed.counts()
    assigned = int(np.count_nonzero(placed.owners_each))
    of_each = drains(placed, known, loads)
    return Quality(
        partitions=len(placed.owners_each),
        assigned=assigned,
        members=len(arrays.members),
        idle_members=tuple(arrays.members[at] for at in np.flatnonzero(counts == 0).tolist()),
        fewest=min(counts.tolist(), default=0),
        most=max(counts.tolist(), default=0),
        spread=int(np.ptp(counts)) if len(counts) else 0,
        kept=changes.count(MoveKind.KEPT),
        moved=_moved(changes, group.topics),
        unassigned=len(placed.owners_each) - assigned,
        stickiness=_stickiness(changes, arrays) if rebalances else None,
        rebalances=rebalances,
        paused=paused(changes, protocol_of(group.assignor)) if pauses is None else pauses,
        co_partitioned=co_partitioned(placed, arrays),
        rack_hits=rack_hits(placed, arrays),
        skews=_skews(placed, known),
        drain=drain_of_group(of_each, placed, known),
        drains=of_each,
    )


def _moved(changes: Moves, topics: Mapping[str, Topic]) -> int:
    """How many partitions their owners gave up although they are still there."""
    given_up = changes.codes[(changes.sources != NOBODY) & (changes.sources != changes.targets)]
    there = Layout({name: topics[name].partitions for name in changes.layout.names if name in topics})
    return int(np.count_nonzero(translated(given_up, changes.layout, there) >= 0))


def _stickiness(changes: Moves, arrays: GroupArrays) -> float | None:
    codes, position = translated(changes.codes, changes.layout, arrays.layout), in_group(changes, arrays)
    owners, targets = position[changes.sources], position[changes.targets]
    is_there = (codes >= 0) & (owners != NOBODY)
    codes, owners, targets = codes[is_there], owners[is_there], targets[is_there]
    could = arrays.subscriptions()[arrays.list_of[owners], arrays.layout.topics_of(codes)]
    kept = int(np.count_nonzero(could & (owners == targets)))
    return kept / int(np.count_nonzero(could)) if could.any() else None


def _skews(placed: Placed, known: KnownLoads) -> dict[str, Skew]:
    by_name = {"weight": known.weights, "lag_records": known.lag_records, "produced_per_s": known.produced_per_s}
    found = {name: skew(placed, values) for name, values in by_name.items()}
    return {name: made for name, made in found.items() if made is not None}
