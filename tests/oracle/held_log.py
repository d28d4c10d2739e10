"""A log whose appends can be made to wait, as Java's can in `coordinator_shard`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from assignors.simulation.log import Done

R = TypeVar("R")


@dataclass
class HeldLog(Generic[R]):
    """While it is held, appends wait for `replicate`."""

    records: list[R] = field(default_factory=list)
    held: bool = False
    waiting: list[tuple[Sequence[R], Done]] = field(default_factory=list)

    def append(self, records: Sequence[R], done: Done) -> None:
        self.waiting.append((records, done))
        if not self.held:
            self.replicate()

    def replicate(self) -> None:
        waiting, self.waiting = self.waiting, []
        for records, done in waiting:
            self.records += records
            done()
