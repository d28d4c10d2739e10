"""Two coordinators in lock step, ours and Kafka's: the same requests, the same time, and what differs after a step."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

from assignors.simulation.kernel import Kernel
from tests.oracle.held_log import HeldLog

Difference = tuple[str, Any, Any]
"""What is compared, ours and Java's."""


class LockStep(ABC):
    """Both coordinators, each on its own clock, and their replies since the last look.

    Subclasses set `ours` and `java`.
    """

    ours: Any
    java: Any

    def __init__(self) -> None:
        self.ours_kernel, self.java_kernel = Kernel(), Kernel()
        self.log: HeldLog[Any] = HeldLog()
        self.ours_replies: list[tuple[int, Any]] = []
        self.java_replies: list[tuple[int, Any]] = []
        self._tickets = 0

    def ask(self, request: Any, learn: Callable[[Any], None]) -> None:
        """Ask both; the client learns from ours."""
        self._tickets += 1
        ticket = self._tickets
        self.java.handle(request, lambda reply: self.java_replies.append((ticket, reply)))
        self.ours.handle(request, partial(self._answered, ticket, learn))

    def _answered(self, ticket: int, learn: Callable[[Any], None], reply: Any) -> None:
        self.ours_replies.append((ticket, reply))
        learn(reply)

    def run_until(self, end_ms: int) -> None:
        """Let the time pass."""
        self.java_kernel.run_until(end_ms)
        self.ours_kernel.run_until(end_ms)

    def hold(self, held: bool) -> None:
        """Let appends wait, or replicate those that do."""
        self.log.held = self.java.shard.held = held
        if not held:
            self.java.shard.replicate()
            self.log.replicate()

    def difference(self, thorough: bool) -> str:
        """ "" or what differs now."""
        found = [("replies", self.ours_replies, self.java_replies), *self.compared(thorough)]
        self.ours_replies, self.java_replies = [], []
        return "\n".join(f"{what}\n  ours: {ours}\n  Java: {java}" for what, ours, java in found if ours != java)

    @abstractmethod
    def compared(self, thorough: bool) -> list[Difference]:
        """What else is compared."""
