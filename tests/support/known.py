"""A value that a test knows to be there."""

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value; a test fails here when it is None."""
    assert value is not None
    return value


def the(kind: type[T], value: object) -> T:
    """The value; a test fails here when it is not of that type."""
    assert isinstance(value, kind)
    return value
