"""Balancing in the general path: moves from members with many partitions to members with few, until none is left.

Kafka: `performReassignments`, `isBalanced`, `getBalanceScore`. Two things make it fast with the same outcome. A pass
goes over the partitions topic by topic, and in a topic whose largest owner has at most one more than its smallest
subscriber nothing can move. And the second half of `isBalanced`, which looks at every pair of member and partition, can
only stop a pass from which no move would come anyway, unless a former owner or a claim is out of date: then it is asked
before each move, here as there.
"""

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers
from assignors.client.sticky.assignment_state import NOBODY, Board
from assignors.client.sticky.balance_pass import Sweep
from assignors.client.sticky.checked_pass import CarefulSweep
from assignors.client.sticky.rack_info import RackView
from assignors.model import AssignorError

_PASSES_BEFORE_SUSPICION = 16


class Balance:
    """One run of balancing on a board."""

    def __init__(
        self,
        arrays: GroupArrays,
        board: Board,
        topics_of: NDArray[np.int32],
        previous: NDArray[np.int32] | None,
        racks: RackView | None,
    ) -> None:
        """`topics_of`: the topic of each code; `previous`: former owners (ranks) by code."""
        self._offsets = arrays.layout.offsets.tolist()
        self._board = board
        shared = board.terms.claimants >= 2
        self._topics = [topic for topic in board.terms.order if shared[topic]]
        self._frozen = _frozen(board, shared[topics_of])
        self._sweep = Sweep(arrays, board, self._frozen, previous)
        if len(topics_of) > len(arrays.layout) or _has_outsiders(board, topics_of, previous):
            self._sweep = CarefulSweep(arrays, board, self._frozen, previous, racks)

    def run(self, free: NDArray[np.bool_] | None, *, fresh: bool) -> None:
        """Balance the `free` partitions first (unless None), then all. Unless everything is new, the outcome must be
        better than what was there before. Raises AssignorError where Kafka throws or never returns.
        """
        board = self._board
        before = board.where.copy(), board.size.copy(), board.sequence.copy()
        if free is not None:
            self._perform(free)
        if self._perform(None) and not fresh and self._score(board.size) >= self._score(before[1]):
            board.where, board.size, board.sequence = before
            del board.log[:]

    def _score(self, sizes: Numbers) -> int:
        """The sum of differences over all pairs of members, in Java's int, which overflows."""
        ascending = np.sort(sizes[~self._frozen])
        places = np.arange(len(ascending))
        total = int(((2 * places - len(ascending) + 1) * ascending).sum())
        return ((total & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000

    def _perform(self, marked: NDArray[np.bool_] | None) -> bool:
        """Passes until one makes no move. True when any made one."""
        passes = 0
        seen: set[tuple[object, ...]] = set()
        while self._pass(marked):
            passes += 1
            if passes > _PASSES_BEFORE_SUSPICION:
                _refuse_repetition(self._sweep.signature(), seen)
        return passes > 0

    def _pass(self, marked: NDArray[np.bool_] | None) -> bool:
        moved = False
        for topic in self._topics:
            begin, end = self._offsets[topic], self._offsets[topic + 1]
            places = np.arange(end - begin) if marked is None else np.flatnonzero(marked[begin:end])
            if not len(places):
                continue
            if self._sweep.is_balanced():
                break
            moved |= self._sweep.topic(topic, places)
        return moved


def _frozen(board: Board, shared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Members that can neither get nor give anything: they have all they could have, and share no topic of it."""
    owners = board.where[shared & (board.where != NOBODY)]
    shares = np.bincount(owners, minlength=len(board.size)) > 0
    return (board.size >= board.terms.most) & ~shares


def _has_outsiders(board: Board, topics_of: NDArray[np.int32], previous: NDArray[np.int32] | None) -> bool:
    """Whether a former owner no longer subscribes to the topic."""
    if previous is None:
        return False
    known = np.flatnonzero(previous != NOBODY)
    return not board.terms.may_own(topics_of[known], previous[known]).all()


def _refuse_repetition(state: tuple[object, ...], seen: set[tuple[object, ...]]) -> None:
    if state in seen:
        raise AssignorError(
            "Livelock: Kafka never returns from this group, because partitions go in circles between members that "
            "claim them from an older generation and no longer subscribe to their topics. Correct what they own."
        )
    seen.add(state)
