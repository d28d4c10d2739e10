"""How good an assignment is: balance, stickiness, co-partitioning, racks, load per member, time to drain."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assignors.arrays import GroupArrays, group_arrays
from assignors.assignment_arrays import translated
from assignors.layout import Codes, Layout
from assignors.model import Assignment, Group, Topic
from assignors.whatif.drain import Drain, drain_of_group, drains
from assignors.whatif.events import Loads
from assignors.whatif.loads import KnownLoads, known_loads
from assignors.whatif.locality import co_partitioned, rack_hits
from assignors.whatif.moves import NOBODY, MoveKind, Moves, moves
from assignors.whatif.ownership_table import OwnershipTable, group_positions, ownership_table
from assignors.whatif.rebalance_protocol import paused, protocol_of
from assignors.whatif.skew import Skew, skew


@dataclass(frozen=True, slots=True)
class Quality:
    """Metrics of an assignment and of the change from the one before.

    `partitions` counts the existing partitions with a subscriber; `assigned` and `unassigned` split it, each partition
    once. `fewest` and `most` are the partitions of one member, `spread` their difference.

    `kept` and `moved` count pairs of partition and owner: kept, and given up although the partition still exists.
    `stickiness` is kept / could be kept (owner still there and subscribed, partition still exists); None when nothing
    could be kept, or without a rebalance. `rebalances` is 0 or 1; `paused` counts the partitions that paused for it.

    `co_partitioned` and `rack_hits` are (number, possible), None when nothing is possible or known. `skews` has the
    keys "weight", "lag_records" and "produced_per_s" that are known. `drain` is the group's, `drains` by member.
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
    """The quality of `after`; `group` is as it is after the change.

    `changes` (the moves) and `known` (the loads by code of `group_arrays(group).layout`) are computed if not given.
    `pauses` is the number of paused partitions; None: by the protocol of the group's assignor. Raises AssignorError for
    a group that cannot be assigned.
    """
    arrays = group_arrays(group)
    changes = moves(before, after, arrays.layout) if changes is None else changes
    known = known_loads(loads, arrays.layout) if known is None else known
    table = ownership_table(changes, arrays)
    counts = table.counts()
    assigned = int(np.count_nonzero(table.owners_each))
    of_each = drains(table, known, loads)
    return Quality(
        partitions=len(table.owners_each),
        assigned=assigned,
        members=len(arrays.members),
        idle_members=tuple(arrays.members[at] for at in np.flatnonzero(counts == 0).tolist()),
        fewest=min(counts.tolist(), default=0),
        most=max(counts.tolist(), default=0),
        spread=int(np.ptp(counts)) if len(counts) else 0,
        kept=changes.count(MoveKind.KEPT),
        moved=len(given_up(changes, group.topics)),
        unassigned=len(table.owners_each) - assigned,
        stickiness=_stickiness(changes, arrays) if rebalances else None,
        rebalances=rebalances,
        paused=paused(changes, protocol_of(group.assignor)) if pauses is None else pauses,
        co_partitioned=co_partitioned(table, arrays),
        rack_hits=rack_hits(table, arrays),
        skews=_skews(table, known),
        drain=drain_of_group(of_each, table, known),
        drains=of_each,
    )


def given_up(changes: Moves, topics: Mapping[str, Topic]) -> Codes:
    """int32[n]: codes of `changes.layout`, one per owner that gave up a partition although it still exists."""
    codes = changes.codes[(changes.sources != NOBODY) & (changes.sources != changes.targets)]
    there = Layout({name: topics[name].partitions for name in changes.layout.names if name in topics})
    existing: Codes = codes[translated(codes, changes.layout, there) >= 0]
    return existing


def _stickiness(changes: Moves, arrays: GroupArrays) -> float | None:
    codes, position = translated(changes.codes, changes.layout, arrays.layout), group_positions(changes, arrays)
    owners, targets = position[changes.sources], position[changes.targets]
    is_there = (codes >= 0) & (owners != NOBODY)
    codes, owners, targets = codes[is_there], owners[is_there], targets[is_there]
    could = arrays.subscriptions()[arrays.list_of[owners], arrays.layout.topics_of(codes)]
    kept = int(np.count_nonzero(could & (owners == targets)))
    return kept / int(np.count_nonzero(could)) if could.any() else None


def _skews(table: OwnershipTable, known: KnownLoads) -> dict[str, Skew]:
    by_name = {"weight": known.weights, "lag_records": known.lag_records, "produced_per_s": known.produced_per_s}
    found = {name: skew(table, values) for name, values in by_name.items()}
    return {name: made for name, made in found.items() if made is not None}
