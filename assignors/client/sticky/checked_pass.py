"""A pass over one topic when claims are out of date: with Kafka's second test for balance, and where its calls fail."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays
from assignors.client.sticky.assignment_state import NOBODY, Board
from assignors.client.sticky.balance_pass import Sweep
from assignors.client.sticky.rack_info import NO_RACK, RackView
from assignors.model import AssignorError


class CarefulSweep(Sweep):
    """Visits like Kafka where a former owner no longer subscribes, or a member claims what does not exist."""

    def __init__(
        self,
        arrays: GroupArrays,
        board: Board,
        frozen: NDArray[np.bool_],
        previous: NDArray[np.int32] | None,
        racks: RackView | None,
    ) -> None:
        super().__init__(arrays, board, frozen, previous)
        rank_of = np.argsort(board.terms.by_rank)
        self._in_map_order: list[int] = rank_of[list(arrays.owner_order())].tolist()
        self._racks = racks

    def _is_settled(self, owners: NDArray[np.int32], subscribers: NDArray[np.intp]) -> bool:
        return False

    def _visit(self, places: Sequence[int]) -> bool:
        moved = False
        former = self._former()
        for place in places:
            target = self._target(place, NOBODY if former is None else former[place])
            if target == NOBODY:
                continue
            if self._is_balanced_in_effect():
                break
            if target == self._width:
                raise AssignorError(
                    f"NullPointerException: Kafka fails at partition {place} of topic {self._names[self._topic]!r}, "
                    "because a member that owned it or subscribes to it claims all that it could own and more. Correct "
                    "what the members own."
                )
            self._move(place, target)
            moved = True
            if self.is_balanced():
                break
        return moved

    def _target(self, place: int, former: int) -> int:
        """Who gets the partition: a rank, NOBODY, or the number of members where Kafka fails."""
        owner = self._where[place]
        if former != NOBODY:
            if self._frozen[former]:
                return self._width
            if self._size[owner] > self._size[former] + 1:
                return former
        for member in self._candidates(place, owner):
            if self._frozen[member]:
                return self._width
            if self._size[owner] > self._size[member] + 1:
                return self._heap[0] % self._width
        return NOBODY

    def _candidates(self, place: int, owner: int) -> Iterator[int]:
        """Subscribers in the order in which Kafka compares them with the owner: those in matching racks twice."""
        subscribers = [member for member in self._in_map_order if member in self._subscribers]
        if self._racks is not None and self._in_rack(place, owner):
            yield from (member for member in subscribers if self._in_rack(place, member))
        yield from subscribers

    def _in_rack(self, place: int, rank: int) -> bool:
        racks = self._racks
        rack = NO_RACK if racks is None else int(racks.rack_of[self._board.terms.by_rank[rank]])
        return racks is not None and rack != NO_RACK and bool(racks.match[rack, racks.set_of[self._begin + place]])

    def _is_balanced_in_effect(self) -> bool:
        """Kafka's second test: nobody who could own more subscribes to a topic with a partition at a larger owner."""
        board, terms = self._board, self._board.terms
        for member in np.lexsort((np.arange(self._width), board.size)).tolist():
            count = self._size[member]
            if self._high <= count + 1:
                return True
            if self._frozen[member] or count == terms.most[member]:
                continue
            topics = np.flatnonzero(terms.wants[:, terms.list_of[member]])
            if any(self._has_larger_owner(topic, member, count) for topic in topics.tolist()):
                return False
        return True

    def _has_larger_owner(self, topic: int, member: int, count: int) -> bool:
        board = self._board
        begin, end = self._offsets[topic], self._offsets[topic + 1]
        owners = board.where[begin:end]
        twice = [code for code in board.copies if begin <= code < end]
        if twice:
            owners = owners.copy()
            for code in twice:
                owners[code - begin] = self._last_owner(code, member)
        return bool((board.size[owners] > count + 1).any())

    def _last_owner(self, code: int, member: int) -> int:
        """Of two owners of one partition the one that Kafka sees last; the member itself if it is one of them."""
        owners = [int(self._board.where[code]), int(self._board.where[self._board.copies[code]])]
        taking_part = [owner for owner in owners if not self._frozen[owner]]
        last = max(taking_part, key=self._in_map_order.index)
        return member if member in owners else last

    def _log(self, code: int, source: int, target: int) -> None:
        copy = self._board.copies.get(code)
        if copy is not None and self._board.where[copy] == source:
            self._keep_later(code, copy)
        super()._log(code, source, target)

    def _keep_later(self, code: int, copy: int) -> None:
        """The owner has the partition twice, and Kafka takes out the first of them: the copy takes the later place."""
        log, sequence = self._board.log, self._board.sequence
        if code in log:
            log[len(log) - 1 - log[::-1].index(code)] = copy
        else:
            first, second = int(np.flatnonzero(sequence == copy)[0]), int(np.flatnonzero(sequence == code)[0])
            sequence[first], sequence[second] = code, copy
