"""The entries of a lazy sequence are those of the list, and are made only when they are read."""

import pytest

from lag.lazy_sequence import LazySequence


class Squares(LazySequence[int]):
    def __init__(self, size: int) -> None:
        self.size, self.made = size, list[int]()

    def __len__(self) -> int:
        return self.size

    def _entry(self, at: int) -> int:
        self.made.append(at)
        return at * at


def test_positions_and_slices_are_those_of_the_list() -> None:
    whole = [0, 1, 4, 9, 16]
    squares = Squares(5)
    assert list(squares) == whole
    assert [squares[at] for at in range(-5, 5)] == whole + whole
    for part in (slice(1, 3), slice(None, None, -2), slice(-2, None), slice(3, 99), slice(4, 1)):
        assert squares[part] == tuple(whole[part])


def test_only_what_is_read_is_made() -> None:
    squares = Squares(1_000_000)
    assert (squares[2:4], squares[-1]) == ((4, 9), 999_999**2)
    assert squares.made == [2, 3, 999_999]


@pytest.mark.parametrize("at", [3, -4])
def test_there_is_nothing_beyond_the_ends(at: int) -> None:
    with pytest.raises(IndexError):
        Squares(3)[at]
