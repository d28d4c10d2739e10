"""State of the general assignment: which member has which partition, and which members may have it.

Members are numbered by rank, their position among the sorted member ids. Ordered by (number of partitions, rank) they
stand as in Kafka's `sortedCurrentSubscriptions`.
"""

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import GroupArrays, Numbers
from assignors.layout import id_order

NO_MEMBER = -1


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """Who subscribes to what.

    by_rank: int32[n_members], positions of the members in the group by rank.
    list_of: int32[n_members], rows of `GroupArrays.lists` by rank.
    has_topic: bool[n_topics, n_lists].
    subscriber_counts: int64[n_topics], subscriptions to each topic, duplicates included.
    sorted_topics: positions of the topics by that count, then by name.
    max_partitions: int64[n_members], partitions of all topics of a member, by rank.
    """

    by_rank: NDArray[np.int32]
    list_of: NDArray[np.int32]
    has_topic: NDArray[np.bool_]
    subscriber_counts: Numbers
    sorted_topics: list[int]
    max_partitions: Numbers

    def subscribers(self, topic: int) -> NDArray[np.intp]:
        """Ranks of the members that subscribe to the topic, ascending."""
        return np.flatnonzero(self.has_topic[topic][self.list_of])

    def are_subscribed(self, topics: NDArray[np.integer], ranks: NDArray[np.integer]) -> NDArray[np.bool_]:
        """bool[n]: whether member ranks[i] subscribes to topics[i]."""
        found: NDArray[np.bool_] = self.has_topic[topics, self.list_of[ranks]]
        return found


def subscriptions_of(arrays: GroupArrays) -> Subscriptions:
    partitions = arrays.layout.counts
    has_topic = np.zeros((len(partitions), len(arrays.lists)), dtype=np.bool_)
    members = np.bincount(arrays.list_of, minlength=len(arrays.lists))
    counts = np.zeros(len(partitions), dtype=np.int64)
    most = np.empty(len(arrays.lists), dtype=np.int64)
    for row, topics in enumerate(arrays.lists):
        positions = arrays.positions(topics)
        has_topic[positions, row] = True
        np.add.at(counts, positions, members[row])
        most[row] = len(arrays.layout) if len(positions) == len(partitions) else partitions[positions].sum()
    by_rank = np.array(id_order(arrays.members), dtype=np.int32)
    list_of = arrays.list_of[by_rank]
    return Subscriptions(by_rank, list_of, has_topic, counts, np.argsort(counts, kind="stable").tolist(), most[list_of])


@dataclass(slots=True)
class AssignmentState:
    """Who has what. Balancing changes it.

    owner_of: int32[n_codes], the rank that owns each partition (Kafka: `currentPartitionConsumer`).
    counts: int64[n_members], partitions of each member by rank.
    assigned: int32[n], codes in the order in which they were assigned before balancing.
    duplicates: code of a partition -> code of its second copy.
    moved: codes in the order of the moves.

    Codes continue after those of the layout: first claimed partitions that do not exist, then second copies of
    partitions that are assigned again although their owner keeps them.
    """

    subscriptions: Subscriptions
    owner_of: NDArray[np.int32]
    counts: Numbers
    assigned: NDArray[np.int32]
    duplicates: dict[int, int] = field(default_factory=dict)
    moved: "array[int]" = field(default_factory=lambda: array("i"))
