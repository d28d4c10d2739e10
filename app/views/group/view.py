"""One group of a snapshot with its health, and its assignment as lanes of tiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.ui import verdicts
from app.ui.groups.member_names import member_names
from assignors.model import TopicPartition
from lag.model import ClusterSnapshot, GroupSnapshot, Member
from lag.offsets import PartitionLag, PartitionProblem
from lag.verdict.health import GroupHealth, Health, PartitionHealth
from lag.verdict.rules.no_partitions import assigns_partitions
from lag.verdict.status import URGENCY, Status

NOBODY, NOT_KNOWN = "unassigned", "owner not known"
"""The lane of partitions that no member owns."""


class Tile(StrEnum):
    """The state of a partition in the chart of the assignment."""

    OK = "ok"
    BAD = "bad"
    UNKNOWN = "unknown"
    COMING = "coming"  # in the member's target assignment, not yet assigned (KIP-848)
    LEAVING = "leaving"  # still assigned, no longer in the target assignment


@dataclass(frozen=True, slots=True, eq=False)
class GroupView:
    """A group with its health; `lags` and `healths` have its partitions in the same order: (topic, partition).

    `times_ms`: int64[n_samples]; `names` maps member ids to short names.
    """

    group: GroupSnapshot
    health: GroupHealth
    lags: Sequence[PartitionLag]
    healths: Sequence[PartitionHealth]
    times_ms: NDArray[np.int64]
    names: Mapping[str, str]

    @property
    def is_read(self) -> bool:
        """Whether anything of the group could be read: else it only seems to have no members and no partitions."""
        return self.group.complete or bool(self.group.members) or bool(self.lags)

    @property
    def topics(self) -> list[str]:
        """The topics of the group's partitions, sorted."""
        return sorted({row.tp.topic for row in self.lags})

    def partitions_with(self, status: Status) -> list[TopicPartition]:
        """The partitions whose own verdict is `status`."""
        return [row.tp for row, health in zip(self.lags, self.healths, strict=True) if health.finding.status == status]

    def statuses(self) -> dict[TopicPartition, Status]:
        """The verdict on each partition."""
        return {row.tp: health.finding.status for row, health in zip(self.lags, self.healths, strict=True)}

    def troubles(self) -> list[Status]:
        """The verdicts of its partitions that need attention, most urgent first."""
        found = {health.finding.status for health in self.healths}
        return [status for status in URGENCY if status in found and verdicts.needs_attention(status)]

    def idle_members(self) -> list[Member]:
        """Members without a partition, now and in their target assignment, as far as that could be decoded.

        None of a group whose members share something else.
        """
        if not assigns_partitions(self.group):
            return []
        return [m for m in self.group.members if not m.assigned and not m.target and m.problem is None]

    def reconciling(self) -> list[Member]:
        """KIP-848 members whose assignment is not their target assignment yet."""
        return [m for m in self.group.members if is_reconciling(m, self.group.epoch)]

    def lanes(self) -> dict[str, list[tuple[TopicPartition, Tile]]]:
        """Member name -> its tiles in order of (topic, partition); `NOBODY` -> those of unassigned partitions.

        `NOT_KNOWN` instead, if a member that could not be decoded may own them.
        """
        tiles = {row.tp: tile(row, health) for row, health in zip(self.lags, self.healths, strict=True)}
        lanes = {
            self.names[m.member_id]: _lane(m, tiles)
            for m in sorted(self.group.members, key=lambda m: self.names[m.member_id])
        }
        owned = {tp for lane in lanes.values() for tp, _ in lane}
        if free := sorted((tp, kind) for tp, kind in tiles.items() if tp not in owned):
            lanes[NOBODY if all(m.problem is None for m in self.group.members) else NOT_KNOWN] = free
        return lanes


def _lane(member: Member, tiles: Mapping[TopicPartition, Tile]) -> list[tuple[TopicPartition, Tile]]:
    assigned = set(member.assigned)
    target = assigned if member.target is None else set(member.target)
    kept = [(tp, tiles.get(tp, Tile.OK) if tp in target else Tile.LEAVING) for tp in member.assigned]
    return sorted([*kept, *((tp, Tile.COMING) for tp in target - assigned)])


def tile(row: PartitionLag, health: PartitionHealth) -> Tile:
    """The state of a partition that its owner keeps."""
    unread = row.problem in {PartitionProblem.TIMEOUT, PartitionProblem.LEADERLESS}
    if unread or health.finding.status == Status.UNKNOWN:
        return Tile.UNKNOWN
    return Tile.BAD if verdicts.needs_attention(health.finding.status) else Tile.OK


def is_reconciling(member: Member, epoch: int | None) -> bool:
    """Whether the member has to revoke or take partitions, or is behind the group's epoch (KIP-848)."""
    if member.target is None:
        return False
    return set(member.target) != set(member.assigned) or (
        member.epoch is not None and epoch is not None and member.epoch != epoch
    )


def group_view(group: GroupSnapshot, snapshot: ClusterSnapshot, health: Health) -> GroupView:
    """The view of a group of `snapshot`."""
    return GroupView(
        group,
        health.groups[snapshot.by_group[group.group_id]],
        tuple(group.partitions),
        tuple(health.partitions(group)),
        health.times_ms,
        member_names(group.members),
    )
