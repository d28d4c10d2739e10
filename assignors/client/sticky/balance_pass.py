"""One pass over the partitions of one topic, in the balancing of the general path."""

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.client.sticky.assignment_state import NOBODY, Board
from assignors.client.sticky.partition_movements import TopicMovements
from assignors.javahash import string_hash
from assignors.model import AssignorError


class Sweep:
    """Visits partitions and moves those that Kafka moves, as long as no claim is out of date."""

    def __init__(
        self,
        arrays: GroupArrays,
        board: Board,
        frozen: NDArray[np.bool_],
        previous: NDArray[np.int32] | None,
    ) -> None:
        """`frozen`: members that take no part, by rank; `previous`: former owners (ranks) by code."""
        self._names = arrays.layout.names
        self._offsets = arrays.layout.offsets.tolist()
        self._board = board
        self._frozen = frozen
        self._previous = previous
        self._movements: dict[int, TopicMovements] = {}
        self._at_size = np.bincount(board.size[~frozen], minlength=1).tolist()
        self._tighten(0, len(self._at_size) - 1)

    def is_balanced(self) -> bool:
        """Kafka's first test: no two sizes differ by more than one. Fails, as there, when nobody takes part."""
        if self._low > self._high:
            raise AssignorError(
                "NoSuchElementException: no member takes part in balancing, because members claim to own partitions "
                "that do not exist. Correct what they own."
            )
        return self._high - self._low <= 1

    def signature(self) -> tuple[object, ...]:
        """Equal for equal states: all that decides what the next pass does."""
        moves = tuple((topic, one.signature()) for topic, one in sorted(self._movements.items()))
        return self._board.where.tobytes(), moves

    def topic(self, topic: int, places: NDArray[np.intp]) -> bool:
        """Visit these partitions (their numbers) of the topic. True when any moved."""
        board = self._board
        begin, end = self._offsets[topic], self._offsets[topic + 1]
        where = board.where[begin:end]
        subscribers = board.terms.subscribers(topic)
        if self._is_settled(where[places], subscribers):
            return False
        self._enter(topic, begin, where.tolist(), subscribers)
        return self._visit(places.tolist())

    def _is_settled(self, owners: NDArray[np.int32], subscribers: NDArray[np.intp]) -> bool:
        """Whether nothing can move: no owner has two more than some subscriber."""
        sizes = self._board.size
        return bool(sizes[owners].max() - sizes[subscribers].min() <= 1)

    def _enter(self, topic: int, begin: int, where: list[int], subscribers: NDArray[np.intp]) -> None:
        self._topic, self._begin, self._where = topic, begin, where
        self._size = self._board.size.tolist()
        self._width = len(self._size)
        self._subscribers = set(subscribers.tolist())
        part = subscribers[~self._frozen[subscribers]]
        self._heap: list[int] = np.sort(self._board.size[part] * self._width + part).tolist()

    def _visit(self, places: Sequence[int]) -> bool:
        """All that a visit takes when claims are in order: a former owner that is smaller, else the smallest."""
        where, size, width, heap = self._where, self._size, self._width, self._heap
        previous = self._former()
        moved = False
        enough = heap[0] // width + 1
        for place in places:
            count = size[where[place]]
            target = heap[0] % width
            if previous is not None and previous[place] != NOBODY and count > size[previous[place]] + 1:
                target = previous[place]
            elif count <= enough:
                continue
            self._move(place, target)
            moved = True
            enough = heap[0] // width + 1
            if self._high - self._low <= 1:
                break
        return moved

    def _former(self) -> list[int] | None:
        if self._previous is None:
            return None
        former: list[int] = self._previous[self._begin : self._begin + len(self._where)].tolist()
        return former

    def _move(self, place: int, target: int) -> None:
        """Move the partition, or the one that Kafka moves instead, to the target."""
        movements = self._movements.get(self._topic)
        if movements is None:
            movements = self._movements[self._topic] = TopicMovements(string_hash(self._names[self._topic]))
        place = movements.instead_of(place, self._where[place], target)
        source = self._where[place]
        movements.record(place, source, target)
        self._where[place] = target
        self._log(self._begin + place, source, target)
        self._resize(source, -1)
        self._resize(target, 1)
        while self._size[self._heap[0] % self._width] != self._heap[0] // self._width:
            heappop(self._heap)

    def _log(self, code: int, source: int, target: int) -> None:
        self._board.where[code] = target
        self._board.log.append(code)

    def _resize(self, member: int, change: int) -> None:
        old = self._size[member]
        new = self._size[member] = self._board.size[member] = old + change
        if member in self._subscribers:
            heappush(self._heap, new * self._width + member)
        if new == len(self._at_size):
            self._at_size.append(0)
        self._at_size[old] -= 1
        self._at_size[new] += 1
        self._tighten(min(self._low, new), max(self._high, new))

    def _tighten(self, low: int, high: int) -> None:
        """Bounds of the sizes of those that take part; low above high when there is nobody."""
        while low <= high and not self._at_size[low]:
            low += 1
        while high > low and not self._at_size[high]:
            high -= 1
        self._low, self._high = low, high
