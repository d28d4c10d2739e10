"""The simulator: an hour of a group, and one rebalance of a large one, under each protocol, tables included."""

import time
from collections.abc import Iterator

from assignors.model import Member, Topic
from assignors.simulation.run import simulate
from assignors.simulation.settings import read
from assignors.simulation.timeline.summary import summarize
from assignors.whatif.events import Crash, Event, Join, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from benchmarks.report import Row

HOUR_MS = 3_600_000
PROTOCOLS = (RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE, RebalanceProtocol.CONSUMER)
RUNS = 3


def rows() -> Iterator[Row]:
    """100 members x 1,000 partitions for an hour; 1,000 x 10,000 while one member joins."""
    newcomer = Member("newcomer", topics=("orders",))
    hour = (Event(600_000, Join(newcomer)), Event(1_800_000, Crash("c0007")))
    for protocol in PROTOCOLS:
        yield _row("100 members x 1,000 partitions, an hour", _group(100, 1_000, hour), protocol, "< 2 s", HOUR_MS)
    for protocol in PROTOCOLS:
        story = _group(1_000, 10_000, (Event(30_000, Join(newcomer)),))
        yield _row("1,000 members x 10,000 partitions, one joins", story, protocol, "< 5 s", None)


def _group(members: int, partitions: int, events: tuple[Event, ...]) -> Scenario:
    group = tuple(Member(f"c{number:04d}", topics=("orders",)) for number in range(members))
    return Scenario("benchmark", "cooperative-sticky", {"orders": Topic("orders", partitions)}, group, events)


def _row(what: str, story: Scenario, protocol: RebalanceProtocol, goal: str, until_ms: int | None) -> Row:
    best_s = min(_cpu_seconds(story, protocol, until_ms) for _ in range(RUNS))
    return Row(f"{what}, {protocol}", f"{best_s:.2f} s", f"of one core; goal {goal}; best of {RUNS}")


def _cpu_seconds(story: Scenario, protocol: RebalanceProtocol, until_ms: int | None) -> float:
    started = time.process_time()
    summarize(simulate(story, read({}), protocol, until_ms=until_ms))
    return time.process_time() - started
