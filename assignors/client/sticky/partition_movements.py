"""Which partition moves instead of another, so that no two members swap partitions of one topic.

Kafka: `AbstractStickyAssignor.PartitionMovements`. Before a partition moves from one member to another, Kafka looks for
one of the same topic that has come the opposite way, and sends the first of these back: first in a HashSet's order.
"""

from assignors.javahash import JavaHashSet, Keys
from assignors.javahash.hashes import signed

Pair = tuple[int, int]


class _Moved:
    """A HashSet of partition numbers that is built only when its first element is needed."""

    __slots__ = ("_base", "_changes", "_set", "_size")

    def __init__(self, base: int) -> None:
        self._base = base
        self._changes: list[tuple[bool, int]] = []
        self._set: JavaHashSet[int] | None = None
        self._size = 0

    def __bool__(self) -> bool:
        return self._size > 0

    def add(self, partition: int) -> None:
        self._size += 1
        self._changes.append((True, partition))

    def remove(self, partition: int) -> None:
        self._size -= 1
        self._changes.append((False, partition))

    def in_order(self) -> tuple[int, ...]:
        return tuple(self._built())

    def first(self) -> int:
        return next(iter(self._built()))

    def _built(self) -> JavaHashSet[int]:
        if self._set is None:
            self._set = JavaHashSet(Keys(lambda partition: signed(31 * (31 + partition) + self._base)))
        for added, partition in self._changes:
            if added:
                self._set.add(partition)
            else:
                self._set.discard(partition)
        self._changes.clear()
        return self._set


class TopicMovements:
    """The moves within one topic so far: for each partition from where it came at first, and where it is."""

    __slots__ = ("_base", "_by_pair", "_pair_of")

    def __init__(self, topic_hash: int) -> None:
        """`topic_hash`: the hash code of the topic's name."""
        self._base = topic_hash
        self._pair_of: dict[int, Pair] = {}
        self._by_pair: dict[Pair, _Moved] = {}

    def instead_of(self, partition: int, source: int, target: int) -> int:
        """The partition that moves to the target when this one is to leave the source for it."""
        origin, _ = self._pair_of.get(partition, (source, target))
        opposite = self._by_pair.get((target, origin))
        return partition if opposite is None else opposite.first()

    def record(self, partition: int, source: int, target: int) -> None:
        """Remember a move; one that brings a partition back to where it came from is forgotten with it."""
        known = self._pair_of.pop(partition, None)
        if known is not None:
            moved = self._by_pair[known]
            moved.remove(partition)
            if not moved:
                del self._by_pair[known]
            source = known[0]
            if source == target:
                return
        self._pair_of[partition] = (source, target)
        self._by_pair.setdefault((source, target), _Moved(self._base)).add(partition)

    def signature(self) -> tuple[tuple[Pair, tuple[int, ...]], ...]:
        """Equal for equal states."""
        return tuple(sorted((pair, moved.in_order()) for pair, moved in self._by_pair.items()))
