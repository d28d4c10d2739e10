"""Kafka's `UniformHeterogeneousAssignmentBuilder` (KAFKA-17710): members subscribe to different topics."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from assignors.broker.group_spec import OwnedSets, ServerGroup, assignment, sized
from assignors.javahash import INTEGERS, JavaHashSet
from assignors.javahash.hashes import uuid_order
from assignors.model import Assignment, AssignorError, Member

ROUNDS = 16
_NOBODY = -1


class Heterogeneous:
    """One computation; call `plan` once. Members are known by their position in the coordinator's order."""

    def __init__(self, group: ServerGroup) -> None:
        self._group = group
        self._counts = {uuid: topic.partitions for uuid, topic in group.by_id().items()}
        self._subscribers: dict[UUID, list[int]] = {}
        self._subscriptions = [self._subscribe(index, member) for index, member in enumerate(group.members)]
        self._owners = {uuid: [_NOBODY] * self._counts[uuid] for uuid in self._subscribers}
        self._sizes = [0] * len(group.members)
        self._sets: list[OwnedSets] = []
        self._copied = [False] * len(group.members)

    def _subscribe(self, index: int, member: Member) -> set[UUID]:
        uuids = {self._group.uuid_of(topic.name) for topic in self._group.subscribed(member)}
        for uuid in uuids:
            self._subscribers.setdefault(uuid, []).append(index)
        return uuids

    def plan(self) -> Assignment:
        """The assignment. AssignorError where Kafka throws."""
        if not self._subscribers:
            return assignment(self._group, {})
        for index, member in enumerate(self._group.members):
            self._import(index, member)
        for uuid in self._in_order(self._subscribers):
            self._hand_out(uuid)
        self._balance(self._in_order(uuid for uuid, members in self._subscribers.items() if len(members) > 1))
        ids = (member.member_id for member in self._group.members)
        return assignment(self._group, dict(zip(ids, self._sets, strict=True)))

    def _import(self, index: int, member: Member) -> None:
        old = self._group.owned(member)
        self._sets.append(old)
        for uuid, numbers in old.items():
            if uuid in self._subscriptions[index]:
                self._sizes[index] += len(numbers)
                self._claim(index, uuid, numbers)
            else:
                del self._own_copy(index)[uuid]

    def _claim(self, index: int, uuid: UUID, numbers: Iterable[int]) -> None:
        owners = self._owners[uuid]
        for number in numbers:
            if not 0 <= number < len(owners):
                name = self._group.by_id()[uuid].name
                raise AssignorError(
                    f"Member {self._group.members[index].member_id!r} owns {name}-{number}, but the topic has "
                    f"{len(owners)} partitions (Kafka: ArrayIndexOutOfBoundsException). Correct what it owns."
                )
            owners[number] = index

    def _in_order(self, uuids: Iterable[UUID]) -> list[UUID]:
        """Topics with most partitions per subscriber first, then those with fewest subscribers, then by id."""

        def rank(uuid: UUID) -> tuple[float, int, tuple[int, int]]:
            subscribers = len(self._subscribers[uuid])
            return -self._counts[uuid] / subscribers, subscribers, uuid_order(uuid)

        return sorted(uuids, key=rank)

    def _hand_out(self, uuid: UUID) -> None:
        free = [number for number, owner in enumerate(self._owners[uuid]) if owner == _NOBODY]
        if free:
            loads = self._loads(uuid)
            for number in free:
                self._give(uuid, number, loads.next_least())

    def _balance(self, uuids: list[UUID]) -> None:
        last_moved = None
        for _ in range(ROUNDS):
            for uuid in uuids:
                if uuid == last_moved:
                    return
                if self._balance_topic(uuid) or last_moved is None:
                    last_moved = uuid

    def _balance_topic(self, uuid: UUID) -> int:
        """Move partitions of one topic from its most to its least loaded subscribers; how many moved."""
        loads = self._loads(uuid)
        moved = 0
        if loads.spread <= 1:
            return moved
        givable: dict[int, list[int]] = defaultdict(list)
        for number, owner in enumerate(self._owners[uuid]):
            givable[owner].append(number)
        while not loads.is_balanced() and (donor := next_donor(loads, givable)) is not None:
            number = givable[donor].pop()
            receiver = loads.next_least()
            if loads.is_balanced():
                break
            self._take(uuid, number, donor)
            self._give(uuid, number, receiver)
            moved += 1
        return moved

    def _loads(self, uuid: UUID) -> "Loads":
        sizes = self._sizes
        return Loads(sorted(self._subscribers[uuid], key=lambda index: (sizes[index], index)), sizes)

    def _own_copy(self, index: int) -> OwnedSets:
        if not self._copied[index]:
            self._sets[index] = self._group.deep_copy(self._sets[index])
            self._copied[index] = True
        return self._sets[index]

    def _give(self, uuid: UUID, number: int, index: int) -> None:
        share = -(-self._counts[uuid] // len(self._subscribers[uuid]))
        sets = self._own_copy(index)
        sets.compute_if_absent(uuid, lambda: JavaHashSet(INTEGERS, sized(share))).add(number)
        self._owners[uuid][number] = index
        self._sizes[index] += 1

    def _take(self, uuid: UUID, number: int, index: int) -> None:
        sets = self._own_copy(index)
        if uuid in sets:
            sets[uuid].discard(number)
            if not sets[uuid]:
                del sets[uuid]
        self._sizes[index] -= 1


def next_donor(loads: "Loads", givable: dict[int, list[int]]) -> int | None:
    """The next most loaded member that has something to give; None when nobody has."""
    while (donor := loads.next_most()) is not None and not givable[donor]:
        loads.exclude_last_most()
    return donor


class Loads:
    """Water-filling over the subscribers of a topic, sorted by load: from below for receivers, from above for donors.

    Subscribers come sorted by load, then by position; `sizes` is everybody's load and may change meanwhile. A range of
    equally loaded members is walked once; then its level changes by one and it grows by the members that have just that
    load.
    """

    def __init__(self, members: list[int], sizes: list[int]) -> None:
        self._sizes = sizes
        self._sorted = members
        self._low_end = 0
        self._low_level = sizes[self._sorted[0]] - 1
        self._low_next = 0
        self._high_start = self._high_end = len(self._sorted)
        self._high_level = sizes[self._sorted[-1]] + 1
        self._high_next = len(self._sorted) - 1
        self.spread = self._high_level - self._low_level - 2

    def is_balanced(self) -> bool:
        """Whether receivers and donors are at most one apart."""
        return self._high_level - self._low_level <= 1

    def next_least(self) -> int:
        """The member to give the next partition to."""
        if self._low_next >= self._low_end:
            self._low_level += 1
            while self._low_end < len(self._sorted) and self._load(self._low_end) == self._low_level:
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._sorted[self._low_next - 1]

    def next_most(self) -> int | None:
        """The member to take a partition from; None when all are excluded."""
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                self._high_level = self._load(self._high_start - 1)
            else:
                self._high_level -= 1
            while self._high_start > 0 and self._load(self._high_start - 1) == self._high_level:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        self._high_next -= 1
        return self._sorted[self._high_next + 1]

    def exclude_last_most(self) -> None:
        """The member last returned by `next_most` has nothing to give: leave it out from now on."""
        here, end = self._high_next + 1, self._high_end - 1
        self._sorted[here], self._sorted[end] = self._sorted[end], self._sorted[here]
        self._high_end = end

    def _load(self, position: int) -> int:
        return self._sizes[self._sorted[position]]
