"""A sequence whose entries are made when they are read."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
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
