"""One pass over the partitions of a topic: which of them move, and to whom (Kafka: the loop of `performReassignments`).

`Pass` is for groups whose claims are in order. `CheckedPass` is for the others: it asks Kafka's second test for
balance before each move, and fails where Kafka throws.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.client.sticky.assignment_state import NO_MEMBER, AssignmentState
from assignors.client.sticky.rack_info import NO_RACK, RackView
from assignors.client.sticky.reassignment import Reassignment
from assignors.model import AssignorError

Partitions = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class PreviousOwners:
    """Owners in an older generation (Kafka: `prevAssignment`): int32[n_partitions], ranks by code; None: nobody."""

    by_code: NDArray[np.int32] | None

    def of_topic(self, moves: Reassignment) -> list[int]:
        """The ranks of the entered topic, by partition."""
        if self.by_code is None:
            return [NO_MEMBER] * len(moves.owners)
        begin = moves.offsets[moves.topic]
        found: list[int] = self.by_code[begin : begin + len(moves.owners)].tolist()
        return found


@dataclass(frozen=True, slots=True)
class Pass:
    """The pass while every previous owner still subscribes and every claimed partition exists."""

    moves: Reassignment
    previous: PreviousOwners

    def visit(self, topic: int, partitions: Partitions) -> bool:
        """Move each partition to its previous owner, if that has at least two less, else to the smallest subscriber.

        `partitions`: numbers within the topic, intp[n]. Whether any moved.
        """
        moves, state = self.moves, self.moves.state
        subscribers = state.subscriptions.subscribers(topic)
        owners = state.owner_of[moves.offsets[topic] : moves.offsets[topic + 1]][partitions]
        if state.counts[owners].max() - state.counts[subscribers].min() <= 1:
            return False
        moves.enter(topic, subscribers)
        return self._move_all(partitions.tolist())

    def _move_all(self, partitions: list[int]) -> bool:
        moves, owners, counts, width = self.moves, self.moves.owners, self.moves.counts, self.moves.width
        previous = None if self.previous.by_code is None else self.previous.of_topic(moves)
        heap, moved = moves.heap, False
        enough = heap[0] // width + 1
        for partition in partitions:
            count = counts[owners[partition]]
            target = heap[0] % width
            if previous is not None and previous[partition] != NO_MEMBER and count > counts[previous[partition]] + 1:
                target = previous[partition]
            elif count <= enough:
                continue
            moves.move(partition, target)
            moved = True
            enough = heap[0] // width + 1
            if moves.max_count - moves.min_count <= 1:
                break
        return moved


@dataclass(frozen=True, slots=True)
class Choice:
    """Who gets a partition; `throws`: Kafka fails with a NullPointerException instead."""

    member: int = NO_MEMBER
    throws: bool = False


_STAYS, _THROWS = Choice(), Choice(throws=True)


class CheckedPass:
    """The pass when a previous owner no longer subscribes, or a member claims a partition that does not exist."""

    def __init__(
        self, arrays: GroupArrays, moves: Reassignment, previous: PreviousOwners, racks: RackView | None
    ) -> None:
        rank_of = np.argsort(moves.state.subscriptions.by_rank)
        self._in_map_order: list[int] = rank_of[list(arrays.owner_order())].tolist()
        self._moves = moves
        self._state: AssignmentState = moves.state
        self._previous = previous
        self._racks = racks

    def visit(self, topic: int, partitions: Partitions) -> bool:
        """Whether any of these partitions moved. AssignorError where Kafka throws."""
        moves = self._moves
        moves.enter(topic, self._state.subscriptions.subscribers(topic))
        previous, moved = self._previous.of_topic(moves), False
        for partition in partitions.tolist():
            choice = self._choose(partition, previous[partition])
            if choice is _STAYS:
                continue
            if self._is_balanced_in_effect():
                break
            if choice.throws:
                raise AssignorError(
                    f"NullPointerException: Kafka fails at partition {partition} of topic {moves.names[topic]!r}, "
                    "because a member that owned it or subscribes to it claims all that it could own and more. Correct "
                    "what the members own."
                )
            moves.move(partition, choice.member)
            moved = True
            if moves.is_balanced():
                break
        return moved

    def _choose(self, partition: int, previous: int) -> Choice:
        moves = self._moves
        owner = moves.owners[partition]
        if previous != NO_MEMBER:
            if moves.is_fixed[previous]:
                return _THROWS
            if moves.counts[owner] > moves.counts[previous] + 1:
                return Choice(previous)
        for member in self._candidates(partition, owner):
            if moves.is_fixed[member]:
                return _THROWS
            if moves.counts[owner] > moves.counts[member] + 1:
                return Choice(moves.heap[0] % moves.width)
        return _STAYS

    def _candidates(self, partition: int, owner: int) -> Iterator[int]:
        """Subscribers in the order in which Kafka compares them with the owner: those in matching racks twice."""
        subscribers = [member for member in self._in_map_order if member in self._moves.subscribers]
        if self._racks is not None and self._is_in_rack(partition, owner):
            yield from (member for member in subscribers if self._is_in_rack(partition, member))
        yield from subscribers

    def _is_in_rack(self, partition: int, member: int) -> bool:
        racks, moves = self._racks, self._moves
        rack = NO_RACK if racks is None else int(racks.rack_of[self._state.subscriptions.by_rank[member]])
        code = moves.offsets[moves.topic] + partition
        return racks is not None and rack != NO_RACK and bool(racks.match[rack, racks.set_of[code]])

    def _is_balanced_in_effect(self) -> bool:
        """Kafka's second test: no member that could own more subscribes to a topic of a larger owner's partition."""
        counts, subscriptions = self._moves.counts, self._state.subscriptions
        for member in np.lexsort((np.arange(len(counts)), self._state.counts)).tolist():
            count = counts[member]
            if self._moves.max_count <= count + 1:
                return True
            if self._moves.is_fixed[member] or count == subscriptions.max_partitions[member]:
                continue
            topics = np.flatnonzero(subscriptions.has_topic[:, subscriptions.list_of[member]])
            if any(self._has_larger_owner(topic, member, count) for topic in topics.tolist()):
                return False
        return True

    def _has_larger_owner(self, topic: int, member: int, count: int) -> bool:
        begin, end = self._moves.offsets[topic], self._moves.offsets[topic + 1]
        owners = self._state.owner_of[begin:end].copy()
        for code in self._state.duplicates:
            if begin <= code < end:
                owners[code - begin] = self._last_owner(code, member)
        return bool((self._state.counts[owners] > count + 1).any())

    def _last_owner(self, code: int, member: int) -> int:
        """Of two owners of one partition the one that Kafka sees last; the member itself if it is one of them."""
        owner_of = self._state.owner_of
        owners = [int(owner_of[code]), int(owner_of[self._state.duplicates[code]])]
        taking_part = [owner for owner in owners if not self._moves.is_fixed[owner]]
        last = max(taking_part, key=self._in_map_order.index)
        return member if member in owners else last
