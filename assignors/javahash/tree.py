"""A bucket of a Java hash map that has become a red-black tree.

Iteration goes along a list, not along the tree; but where a new key enters that list depends on its parent in the tree,
and the tree's root always stands first.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
LEFT, RIGHT = 0, 1


class Node(Generic[K]):
    """A key in a bucket: its spread hash code, and its place in the tree if the bucket is one."""

    __slots__ = ("children", "code", "key", "parent", "red")

    def __init__(self, code: int, key: K) -> None:
        self.code = code
        self.key = key
        self.parent: Node[K] | None = None
        self.children: list[Node[K] | None] = [None, None]
        self.red = False

    def side(self) -> int:
        """Which child of its parent it is."""
        return int(self.parent is not None and self.parent.children[RIGHT] is self)


class TreeBin(Generic[K]):
    """The tree over the nodes of one bucket, and `order`, the sequence in which they iterate."""

    __slots__ = ("_order_of", "order", "root")

    def __init__(self, nodes: Iterable[Node[K]], order_of: Callable[[K], Any] | None) -> None:
        self._order_of = order_of
        self.order = list(nodes)
        self.root: Node[K] | None = None
        for node in self.order:
            node.children = [None, None]
            self._attach(node)
        self._root_to_front()

    def insert(self, node: Node[K]) -> None:
        """Put in a key that is not there yet."""
        parent = self._attach(node)
        self.order.insert(self.order.index(parent) + 1 if parent else 0, node)
        self._root_to_front()

    def remove(self, node: Node[K], while_iterating: bool) -> bool:
        """Take a node out. True when the bucket is to become a plain list again, in the same order.

        `while_iterating`: by `Iterator.remove`, which neither dissolves the tree nor moves its root.
        """
        self.order.remove(node)
        if not while_iterating and self._is_small():
            return True
        if self.order:
            self._detach(node)
        if not while_iterating:
            self._root_to_front()
        return False

    def _is_small(self) -> bool:
        # Judged by the shape before the removal, as Java does: no right child, no left one, or no grandchild on the
        # far left.
        if self.root is None or self.root.children[RIGHT] is None:
            return True
        left = self.root.children[LEFT]
        return left is None or left.children[LEFT] is None

    def _root_to_front(self) -> None:
        if self.order and self.root is not None and self.order[0] is not self.root:
            self.order.remove(self.root)
            self.order.insert(0, self.root)

    def _attach(self, node: Node[K]) -> Node[K] | None:
        """Hang the node under its parent in the tree, balance, and return that parent (None for the first)."""
        parent, side, below = None, LEFT, self.root
        while below is not None:
            parent, side = below, self._side_for(node, below)
            below = below.children[side]
        node.parent = parent
        node.red = parent is not None
        if parent is None:
            self.root = node
        else:
            parent.children[side] = node
            self._balance_insertion(node)
        return parent

    def _side_for(self, node: Node[K], at: Node[K]) -> int:
        if node.code != at.code:
            return RIGHT if node.code > at.code else LEFT
        if self._order_of is None:
            return LEFT
        return RIGHT if self._order_of(node.key) > self._order_of(at.key) else LEFT

    def _rotate(self, top: Node[K], side: int) -> None:
        """Let the other child of `top` rise, and `top` sink to that side."""
        riser = _child(top, 1 - side)
        inner = riser.children[side]
        top.children[1 - side] = inner
        if inner is not None:
            inner.parent = top
        self._replace(top, riser)
        riser.children[side] = top
        top.parent = riser

    def _replace(self, old: Node[K], new: Node[K] | None) -> None:
        """Let `new` hang where `old` hangs."""
        parent = old.parent
        if parent is None:
            self.root = new
        else:
            parent.children[old.side()] = new
        if new is not None:
            new.parent = parent

    def _balance_insertion(self, node: Node[K]) -> None:
        while (parent := node.parent) is not None and parent.red and (grand := parent.parent) is not None:
            side = parent.side()
            uncle = grand.children[1 - side]
            if uncle is not None and uncle.red:
                uncle.red = parent.red = False
                grand.red = True
                node = grand
                continue
            if node.side() != side:
                self._rotate(parent, side)
                node, parent = parent, node
            parent.red = False
            grand.red = True
            self._rotate(grand, 1 - side)
        if self.root is not None:
            self.root.red = False

    def _detach(self, node: Node[K]) -> None:
        if node.children[LEFT] is not None and node.children[RIGHT] is not None:
            self._swap_with_successor(node)
        child = node.children[LEFT] or node.children[RIGHT]
        if child is not None:
            self._replace(node, child)
            if child.parent is None:
                child.red = False
            if not node.red:
                self._balance_deletion(child)
        else:
            if not node.red:
                self._balance_deletion(node)
            self._replace(node, None)

    def _swap_with_successor(self, node: Node[K]) -> None:
        """Exchange the places of the node and the next greater one, which has no left child."""
        heir = _child(node, RIGHT)
        while (lower := heir.children[LEFT]) is not None:
            heir = lower
        heir.red, node.red = node.red, heir.red
        heir_parent, heir_side, heir_right = heir.parent, heir.side(), heir.children[RIGHT]
        self._replace(node, heir)
        _hang(heir, LEFT, node.children[LEFT])
        if heir_parent is node:
            _hang(heir, RIGHT, node)
        else:
            _hang(heir, RIGHT, node.children[RIGHT])
            assert heir_parent is not None  # it lies below the node
            _hang(heir_parent, heir_side, node)
        node.children[LEFT] = None
        _hang(node, RIGHT, heir_right)

    def _balance_deletion(self, node: Node[K]) -> None:
        """Make up for one black node that is missing on the paths through `node`."""
        while not node.red and (parent := node.parent) is not None:
            side = node.side()
            sibling = parent.children[1 - side]
            if sibling is not None and sibling.red:
                sibling.red = False
                parent.red = True
                self._rotate(parent, side)
                sibling = parent.children[1 - side]
            if sibling is None or not (_is_red(sibling.children[0]) or _is_red(sibling.children[1])):
                if sibling is not None:
                    sibling.red = True
                node = parent
                continue
            self._borrow(parent, sibling, side)
            return
        node.red = False

    def _borrow(self, parent: Node[K], sibling: Node[K], side: int) -> None:
        if not _is_red(sibling.children[1 - side]):
            near = _child(sibling, side)
            near.red = False
            sibling.red = True
            self._rotate(sibling, 1 - side)
            sibling = near
        sibling.red = parent.red
        _child(sibling, 1 - side).red = False
        parent.red = False
        self._rotate(parent, side)
        if self.root is not None:
            self.root.red = False


def _hang(parent: Node[K], side: int, child: Node[K] | None) -> None:
    parent.children[side] = child
    if child is not None:
        child.parent = parent


def _child(node: Node[K], side: int) -> Node[K]:
    child = node.children[side]
    assert child is not None  # red-black trees have one where this is called
    return child


def _is_red(node: Node[K] | None) -> bool:
    return node is not None and node.red
