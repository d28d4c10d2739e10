"""Kafka's `SimpleHomogeneousAssignmentBuilder` and `SimpleHeterogeneousAssignmentBuilder`, container by container.

Members are known by their position in the coordinator's order. A partition is the position of its topic among the
group's topics, and its number: positions are faster to look up than ids.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import ceil
from uuid import UUID

from assignors.broker.group_spec import OwnedSets, ServerGroup, assignment, sized
from assignors.javahash import INTEGERS, UUIDS, JavaHashMap, JavaHashSet, Keys
from assignors.javahash.hashes import topic_id_partition_hash, uuid_hash
from assignors.model import Assignment, AssignorError

Partition = tuple[int, int]

_OF_ONE_TOPIC: Keys[Partition] = Keys(lambda key: key[1])  # there Kafka uses the bare number


class Sharing:
    """One computation; call `plan` once."""

    def __init__(self, group: ServerGroup) -> None:
        self._group = group
        topics = group.by_id()
        self._counts = [topic.partitions for topic in topics.values()]
        self._position = {uuid: at for at, uuid in enumerate(topics)}
        self.uuids = list(topics)
        self._old = [group.owned(member) for member in group.members]
        self._new: dict[int, OwnedSets] = {}

    def plan(self) -> Assignment:
        """The assignment. AssignorError where Kafka throws."""
        members = self._group.members
        is_planned = self._all_topics_at_once() if self._group.homogeneous else self._topic_by_topic()
        if not is_planned:
            return assignment(self._group, {})
        plans = {member.member_id: self._new.get(i, self._old[i]) for i, member in enumerate(members)}
        return assignment(self._group, plans, sized(len(members) + 1))

    def copy(self, index: int) -> OwnedSets:
        """The member's new assignment, at first a deep copy of the old one."""
        if index not in self._new:
            self._new[index] = self._group.deep_copy(self._old[index])
        return self._new[index]

    def discard(self, index: int, partition: Partition) -> None:
        """Take a partition from the member's new assignment."""
        topic, number = partition
        self.copy(index)[self.uuids[topic]].discard(number)

    def _all_topics_at_once(self) -> bool:
        members = self._group.members
        if not members or not members[0].topics:
            return False
        topics = [self._position[self._group.uuid_of(topic.name)] for topic in self._group.subscribed(members[0])]
        targets = [(topic, number) for topic in topics for number in range(self._counts[topic])]
        hashes = [uuid_hash(uuid) for uuid in self.uuids]
        keys: Keys[Partition] = Keys(lambda key: topic_id_partition_hash(hashes[key[0]], key[1]))
        share = Share(self, keys, targets, range(len(members)), len(members))
        for index, old in enumerate(self._old):
            self._import(share, index, old, frozenset(topics))
        share.take_from_overfilled(share.overfilled())
        share.take_from_overshared(refill=True)
        share.add_targets(None)
        share.hand_out()
        return True

    def _import(self, share: "Share", index: int, old: OwnedSets, topics: frozenset[int]) -> None:
        held = 0
        for uuid, numbers in old.items():
            topic = self._position.get(uuid)
            if topic not in topics:
                del self.copy(index)[uuid]
                continue
            share.claim(index, [(topic, number) for number in numbers])
            held += len(numbers)
            if held >= share.wanted[index]:
                self.copy(index)
        if held < share.wanted[index]:
            share.unfilled.add(index)

    def _topic_by_topic(self) -> bool:
        subscribers: dict[UUID, list[int]] = {}
        union = JavaHashSet(UUIDS)
        for index, member in enumerate(self._group.members):
            for topic in self._group.subscribed(member):
                uuid = self._group.uuid_of(topic.name)
                union.add(uuid)
                subscribers.setdefault(uuid, []).append(index)
        for uuid in union:
            self._one_topic(uuid, subscribers[uuid])
        return bool(union)

    def _one_topic(self, uuid: UUID, members: list[int]) -> None:
        topic = self._position[uuid]
        targets = [(topic, number) for number in range(self._counts[topic])]
        share = Share(self, _OF_ONE_TOPIC, targets, members, len(self._old))
        for index, old in enumerate(self._old):
            share.claim(index, [(topic, number) for number in old.get(uuid, ())])
        share.take_from_overfilled(share.by_member)
        share.take_from_overshared(refill=False)
        share.add_targets(sized(len(members) + 1))
        for index in members:
            if share.held(index) < share.wanted[index]:
                share.unfilled.add(index)
        share.hand_out()


