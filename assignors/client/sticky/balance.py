"""Balancing in the general assignment: partitions move from members with many to members with few.

Kafka: `performReassignments`, `isBalanced`, `getBalanceScore`. Two shortcuts keep its outcome. A pass goes topic by
topic, and skips topics whose largest owner has at most one partition more than their smallest subscriber: none can
move. And the second half of `isBalanced`, which compares every member with every partition, is left out unless a
previous owner or a claim is out of date: elsewhere it only ends passes from which no move would come.
"""

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers
from assignors.client.sticky.assignment_state import NO_MEMBER, AssignmentState
from assignors.client.sticky.passes import CheckedPass, Pass, PreviousOwners
from assignors.client.sticky.rack_info import RackView
from assignors.client.sticky.reassignment import Reassignment
from assignors.javahash.hashes import signed
from assignors.model import AssignorError

_PASSES_WITHOUT_CHECK = 16  # before it is checked whether states repeat


class Balance:
    """One run of balancing on an assignment."""

    def __init__(
        self,
        arrays: GroupArrays,
        state: AssignmentState,
        topic_of: NDArray[np.int32],
        previous: NDArray[np.int32] | None,
        racks: RackView | None,
    ) -> None:
        """`topic_of`: int32[n_codes], the topic of each code; `previous`: int32[n_partitions], previous owner ranks."""
        self._offsets = arrays.layout.offsets.tolist()
        self._state = state
        is_shared = state.subscriptions.subscriber_counts >= 2
        self._topics = [topic for topic in state.subscriptions.sorted_topics if is_shared[topic]]
        self._is_fixed = _fixed(state, is_shared[topic_of])
        self._moves = Reassignment(arrays, state, self._is_fixed)
        self._pass: Pass | CheckedPass = Pass(self._moves, PreviousOwners(previous))
        if len(topic_of) > len(arrays.layout) or _has_outsiders(state, topic_of, previous):
            self._pass = CheckedPass(arrays, self._moves, PreviousOwners(previous), racks)

    def run(self, unassigned: NDArray[np.bool_] | None, *, fresh: bool) -> None:
        """Balance the `unassigned` partitions first (unless None), then all.

        Unless all is `fresh`, the result must be better than before, or it is undone. Raises AssignorError where Kafka
        throws or never returns.
        """
        state = self._state
        before = state.owner_of.copy(), state.counts.copy(), state.assigned.copy()
        if unassigned is not None:
            self._reassign(unassigned)
        if self._reassign(None) and not fresh and self._score(state.counts) >= self._score(before[1]):
            state.owner_of, state.counts, state.assigned = before
            del state.moved[:]

    def _score(self, counts: Numbers) -> int:
        """`getBalanceScore`: the sum of differences over all pairs of members, in Java's int, which overflows."""
        ascending = np.sort(counts[~self._is_fixed])
        places = np.arange(len(ascending))
        return signed(int(((2 * places - len(ascending) + 1) * ascending).sum()))

    def _reassign(self, marked: NDArray[np.bool_] | None) -> bool:
        """Passes until one moves nothing. True when any moved something."""
        passes = 0
        seen: set[tuple[object, ...]] = set()
        while self._pass_over(marked):
            passes += 1
            if passes > _PASSES_WITHOUT_CHECK:
                _refuse_repetition(self._moves.signature(), seen)
        return passes > 0

    def _pass_over(self, marked: NDArray[np.bool_] | None) -> bool:
        moved = False
        for topic in self._topics:
            begin, end = self._offsets[topic], self._offsets[topic + 1]
            partitions = np.arange(end - begin) if marked is None else np.flatnonzero(marked[begin:end])
            if not len(partitions):
                continue
            if self._moves.is_balanced():
                break
            moved |= self._pass.visit(topic, partitions)
        return moved


def _fixed(state: AssignmentState, is_shared: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[n_members]: members that can neither get nor give: they have all they could have, and share no topic."""
    owners = state.owner_of[is_shared & (state.owner_of != NO_MEMBER)]
    shares = np.bincount(owners, minlength=len(state.counts)) > 0
    return (state.counts >= state.subscriptions.max_partitions) & ~shares


def _has_outsiders(state: AssignmentState, topic_of: NDArray[np.int32], previous: NDArray[np.int32] | None) -> bool:
    """Whether a previous owner no longer subscribes to the topic."""
    if previous is None:
        return False
    known = np.flatnonzero(previous != NO_MEMBER)
    return not state.subscriptions.are_subscribed(topic_of[known], previous[known]).all()


def _refuse_repetition(state: tuple[object, ...], seen: set[tuple[object, ...]]) -> None:
    if state in seen:
        raise AssignorError(
            "Livelock: Kafka never finishes this assignment, because partitions move in circles between members that "
            "claim them from an older generation and no longer subscribe to their topics. Correct what they own."
        )
    seen.add(state)
