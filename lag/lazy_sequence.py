"""A sequence whose entries are made when they are read."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """Subclasses have a length, and make one entry at a time; a slice is a tuple."""

    __slots__ = ()

    @abstractmethod
    def _entry(self, at: int) -> T:
        """The entry at that position, 0 or more."""

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if isinstance(at, slice):
            return tuple(map(self._entry, range(len(self))[at]))
        return self._entry(range(len(self))[at])

    def __iter__(self) -> Iterator[T]:
        return map(self._entry, range(len(self)))


class MadeOnce(LazySequence[T]):
    """`make` makes the entry of a position when it is read first. Thread safe for readers."""

    __slots__ = ("_made", "_make")

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._made: list[T | None] = [None] * size
        self._make = make

    def __len__(self) -> int:
        return len(self._made)

    def _entry(self, at: int) -> T:
        made = self._made[at]
        if made is None:
            made = self._made[at] = self._make(at)
        return made