class Share:
    """Who holds which of the target partitions, and how many each of the members should hold."""

    def __init__(
        self, plan: Sharing, keys: Keys[Partition], targets: list[Partition], members: Sequence[int], group_size: int
    ) -> None:
        self._plan = plan
        self._keys = keys
        self._targets = targets
        self._sharing = -(-len(members) // len(targets)) if targets else 0
        self.wanted = dict.fromkeys(range(group_size), 0) | _wanted(members, self._sharing * len(targets))
        self.by_partition: JavaHashMap[Partition, JavaHashSet[int]] = JavaHashMap(keys, sized(len(targets) + 1))
        self.by_member: JavaHashMap[int, JavaHashSet[Partition]] = JavaHashMap(INTEGERS, sized(len(members) + 1))
        self.unfilled = JavaHashSet(INTEGERS, sized(group_size + 1))

    def held(self, index: int) -> int:
        """How many partitions a member holds."""
        return len(self.by_member.get(index, ()))

    def claim(self, index: int, partitions: Iterable[Partition]) -> None:
        """Note what a member has held so far, existing or not."""
        for partition in partitions:
            self.by_partition.compute_if_absent(partition, lambda: JavaHashSet(INTEGERS)).add(index)
            self._hold(index, partition)

    def _hold(self, index: int, partition: Partition) -> None:
        self.by_member.compute_if_absent(index, lambda: JavaHashSet(self._keys)).add(partition)

    def overfilled(self) -> JavaHashSet[int]:
        """The members that hold more than they should, in the order of Kafka's set of them."""
        found = JavaHashSet(INTEGERS, sized(len(self.wanted) + 1))
        for index, wanted in self.wanted.items():
            if self.held(index) > wanted:
                found.add(index)
        return found

    def take_from_overfilled(self, members: Iterable[int]) -> None:
        """Take from each of the members what is too much, in the order of its set of partitions."""
        for index in members:
            partitions = self.by_member[index]
            for partition in list(partitions)[: max(len(partitions) - self.wanted[index], 0)]:
                self._plan.discard(index, partition)
                self.by_partition[partition].discard(index)
                partitions.remove_while_iterating(partition)

    def take_from_overshared(self, refill: bool) -> None:
        """Take partitions from the first of too many holders; `refill`: those may get others instead."""
        for partition, holders in self.by_partition.items():
            for index in list(holders)[: max(len(holders) - self._sharing, 0)]:
                self._plan.discard(index, partition)
                holders.remove_while_iterating(index)
                self.by_member[index].discard(partition)
                if refill:
                    self.unfilled.add(index)

    def add_targets(self, initial: int | None) -> None:
        """Add the targets that nobody held; `initial`: the capacity argument of their sets of holders."""
        for partition in self._targets:
            self.by_partition.compute_if_absent(partition, lambda: JavaHashSet(INTEGERS, initial))

    def hand_out(self) -> None:
        """Give partitions with too few holders to unfilled members, in one walk over the partitions."""
        walk = Walk(self.unfilled)
        for partition, holders in self.by_partition.items():
            for taker in walk.takers(holders, self._sharing - len(holders)):
                self._give(taker, partition, walk)

    def _give(self, index: int, partition: Partition, walk: "Walk") -> None:
        topic, number = partition
        self._plan.copy(index).compute_if_absent(self._plan.uuids[topic], lambda: JavaHashSet(INTEGERS)).add(number)
        self._hold(index, partition)
        if self.held(index) >= self.wanted[index]:
            walk.remove_last()


class Walk:
    """The single iterator over unfilled members: at its end it starts over, if its last round gave out a partition."""

    def __init__(self, members: Iterable[int]) -> None:
        """`members`: in the order of Kafka's set of them, in which no two share a bucket."""
        self._unfilled = dict.fromkeys(members)
        self._rest = list(self._unfilled)[::-1]
        self._last = -1
        self._has_given = False

    def takers(self, holders: Collection[int], lacks: int) -> Iterator[int]:
        """The next members that are not among the holders, as many as the partition lacks.

        No members when all are filled; fewer after a round in which nobody took anything. One member may come twice.
        """
        for _ in range(lacks if self._unfilled else 0):
            if not self._advance(holders):
                return
            yield self._last

    def _advance(self, holders: Collection[int]) -> bool:
        while True:
            if not self._rest:
                if not self._has_given:
                    return False
                self._begin_round()
            self._last = self._rest.pop()
            if self._last not in holders:
                self._has_given = True
                return True

    def remove_last(self) -> None:
        """The member that came last is filled."""
        del self._unfilled[self._last]

    def _begin_round(self) -> None:
        self._rest = list(self._unfilled)[::-1]
        self._has_given = False
        if not self._rest:
            raise AssignorError(
                "No unfilled member is left for a partition that needs one (Kafka: NoSuchElementException): members "
                "own partitions that no longer exist. Correct what they own."
            )


def _wanted(members: Sequence[int], places: int) -> dict[int, int]:
    """How many of `places` partitions each member should hold."""
    precise = places / len(members) if members else 0.0
    return {index: ceil(precise * (at + 1)) - ceil(precise * at) for at, index in enumerate(members)}
