"""The state of the general path: who has what, who may have what, in which order Kafka looks at it.

Members are numbered by rank here: their place among the sorted ids. Together with the number of partitions that a
member has, it makes the order of Kafka's `sortedCurrentSubscriptions`.
"""

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers
from assignors.layout import id_order

NOBODY = -1


@dataclass(frozen=True, slots=True)
class Terms:
    """Who may own what.

    `by_rank`: the members in the order of their ids; `list_of`: their subscriptions; `wants[topic, list]`: whether that
    subscription has that topic; `claimants`: how often each topic is subscribed to, duplicates included; `order`:
    topics by that and by name; `most`: how much a member could own at most, by rank.
    """

    by_rank: NDArray[np.int32]
    list_of: NDArray[np.int32]
    wants: NDArray[np.bool_]
    claimants: Numbers
    order: list[int]
    most: Numbers

    def subscribers(self, topic: int) -> NDArray[np.intp]:
        """Ranks of the members that subscribe to the topic, ascending."""
        return np.flatnonzero(self.wants[topic][self.list_of])

    def may_own(self, topics: NDArray[np.integer], ranks: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether each member subscribes to each topic, pair by pair."""
        allowed: NDArray[np.bool_] = self.wants[topics, self.list_of[ranks]]
        return allowed


def terms_of(arrays: GroupArrays) -> Terms:
    """The terms of a group."""
    counts = arrays.layout.counts
    wants = np.zeros((len(counts), len(arrays.lists)), dtype=np.bool_)
    users = np.bincount(arrays.list_of, minlength=len(arrays.lists))
    claimants = np.zeros(len(counts), dtype=np.int64)
    most = np.empty(len(arrays.lists), dtype=np.int64)
    for row, topics in enumerate(arrays.lists):
        positions = arrays.positions(topics)
        wants[positions, row] = True
        np.add.at(claimants, positions, users[row])
        most[row] = len(arrays.layout) if len(positions) == len(counts) else counts[positions].sum()
    by_rank = np.array(id_order(arrays.members), dtype=np.int32)
    list_of = arrays.list_of[by_rank]
    order = np.argsort(claimants, kind="stable").tolist()
    return Terms(by_rank, list_of, wants, claimants, order, most[list_of])


@dataclass(slots=True)
class Board:
    """Who has what. `where` by code, `size` by rank; `log` the codes of all moves, in order.

    Codes go on behind the layout's: first claimed partitions that do not exist, then second copies: of a partition that
    its owner keeps though it is given out again. `copies` names these by the partition.
    """

    terms: Terms
    where: NDArray[np.int32]
    size: Numbers
    sequence: NDArray[np.int32]
    copies: dict[int, int] = field(default_factory=dict)
    log: "array[int]" = field(default_factory=lambda: array("i"))
