"""What members get from `uniform`, in the order in which Kafka's containers list it."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from assignors.javahash import INTEGERS, JavaHashSet, absent_order, hash_set_capacity, table_size_for
from assignors.javahash.hashes import DEFAULT_CAPACITY, Hashes, spread, threshold
from assignors.javahash.maps import CROWDED
from assignors.javahash.orders import few_absent_order, number_order, spread_all
from assignors.layout import Codes, Layout
from assignors.server_arrays import BrokerList, Numbers

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
        self._offsets = layout.offsets.astype(np.int32)
        self._offset_list: list[int] = layout.offsets.tolist()
        self._spreads: list[int] = spread_all(hashes).tolist()

    def cut(self, old: Codes, size: int, gone: int, crowded: Topics = NONE) -> BrokerList:
        """The first `size` of a list in Java's order, as the copied map lists them after the rest was removed.

        `gone`: of how many more topics the map had something. `crowded`: the topics whose sets are crowded.
        """
        runs = self.runs(old)
        if not crowded and (len(runs) < 2 or (len(runs) + gone >= _DEFAULT_FROM and not gone)):
            return BrokerList(self.layout, old[:size])
        order = self._map_order([topic for topic, _, _ in runs], len(runs), gone, ends_with_new=True)
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

    def fill(self, old: Codes, new: Codes, gone: int = 0, crowded: Topics = NONE) -> BrokerList:
        """A list in Java's order, and partitions more: what the copied map and its sets list in the end.

        `gone`: of how many more topics the map had something, before they were removed. `crowded`: the topics whose
        sets are crowded.
        """
        sets = {topic: old[begin:end] for topic, begin, end in self.runs(old)}
        kept = len(sets)
        added = _merged((topic, new[begin:end]) for topic, begin, end in self._stretches(new))
        ends_with_new = self._ends_with_new(sets, added, new)
        for topic, codes in added.items():
            sets[topic] = self._grown(topic, sets.get(topic), codes)
        for topic in crowded - added.keys():
            sets[topic] = self._grown(topic, sets[topic], old[:0])
        pieces = list(sets.values())
        order = self._map_order(list(sets), kept, gone, ends_with_new)
        return BrokerList(self.layout, np.concatenate([old[:0], *(pieces[at] for at in order)]))

    def _map_order(self, topics: list[int], kept: int, gone: int, ends_with_new: bool) -> list[int]:
        """How the copied map lists topics: the first `kept` came by `put`, beside those now gone, the others later."""
        capacity = copied_capacity(kept + gone)
        if len(topics) < CROWDED:
            return few_absent_order([self._spreads[topic] for topic in topics], kept, capacity, ends_with_new)
        order: list[int] = absent_order(self.hashes[topics], kept, capacity, ends_with_new).tolist()
        return order

    def _ends_with_new(self, sets: Mapping[int, Codes], added: Mapping[int, Codes], new: Codes) -> bool:
        if not len(new):
            return True
        last = self.topic_of(int(new[-1]))
        return last not in sets and len(added[last]) == 1

    def _grown(self, topic: int, before: Codes | None, added: Codes) -> Codes:
        """A set of partitions of one topic after some were added: it began as a copy, or empty."""
        if before is None and len(added) == 1:
            return added
        codes = added if before is None else np.concatenate((before, added))
        capacity = self.new_capacity(topic) if before is None else hash_set_capacity(len(before), self.jdk)
        if len(codes) > CROWDED:
            return codes[number_order(codes - self._offsets[topic], capacity)]
        offset = self.begin_of(topic)  # no more than eight, which cannot crowd
        while len(codes) > threshold(capacity):
            capacity *= 2
        return np.array(sorted(codes.tolist(), key=lambda code: spread(code - offset) & (capacity - 1)), dtype=np.int32)

    def runs(self, codes: Codes) -> list[tuple[int, int, int]]:
        """(topic, begin, end) of a list in Java's order: each topic is one stretch."""
        if not len(codes):
            return []
        first = self.topic_of(int(codes[0]))
        if first == self.topic_of(int(codes[-1])):
            return [(first, 0, len(codes))]
        return self._stretches(codes)

    def _stretches(self, codes: Codes) -> list[tuple[int, int, int]]:
        """(topic, begin, end) of the stretches of one topic, in any list."""
        if not len(codes):
            return []
        if len(codes) == 1:
            return [(self.topic_of(int(codes[0])), 0, 1)]
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


def _merged(pieces: Iterable[tuple[int, Codes]]) -> dict[int, Codes]:
    """The pieces of each topic as one, topics as they first appear."""
    found: dict[int, list[Codes]] = {}
    for topic, codes in pieces:
        found.setdefault(topic, []).append(codes)
    return {topic: codes[0] if len(codes) == 1 else np.concatenate(codes) for topic, codes in found.items()}
