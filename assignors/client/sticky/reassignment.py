"""Moving partitions of one topic between members (Kafka: `reassignPartition`, `processPartitionMovement`)."""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.client.sticky.assignment_state import AssignmentState
from assignors.client.sticky.partition_movements import TopicMovements
from assignors.javahash import string_hash
from assignors.model import AssignorError


class Reassignment:
    """Moves partitions, and knows how many partitions members have. `enter` a topic, then `move` its partitions.

    Of the entered topic: `owners`, the rank that owns each partition; `heap`, its subscribers that take part as
    `count * width + rank`, the first entry up to date. Of the group: `counts` by rank; `width`, its members;
    `is_fixed`, the members that take no part (Kafka: `fixedAssignments`).
    """

    def __init__(self, arrays: GroupArrays, state: AssignmentState, is_fixed: NDArray[np.bool_]) -> None:
        self.state = state
        self.is_fixed = is_fixed
        self.names = arrays.layout.names
        self.offsets: list[int] = arrays.layout.offsets.tolist()
        self.width = len(state.counts)
        self.topic = -1
        self.owners: list[int] = []
        self.counts: list[int] = state.counts.tolist()
        self.subscribers: set[int] = set()
        self.heap: list[int] = []
        self._movements: dict[int, TopicMovements] = {}
        self._members_with: list[int] = np.bincount(state.counts[~is_fixed], minlength=1).tolist()
        self.min_count, self.max_count = 0, 0
        self._narrow(0, len(self._members_with) - 1)

    def is_balanced(self) -> bool:
        """Kafka's first test: the counts of the members that take part differ by at most one.

        Raises AssignorError where no member takes part.
        """
        if self.min_count > self.max_count:
            raise AssignorError(
                "NoSuchElementException: no member takes part in balancing, because members claim to own partitions "
                "that do not exist. Correct what they own."
            )
        return self.max_count - self.min_count <= 1

    def signature(self) -> tuple[object, ...]:
        """Equal for equal states: all that determines the next moves."""
        moves = tuple((topic, one.signature()) for topic, one in sorted(self._movements.items()))
        return self.state.owner_of.tobytes(), moves

    def enter(self, topic: int, subscribers: NDArray[np.intp]) -> None:
        """Make it the topic whose partitions move; `subscribers`: their ranks."""
        self.topic = topic
        self.owners = self.state.owner_of[self.offsets[topic] : self.offsets[topic + 1]].tolist()
        self.subscribers = set(subscribers.tolist())
        part = subscribers[~self.is_fixed[subscribers]]
        self.heap = np.sort(self.state.counts[part] * self.width + part).tolist()

    def move(self, partition: int, target: int) -> None:
        """Move the partition to the target, or the one that Kafka moves instead."""
        movements = self._movements.get(self.topic)
        if movements is None:
            movements = self._movements[self.topic] = TopicMovements(string_hash(self.names[self.topic]))
        partition = movements.instead_of(partition, self.owners[partition], target)
        source = self.owners[partition]
        movements.record(partition, source, target)
        self.owners[partition] = target
        self._record(self.offsets[self.topic] + partition, source, target)
        self._resize(source, -1)
        self._resize(target, 1)
        while self.counts[self.heap[0] % self.width] != self.heap[0] // self.width:
            heappop(self.heap)

    def _record(self, code: int, source: int, target: int) -> None:
        duplicate = self.state.duplicates.get(code)
        if duplicate is not None and self.state.owner_of[duplicate] == source:
            self._keep_later(code, duplicate)
        self.state.owner_of[code] = target
        self.state.moved.append(code)

    def _keep_later(self, code: int, duplicate: int) -> None:
        """The owner has the partition twice, and Kafka removes the first: the duplicate takes the later position."""
        moved, assigned = self.state.moved, self.state.assigned
        if code in moved:
            moved[len(moved) - 1 - moved[::-1].index(code)] = duplicate
        else:
            first, second = int(np.flatnonzero(assigned == duplicate)[0]), int(np.flatnonzero(assigned == code)[0])
            assigned[first], assigned[second] = code, duplicate

    def _resize(self, member: int, change: int) -> None:
        old = self.counts[member]
        new = self.counts[member] = self.state.counts[member] = old + change
        if member in self.subscribers:
            heappush(self.heap, new * self.width + member)
        if new == len(self._members_with):
            self._members_with.append(0)
        self._members_with[old] -= 1
        self._members_with[new] += 1
        self._narrow(min(self.min_count, new), max(self.max_count, new))

    def _narrow(self, low: int, high: int) -> None:
        """Set the bounds of the counts of members that take part; `min_count` is above `max_count` without any."""
        while low <= high and not self._members_with[low]:
            low += 1
        while high > low and not self._members_with[high]:
            high -= 1
        self.min_count, self.max_count = low, high
