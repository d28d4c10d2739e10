"""The part of `range` that looks at racks (KIP-881): matching members first, whole co-partitioned sets together."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Plan, collected
from assignors.racks import RackSet, racks_of, use_rack_aware_assignment


class _Subscribers:
    """The members that subscribe to a topic, in order, with their racks. Equal ones are one object."""

    __slots__ = ("present", "racks")

    def __init__(self, racks: dict[int, str | None]) -> None:
        self.racks = racks
        self.present = {rack for rack in racks.values() if rack}


@dataclass(slots=True)
class _Topic:
    """A topic while it is given out: what is left of it, how much each subscriber has, who may have one more."""

    offset: int
    racks: list[RackSet]
    members: _Subscribers
    matters: bool
    left: dict[int, None]
    given: dict[int, int] = field(init=False)
    each: int = field(init=False)
    extra: int = field(init=False)

    def __post_init__(self) -> None:
        self.given = dict.fromkeys(self.members.racks, 0)
        self.each, self.extra = divmod(len(self.left), len(self.members.racks))

    def room(self, member: int) -> int:
        """How many partitions the member may still get."""
        return max(0, self.each + (self.extra > 0) - self.given[member])

    def matches(self, member: int, partition: int) -> bool:
        """Whether the member has no rack, or the partition a replica in it."""
        rack = self.members.racks[member]
        return rack is None or rack in self.racks[partition]

    def give(self, member: int, partitions: Sequence[int]) -> None:
        """Take the partitions out for the member. All at once: one member can use up one extra only."""
        for partition in partitions:
            self.left.pop(partition)
        self.given[member] += len(partitions)
        self.extra -= self.given[member] > self.each

    def take_over(self, other: "_Topic") -> None:
        """Be in the state of another topic of the same size and subscribers."""
        self.left, self.given, self.extra = dict(other.left), dict(other.given), other.extra


def plan(arrays: GroupArrays, order: Sequence[int]) -> Plan | None:
    """The whole plan, if racks count for any topic; else None."""
    if arrays.racks is None or not any(arrays.racks) or not arrays.partition_racks:
        return None
    topics = _topics(arrays, order, arrays.racks)
    if not any(topic.matters for topic in topics):
        return None
    owners = np.empty(len(arrays.layout), dtype=np.int32)
    _match(topics, owners)
    for topic in topics:
        _fill(topic, owners)
    return collected(np.arange(len(owners), dtype=np.int32), owners, len(order))


def _topics(arrays: GroupArrays, order: Sequence[int], racks: Sequence[str | None]) -> list[_Topic]:
    subscribed = arrays.subscriptions()[arrays.list_of[list(order)]]
    in_order = np.array(order)
    seen: dict[bytes, _Subscribers] = {}  # most topics share their subscribers
    made = []
    for number, (offset, count) in enumerate(zip(arrays.layout.offsets.tolist(), arrays.layout.counts, strict=False)):
        column = subscribed[:, number]
        subscribers = seen.get(column.tobytes())
        if subscribers is None:
            member_racks = {member: racks[member] or None for member in in_order[column].tolist()}
            subscribers = seen[column.tobytes()] = _Subscribers(member_racks)
        of_partitions = racks_of(arrays.layout, arrays.partition_racks, number)
        matters = use_rack_aware_assignment(subscribers.present, of_partitions)
        made.append(_Topic(offset, of_partitions, subscribers, matters, dict.fromkeys(range(int(count)))))
    return made


def _match(topics: Iterable[_Topic], owners: NDArray[np.int32]) -> None:
    """Give what matches: sets of topics with the same subscribers and size together, single topics if racks matter.

    A topic without subscribers in racks counts as one of size 0, as in Kafka.
    """
    sets: dict[tuple[_Subscribers, int], list[_Topic]] = defaultdict(list)
    for topic in topics:
        sets[topic.members, len(topic.racks) if topic.members.present else 0].append(topic)
    for (_, size), together in sets.items():
        if len(together) > 1 and size:
            _match_together(together, owners)
        elif together[0].matters:
            _fill_matching(together[0], owners)


def _match_together(topics: Sequence[_Topic], owners: NDArray[np.int32]) -> None:
    """Give number after number of all topics to the first member whose rack has replicas of them all.

    The topics have one size and the same subscribers, and get the same owners here: one stands for all.
    """
    racks = [frozenset.intersection(*sets) for sets in zip(*(topic.racks for topic in topics), strict=True)]
    first = replace(topics[0], racks=racks)
    waiting = dict.fromkeys(first.members.racks)
    placed: dict[int, int] = {}
    for partition in range(len(racks)):
        member = next((one for one in waiting if first.matches(one, partition) and first.room(one)), None)
        if member is None:
            continue
        placed[partition] = member
        first.give(member, (partition,))
        if not first.room(member):
            del waiting[member]
    for topic in topics:
        topic.take_over(first)
        owners[[topic.offset + partition for partition in placed]] = list(placed.values())


def _fill_matching(topic: _Topic, owners: NDArray[np.int32]) -> None:
    """Each member in order gets the first partitions that match, as many as it has room for."""
    for member in topic.members.racks:
        fitting = (partition for partition in topic.left if topic.matches(member, partition))
        taken = list(islice(fitting, topic.room(member)))
        if taken:
            owners[[topic.offset + partition for partition in taken]] = member
            topic.give(member, taken)


def _fill(topic: _Topic, owners: NDArray[np.int32]) -> None:
    """Each member in order gets the first partitions that are left, as many as it has room for."""
    takers: list[int] = []
    for member in topic.members.racks:
        if len(takers) == len(topic.left):
            break
        count = min(topic.room(member), len(topic.left) - len(takers))
        if count:
            takers += [member] * count
            topic.given[member] += count
            topic.extra -= topic.given[member] > topic.each
    owners[[topic.offset + partition for partition in topic.left]] = takers
