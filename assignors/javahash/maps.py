"""Exact models of `java.util.HashMap` and `HashSet`: the same operations give the same iteration order.

They follow Java through growth, the doubling that a crowded bucket of a small table causes, buckets that turn into
trees and back, and the two ways in which `put` and `computeIfAbsent` differ. Values may be anything but None, which
Java's `computeIfAbsent` takes for absent.
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSet
from typing import TypeVar

from assignors.javahash.hashes import (
    DEFAULT_CAPACITY,
    LARGEST_CAPACITY,
    NEWEST_RULE_JDK,
    Keys,
    hash_set_capacity,
    spread,
    table_size_for,
    threshold,
)
from assignors.javahash.tree import Node, TreeBin

K = TypeVar("K")
V = TypeVar("V")

CROWDED = 8
_SMALL_TABLE = 64
_UNTREEIFY = 6


class JavaHashMap(MutableMapping[K, V]):
    """A dict that iterates as `java.util.HashMap` does.

    >>> from assignors.javahash import STRINGS
    >>> members = JavaHashMap(STRINGS)
    >>> for name in ("eve", "zoe", "adam"):
    ...     members[name] = len(name)
    >>> list(members)
    ['zoe', 'adam', 'eve']
    """

    __slots__ = ("_capacity", "_keys", "_nodes", "_table", "_values")

    def __init__(self, keys: Keys[K], initial: int | None = None) -> None:
        """`initial`: the argument of `new HashMap(initial)`; None for `new HashMap()`."""
        self._keys = keys
        self._capacity = DEFAULT_CAPACITY if initial is None else table_size_for(initial)
        self._table: dict[int, list[Node[K]] | TreeBin[K]] = {}
        self._nodes: dict[K, Node[K]] = {}
        self._values: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def __iter__(self) -> Iterator[K]:
        """Keys in Java's order at this moment: changes during the loop do not disturb it."""
        if len(self._nodes) < 2:  # most sets of holders
            return iter(list(self._nodes))
        return iter([node.key for index in sorted(self._table) for node in _in_order(self._table[index])])

    def __setitem__(self, key: K, value: V) -> None:
        """`put`: a new key goes to the end of its bucket; the table doubles as soon as it is too full."""
        if key not in self._nodes:
            self._append(key)
            if len(self._nodes) > threshold(self._capacity):
                self._double()
        self._values[key] = value

    def compute_if_absent(self, key: K, make: Callable[[], V]) -> V:
        """`computeIfAbsent`: a new key goes to the front of its bucket; an overfull table doubles at the next call."""
        if len(self._nodes) > threshold(self._capacity):
            self._double()
        if key not in self._nodes:
            self._values[key] = make()
            self._prepend(key)
        return self._values[key]

    def __delitem__(self, key: K) -> None:
        """`remove`."""
        self._remove(key, while_iterating=False)

    def remove_while_iterating(self, key: K) -> None:
        """`Iterator.remove`, also that of `entrySet()` and the like."""
        self._remove(key, while_iterating=True)

    def _new_node(self, key: K) -> tuple[int, Node[K]]:
        node = Node(spread(self._keys.hash_of(key)), key)
        self._nodes[key] = node
        return node.code & (self._capacity - 1), node

    def _append(self, key: K) -> None:
        index, node = self._new_node(key)
        there = self._table.setdefault(index, [])
        if isinstance(there, TreeBin):
            there.insert(node)
            return
        there.append(node)
        if len(there) > CROWDED:
            self._treeify(index, there)

    def _prepend(self, key: K) -> None:
        index, node = self._new_node(key)
        there = self._table.setdefault(index, [])
        if isinstance(there, TreeBin):
            there.insert(node)
            return
        there.insert(0, node)
        if len(there) >= CROWDED:
            self._treeify(index, there)

    def _treeify(self, index: int, nodes: list[Node[K]]) -> None:
        if self._capacity < _SMALL_TABLE:
            self._double()
        else:
            self._table[index] = TreeBin(nodes, self._keys.order_of)

    def _double(self) -> None:
        if self._capacity == LARGEST_CAPACITY:
            return
        bit, self._capacity = self._capacity, self._capacity * 2
        for index, there in list(self._table.items()):
            nodes = _in_order(there)
            low = [node for node in nodes if not node.code & bit]
            if len(low) == len(nodes):
                self._settle(index, there)
                continue
            high = [node for node in nodes if node.code & bit]
            del self._table[index]
            if low:
                self._settle(index, self._half(low, there))
            self._settle(index + bit, there if not low else self._half(high, there))

    def _half(self, nodes: list[Node[K]], whole: list[Node[K]] | TreeBin[K]) -> list[Node[K]] | TreeBin[K]:
        grows_tree = isinstance(whole, TreeBin) and len(nodes) > _UNTREEIFY
        return TreeBin(nodes, self._keys.order_of) if grows_tree else nodes

    def _settle(self, index: int, there: list[Node[K]] | TreeBin[K]) -> None:
        # A split turns even an undivided tree into a list when it has become small by Iterator.remove.
        small_tree = isinstance(there, TreeBin) and len(there.order) <= _UNTREEIFY
        self._table[index] = _in_order(there) if small_tree else there

    def _remove(self, key: K, while_iterating: bool) -> None:
        node = self._nodes.pop(key)
        del self._values[key]
        index = node.code & (self._capacity - 1)
        there = self._table[index]
        if isinstance(there, list):
            there.remove(node)
        elif there.remove(node, while_iterating):
            self._table[index] = there.order
        if not _in_order(self._table[index]):
            del self._table[index]


def _in_order(there: list[Node[K]] | TreeBin[K]) -> list[Node[K]]:
    return there.order if isinstance(there, TreeBin) else there


class JavaHashSet(MutableSet[K]):
    """A set that iterates as `java.util.HashSet` does.

    >>> from assignors.javahash import INTEGERS
    >>> list(JavaHashSet.copy_of(INTEGERS, [33, 16, 1, 0]))
    [16, 0, 33, 1]
    """

    __slots__ = ("_map",)

    def __init__(self, keys: Keys[K], initial: int | None = None) -> None:
        """`initial`: the argument of `new HashSet(initial)`; None for `new HashSet()`."""
        self._map: JavaHashMap[K, bool] = JavaHashMap(keys, initial)

    @classmethod
    def copy_of(cls, keys: Keys[K], items: Iterable[K], jdk: int = NEWEST_RULE_JDK) -> "JavaHashSet[K]":
        """`new HashSet(items)` on that JDK."""
        listed = list(items)
        made = cls(keys, hash_set_capacity(len(listed), jdk))
        for item in listed:
            made.add(item)
        return made

    def __len__(self) -> int:
        return len(self._map)

    def __contains__(self, item: object) -> bool:
        return item in self._map

    def __iter__(self) -> Iterator[K]:
        """Items in Java's order at this moment: changes during the loop do not disturb it."""
        return iter(self._map)

    def add(self, value: K) -> None:
        """Put the item in, if it is not there."""
        self._map[value] = True

    def discard(self, value: K) -> None:
        """Take the item out, if it is there."""
        if value in self._map:
            del self._map[value]

    def remove_while_iterating(self, item: K) -> None:
        """`Iterator.remove`."""
        self._map.remove_while_iterating(item)
