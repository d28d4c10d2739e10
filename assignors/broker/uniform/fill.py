"""What members get from `uniform`, in the order in which Kafka's containers list it."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from assignors.broker.spec_arrays import BrokerList, Numbers, lengths
from assignors.broker.uniform.recorded import Runs
from assignors.javahash import INTEGERS, JavaHashSet, plain_order, table_size_for
from assignors.javahash.hashes import DEFAULT_CAPACITY, Hashes, threshold
from assignors.layout import Codes, Layout

Topics = frozenset[int]  # positions in a layout
NONE: Topics = frozenset()

_DEFAULT_FROM = 7  # so many topics take the default capacity or more, and then a copied map has the order of the first


def copied_capacity(count: int) -> int:
    """The capacity of `new HashMap(count)` after `put` of so many."""
    capacity = table_size_for(count)
    return capacity * (1 + (count > threshold(capacity)))


class Filler:
    """Cuts and fills the lists of one group.

    In the layout's order: `hashes` of the topics' ids, and the `capacities` of new sets (None: the default).
    """

    def __init__(self, layout: Layout, hashes: Hashes, jdk: int, capacities: list[int] | None = None) -> None:
        self.layout = layout
        self.hashes = hashes
        self.jdk = jdk
        self._capacities = capacities or [DEFAULT_CAPACITY] * len(layout.names)
        self.offsets = layout.offsets.astype(np.int32)
        self._offset_list: list[int] = layout.offsets.tolist()

    def cut(self, old: Codes, size: int, gone: int, crowded: Topics = NONE) -> BrokerList:
        """The first `size` of a list in Java's order, as the copied map lists them after the rest was removed.

        `gone`: of how many more topics the map had something. `crowded`: the topics whose sets are crowded.
        """
        runs = self.runs(old)
        if not crowded and (len(runs) < 2 or (len(runs) + gone >= _DEFAULT_FROM and not gone)):
            return BrokerList(self.layout, old[:size])
        order = self._map_order([topic for topic, _, _ in runs], gone)
        pieces = [self._left(topic, old[begin:end], size - begin, topic in crowded) for topic, begin, end in runs]
        return BrokerList(self.layout, np.concatenate([old[:0], *(pieces[at] for at in order)]))

    def _left(self, topic: int, codes: Codes, size: int, is_crowded: bool) -> Codes:
        """A copied set after all but the first `size` were removed."""
        if not is_crowded:
            return codes[: max(size, 0)]
        begin = self.begin_of(topic)
        numbers = (codes - begin).tolist()
        exact = JavaHashSet.copy_of(INTEGERS, numbers, self.jdk)
        for number in numbers[max(size, 0) :]:
            exact.remove(number)
        return np.fromiter(exact, dtype=np.int32, count=len(exact)) + np.int32(begin)

    def without(self, olds: Sequence[Codes], removed: Sequence[int]) -> Iterator[tuple[Codes, int]]:
        """Each list after some were removed, and of how many of its topics nothing is left. Not for crowded sets."""
        stays = np.ones(len(self.layout), dtype=np.bool_)
        stays[list(removed)] = False
        codes = np.concatenate(olds)
        runs = Runs(self.layout.topic_table().take(codes), lengths(olds))
        is_left = stays.take(codes)
        is_empty = ~np.logical_or.reduceat(is_left, runs.starts)
        emptied = np.bincount(runs.members[is_empty], minlength=len(olds))
        for old, goes in zip(olds, emptied.tolist(), strict=True):
            yield old[stays[old]], goes

    def _map_order(self, topics: list[int], gone: int) -> list[int]:
        """How a copied map lists topics that it had beside those now gone."""
        capacity = copied_capacity(len(topics) + gone)
        order: list[int] = plain_order(self.hashes[topics], capacity).tolist()
        return order

    def runs(self, codes: Codes) -> list[tuple[int, int, int]]:
        """(topic, begin, end) of a list in Java's order: each topic is one stretch."""
        if not len(codes):
            return []
        first = self.topic_of(int(codes[0]))
        if first == self.topic_of(int(codes[-1])):
            return [(first, 0, len(codes))]
        topics = self.layout.topics_of(codes)
        bounds = [0, *(np.flatnonzero(topics[1:] != topics[:-1]) + 1).tolist(), len(topics)]
        return [(int(topics[begin]), begin, end) for begin, end in pairwise(bounds)]

    def new_capacity(self, topic: int) -> int:
        """The capacity of a new set for partitions of the topic."""
        return self._capacities[topic]

    def new_capacities(self) -> Numbers:
        """The same for all topics."""
        return np.array(self._capacities, dtype=np.int64)

    def begin_of(self, topic: int) -> int:
        """The code of the topic's first partition."""
        return self._offset_list[topic]

    def topic_of(self, code: int) -> int:
        """The topic of a partition."""
        return bisect_right(self._offset_list, code) - 1
