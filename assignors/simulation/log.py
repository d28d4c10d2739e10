"""The log of a coordinator's records, a partition of `__consumer_offsets`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)
Done = Callable[[], None]


def replicated() -> None:
    """Nothing depends on that append."""


class Log(Protocol[R_contra]):
    """Appends records. `done` is called, at once or later, when they and all before them are replicated."""

    def append(self, records: Sequence[R_contra], done: Done) -> None:
        """Write them."""


@dataclass(slots=True)
class InstantLog(Generic[R]):
    """Every append is replicated at once."""

    records: list[R] = field(default_factory=list)

    def append(self, records: Sequence[R], done: Done) -> None:
        """Write them; they are replicated when this returns."""
        self.records.extend(records)
        done()
