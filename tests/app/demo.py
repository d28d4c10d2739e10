"""Demo controls that remember what they were asked to do."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lag.embedded.workload import PLAYABLE_TOPICS, DemoMember, DemoTopic, Readiness, Running
from lag.errors import EmbeddedError


@dataclass
class HandControls:
    """Answers like `lag.embedded.workload.Controls`; `broken` makes it fail as a dead workload does."""

    asked: list[tuple[str, ...]] = field(default_factory=list)
    broken: bool = False
    deleted: frozenset[str] = frozenset()

    def readiness(self) -> Readiness:
        self._fail()
        return Readiness(True, (), None)

    def running(self) -> Running:
        self._fail()
        members = (DemoMember("order-fulfilment-1", "order-fulfilment", 7, "running"),)
        names = sorted((PLAYABLE_TOPICS | {"card-transfers"}) - self.deleted)
        topics = tuple(DemoTopic(name, 6, 12.0) for name in names)
        return Running(("order-fulfilment", "payment-settlement"), members, topics, ("card-transfers",))

    def __getattr__(self, name: str) -> Callable[..., str]:
        def asked(*arguments: object) -> str:
            self._fail()
            self.asked.append((name, *map(str, arguments)))
            return f"{name} {' '.join(map(str, arguments))}: done"

        return asked

    def _fail(self) -> None:
        if self.broken:
            raise EmbeddedError("The demo workload does not answer", "Start it again.")
