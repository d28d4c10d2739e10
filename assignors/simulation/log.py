"""Where a coordinator writes its records: `__consumer_offsets`, at once or with a wait for its replicas."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)
Done = Callable[[], None]


class Log(Protocol[R_contra]):
    """Where records go. `done` is called when they and all before them are replicated: at once, or later."""

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
