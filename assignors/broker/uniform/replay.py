"""What one member of a mixed group has, container by container, on codes."""

import numpy as np

from assignors.broker.uniform.fill import Filler, Topics, copied_capacity
from assignors.javahash import INTEGERS, JavaHashMap, JavaHashSet, Keys
from assignors.layout import Codes


class Replay:
    """The deep copy of a member's old map of sets, and what happens to it. Topics are positions in the layout.

    `gone`: of how many topics more the old map had something. `crowded`: the topics whose old sets are crowded; the
    others stay arrays until they change. Only where topic ids do not crowd: of ids in one crowded bucket it does not
    know the order.
    """

    def __init__(self, filler: Filler, old: Codes, gone: int, crowded: Topics) -> None:
        self._filler = filler
        keys: Keys[int] = Keys(filler.hashes.tolist().__getitem__)
        runs = filler.runs(old)
        self._sets: JavaHashMap[int, Codes | JavaHashSet[int]] = JavaHashMap(keys, copied_capacity(len(runs) + gone))
        for topic, begin, end in runs:
            self._sets[topic] = old[begin:end]
        for topic in crowded:
            self._exact(topic)

    def add(self, code: int) -> None:
        """A partition comes."""
        topic = self._filler.topic_of(code)
        self._sets.compute_if_absent(topic, lambda: JavaHashSet(INTEGERS, self._filler.new_capacity(topic)))
        self._exact(topic).add(code - self._filler.begin_of(topic))

    def remove(self, code: int) -> None:
        """A partition goes; its topic too, when it was the last."""
        topic = self._filler.topic_of(code)
        numbers = self._exact(topic)
        numbers.remove(code - self._filler.begin_of(topic))
        if not numbers:
            del self._sets[topic]

    def _exact(self, topic: int) -> JavaHashSet[int]:
        found = self._sets[topic]
        if not isinstance(found, JavaHashSet):
            numbers = (found - self._filler.begin_of(topic)).tolist()
            self._sets[topic] = found = JavaHashSet.copy_of(INTEGERS, numbers, self._filler.jdk)
        return found

    def codes(self) -> Codes:
        """All partitions, in the order of the map and its sets."""
        parts = [self._codes_of(topic, found) for topic, found in self._sets.items()]
        return np.concatenate([np.zeros(0, dtype=np.int32), *parts])

    def _codes_of(self, topic: int, found: Codes | JavaHashSet[int]) -> Codes:
        if not isinstance(found, JavaHashSet):
            return found
        return np.fromiter(found, dtype=np.int32, count=len(found)) + np.int32(self._filler.begin_of(topic))
