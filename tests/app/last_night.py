"""Rebalances of made-up groups, as their coordinators would record them: of last night, and of the last minutes."""

from dataclasses import dataclass, field

from lag.generations.recent import RecentRebalances, recent_rebalances
from lag.generations.recorded import GenerationRecorder, Origin, Recording, TimedEvent
from tests.lag.generations.recorded.events import NAMES, classic

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DEPLOYED, CRASHED, SWITCHED = "shipping-label-printer", "inventory-projection", "tax-calculation"
THREE = {"a": [0, 1], "b": [2, 3], "c": [4, 5]}
TWO = {"a": [0, 1, 2], "c": [3, 4, 5]}
DEPLOYS = 12
"""Rebalances in the minutes before the start."""


@dataclass
class Night:
    """All records up to now; `started_ms` is when the dashboard starts. Only `deploy` adds more, for DEPLOYED."""

    started_ms: int
    deploys: list[TimedEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        for minutes in range(DEPLOYS, -1, -1):
            self.deploy(self.started_ms - minutes * MINUTE_MS)

    def deploy(self, at_ms: int) -> None:
        """A member more, or one less."""
        number = len(self.deploys) + 1
        self.deploys.append(classic(at_ms, number, THREE if number % 2 else TWO))

    def recorders(self) -> dict[str, GenerationRecorder]:
        """What is recorded of each group."""
        last = self.started_ms - 9 * HOUR_MS
        crashed = [classic(last, 1, THREE), classic(last + MINUTE_MS, 2, TWO), classic(last + 5 * MINUTE_MS, 3, THREE)]
        switched = [classic(last, 7, TWO), classic(last + HOUR_MS, 8, TWO, protocol="roundrobin")]
        records = {DEPLOYED: self.deploys, CRASHED: crashed, SWITCHED: switched}
        return {name: _recorder(events) for name, events in records.items()}

    def recordings(self) -> dict[str, Recording]:
        """The generations of each group."""
        return {name: Recording(Origin.RECORDED, its.recorded("g")) for name, its in self.recorders().items()}

    def recent(self) -> RecentRebalances:
        """The rebalances of all groups, newest first."""
        return recent_rebalances({name: its.states("g") for name, its in self.recorders().items()}, {})


def _recorder(events: list[TimedEvent]) -> GenerationRecorder:
    recorder = GenerationRecorder(NAMES.get)
    for event in events:
        recorder.take([event], whole=True)
    return recorder
