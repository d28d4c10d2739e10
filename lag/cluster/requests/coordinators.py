"""Which broker coordinates a group: the leader of its partition of `__consumer_offsets`, by the newest metadata.

A broker that was frozen lists the groups it coordinated, and answers with their old commits, until it learns that it
lost them; asked for metadata, it names itself as the leader. The leader epoch says which of two answers is newer
(KIP-320; Kafka's `Metadata.updateLastSeenEpochIfNewer`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from assignors.offsets_partition import OFFSETS_TOPIC, offsets_partition
from lag.cluster.requests.responses import GroupDescription
from lag.model import UNLISTED, Problem, Scope, is_created_again


@dataclass(frozen=True, slots=True)
class OffsetsLeader:
    """The leader of a partition (its node id, -1 = none), and the epoch in which it leads; -1 = unknown."""

    node: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Coordinators:
    """The leader of each partition of `__consumer_offsets`; none if the topic is not visible to us.

    `topic_id`: of the topic, None before Kafka 2.8 (KIP-516).
    """

    leaders: tuple[OffsetsLeader, ...] = ()
    topic_id: str | None = None

    def newest(self, other: "Coordinators") -> "Coordinators":
        """Per partition the leader with the higher epoch, `other` if both have the same.

        A topic that was deleted and created again restarts its epochs: then only `other` counts. A different id or
        fewer partitions show it.
        """
        if not other.leaders:
            return self
        if len(other.leaders) < len(self.leaders) or is_created_again(self.topic_id, other.topic_id):
            return other
        pairs = zip_longest(self.leaders, other.leaders)
        leaders = tuple(new if old is None or new.epoch >= old.epoch else old for old, new in pairs)
        return Coordinators(leaders, other.topic_id or self.topic_id)

    def of(self, group_id: str) -> int | None:
        """The node id of the group's coordinator; -1 if there is none now, None if unknown."""
        if not self.leaders:
            return None
        return self.leaders[offsets_partition(group_id, len(self.leaders))].node

    def has_lost(self, group: GroupDescription) -> bool:
        """Whether the broker that listed the group is not its coordinator."""
        return self.of(group.group_id) not in (None, group.coordinator)


NOT_VISIBLE = Coordinators()


def one_per_id(groups: Iterable[GroupDescription], coordinators: Coordinators) -> list[GroupDescription]:
    """Each group as its coordinator gave it.

    If the coordinators are unknown and several brokers list a group, the answer that has the fewest problems and the
    highest epoch remains.
    """
    best: dict[str, GroupDescription] = {}
    for group in groups:
        if coordinators.has_lost(group):
            continue
        other = best.get(group.group_id)
        if other is None or _rank(group) > _rank(other):
            best[group.group_id] = group
    return list(best.values())


def _rank(group: GroupDescription) -> tuple[int, int]:
    return -len(group.problems), -1 if group.epoch is None else group.epoch


def moved(listed: Iterable[GroupDescription], kept: Iterable[GroupDescription]) -> list[Problem]:
    """The problem of groups that only a former coordinator listed: its successor was asked before it took over."""
    missing = {group.group_id for group in listed} - {group.group_id for group in kept}
    if not missing:
        return []
    cause = f"the coordinator of {len(missing)} groups changed while they were read"
    hint = "The next poll reads them from their new coordinator"
    return [Problem(UNLISTED, Scope.CLUSTER, OFFSETS_TOPIC, cause, hint, len(missing))]
