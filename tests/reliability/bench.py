"""One fault after the other under one dashboard: made, seen, ended, and the way back to right verdicts measured."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from lag.times import wall_clock_ms
from tests.reliability import rows, seen
from tests.reliability.brokers import Cluster
from tests.reliability.dashboard import Dashboard, Look
from tests.reliability.faults import ORDER
from tests.reliability.truth import Group, Truth
from tests.support.known import known
from tests.support.waiting import wait_until

WELL_WITHIN_S = 180.0
"""For Kafka itself; on a busy machine an election and the groups' rebalances take their time."""

RIGHT_WITHIN_S = 180.0
_STORED_WITHIN_S = 120.0

_FUTURE_MS = 1_800_000
"""A poll of a clock that is further ahead is an old one."""

Ask = Callable[[], object]


def nothing() -> None:
    """The end of a fault that ends by itself."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: how it begins and ends. It lasts until `looks` looks were taken after the first that shows it.

    `remark` is added to the row when it ends. `most_polls`: how many polls the verdicts may take to be right.
    """

    name: str
    made: str
    begin: Ask
    end: Ask
    shows: Callable[[Look], bool]
    looks: int = 20
    remark: Callable[[], str] = str
    most_polls: int = 2


@dataclass(frozen=True, slots=True)
class Recovery:
    """When Kafka and the dashboard were well again, on both clocks, and what was true and seen then."""

    lifted_s: float
    well_ms: int
    truth: Mapping[str, Group]
    right: Look


@dataclass(frozen=True, slots=True)
class Bench:
    """A cluster, its truth, and a dashboard on it."""

    cluster: Cluster
    truth: Truth
    dashboard: Dashboard

    def row(self, fault: Fault) -> None:
        """Make the fault and end it; measure, store the row and check it."""
        before = self.settled()
        began_s, logged = time.monotonic(), len(self.dashboard.command.err)
        fault.begin()
        try:
            lasts_s = WELL_WITHIN_S + fault.looks  # a look takes less than a second
            self._wait_for(lambda: self._looks_after(began_s, fault.shows) >= fault.looks, fault.name, lasts_s)
        finally:
            fault.end()
        recovery = self.recovered()
        during = [look for look in self.dashboard.since(began_s) if look.at_s <= recovery.right.at_s]
        truths = [before, *self.truth.during(began_s), recovery.truth]
        row = self._row(fault, truths, recovery, during, self.dashboard.command.err[logged:])
        rows.keep(row, ORDER)
        assert row.shortcomings(fault.most_polls) == [], self._way_back(recovery)

    def _looks_after(self, began_s: float, shows: Callable[[Look], bool]) -> int:
        looks = self.dashboard.since(began_s)
        return len(looks) - next((at for at, look in enumerate(looks) if shows(look)), len(looks))

    def _way_back(self, recovery: Recovery) -> list[object]:
        """What was not right from the end of the fault on, poll by poll."""
        looks = {look.number: look for look in self.dashboard.since(recovery.lifted_s)}
        return [
            (look.number, look.poll_ms > recovery.well_ms, seen.shortcomings(look, recovery.truth))
            for look in looks.values()
        ]

    def settled(self) -> Mapping[str, Group]:
        """Wait until all is well; the truth at that time."""
        return self.recovered().truth

    def recovered(self) -> Recovery:
        """Wait for Kafka, then for the dashboard to have polled since now and to be right."""
        lifted_s, lifted_ms = time.monotonic(), wall_clock_ms()
        wait_until(self.truth.groups, WELL_WITHIN_S, 0.2)
        well_ms = wall_clock_ms()
        truth, right = known(wait_until(lambda: self._right_since(lifted_ms), RIGHT_WITHIN_S, 0.2, self._state))
        return Recovery(lifted_s, well_ms, truth, right)

    def _right_since(self, from_ms: int) -> tuple[Mapping[str, Group], Look] | None:
        truth = self.truth.groups()
        if truth is None:
            return None
        newer = (look for look in self.dashboard.looks[-20:] if from_ms < look.poll_ms < from_ms + _FUTURE_MS)
        right = next((look for look in newer if seen.is_right(look, truth)), None)
        return None if right is None else (truth, right)

    def _state(self) -> object:
        last = self.dashboard.looks[-1]
        shown = {name: (group["verdict"], group["lag"]) for name, group in last.groups.items()}
        return last.ready, last.reason, last.problems, shown, self.truth.groups()

    def _row(
        self,
        fault: Fault,
        truths: Sequence[Mapping[str, Group]],
        recovery: Recovery,
        during: Sequence[Look],
        log: str,
    ) -> rows.FaultRow:
        wrong = seen.wrong_verdicts(during, truths)
        lost, doubled = self.stored(during)
        return rows.FaultRow(
            fault=fault.name,
            made=fault.made,
            seen=seen.summary(during, log) + fault.remark() + (f"; wrong: {sorted(map(str, wrong))}" if wrong else ""),
            seconds=round(recovery.right.at_s - recovery.lifted_s, 1),
            polls=polls_until_right(during, recovery.well_ms),
            wrong=len(wrong),
            lost=lost,
            doubled=doubled,
            page_up=seen.answered(during),
            measured=today(),
        )

    def shown(self, group: str) -> Mapping[str, Any]:
        """What the dashboard shows of a group now."""
        return self.dashboard.looks[-1].groups[group]

    def stored(self, during: Sequence[Look]) -> tuple[int, int]:
        """Rows of the history that are missing or there twice, once the last poll is written."""
        last = during[-1]

        def written() -> bool:
            return bool(seen.stored_groups(self.dashboard.history, last.poll_ms, last.poll_ms))

        wait_until(written, _STORED_WITHIN_S, 0.5)
        return seen.history_faults(self.dashboard.history, during)

    def _wait_for(self, asked: Callable[[], bool], fault: str, within_s: float = WELL_WITHIN_S) -> None:
        wait_until(asked, within_s, 0.1, lambda: (fault, self._state()))


def polls_until_right(looks: Sequence[Look], well_ms: int) -> int:
    """Polls that began after Kafka was well, up to the last look's, and those that failed since then."""
    after = [look for look in looks if well_ms < look.poll_ms < well_ms + _FUTURE_MS]
    began = {look.number for look in after}
    failed = _failed([look for look in looks if look.at_s >= looks[-1].at_s - (looks[-1].poll_ms - well_ms) / 1000])
    return len(began) + failed


def _failed(looks: Sequence[Look]) -> int:
    return sum(max(0, later.failures - earlier.failures) for earlier, later in pairwise(looks))


def today() -> str:
    """The day, in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def incomplete(look: Look) -> bool:
    """The dashboard says that something could not be read."""
    return not look.whole


def anything(_look: Look) -> bool:
    """Also what is shown as if nothing was wrong."""
    return True
