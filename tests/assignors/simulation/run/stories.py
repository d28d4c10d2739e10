"""What the tests of the world share: short scenarios, and a look at their timelines."""

from collections.abc import Mapping, Sequence

from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.run import simulate
from assignors.simulation.settings import Setting, read
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Hold, Timeline
from assignors.whatif.events import Action, Event, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

EAGER, COOPERATIVE = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE
CONSUMER = RebalanceProtocol.CONSUMER
L = 10
"""One way of a message, in milliseconds."""
RTT = 2 * L
SESSION, HEARTBEAT = 10_000, 3_000
FOUND = RTT
"""When a process that starts at 0 knows its coordinator."""
JOINED = FOUND + RTT + RTT
"""When those that start at 0 have the reply to their join: the first one brings the member id (KIP-394)."""
ASSIGNED = JOINED + RTT
QUICK: dict[str, Setting] = {
    "session.timeout.ms": SESSION,
    "heartbeat.interval.ms": HEARTBEAT,
    "group.initial.rebalance.delay.ms": 0,
    "simulated.latency.ms": L,
    "simulated.append.ms": 0,
    "simulated.plan.ms": 0,
    "simulated.heartbeat.spread.ms": 0,
}
"""Nothing takes time but messages, sessions and heartbeats: those are sent at JOINED + k * HEARTBEAT."""


def members(*names: str, static: bool = False) -> tuple[Member, ...]:
    """Members that read topic t; static ones have their own name as instance id."""
    return tuple(Member(name, instance_id=name if static else None, topics=("t",)) for name in names)


def scenario(
    partitions: int, group: Sequence[Member], events: Mapping[int, Action], settings: Mapping[str, Setting] = QUICK
) -> Scenario:
    """A group that reads topic t, and what happens to it at which millisecond."""
    course = tuple(Event(at_ms, action) for at_ms, action in events.items())
    return Scenario(
        "story", "cooperative-sticky", {"t": Topic("t", partitions)}, tuple(group), course, protocol=settings
    )


def played(story: Scenario, protocol: RebalanceProtocol, seed: int = 0, until_ms: int | None = None) -> Timeline:
    """Its timeline."""
    return simulate(story, read(story.protocol), protocol, seed=seed, until_ms=until_ms)


def t(*numbers: int) -> tuple[TopicPartition, ...]:
    """Partitions of topic t."""
    return tuple(TopicPartition("t", number) for number in numbers)


def lane(timeline: Timeline, member: str) -> list[tuple[str, int, int]]:
    """States of a member with start and end, whatever its generation."""
    spans: list[tuple[str, int, int]] = []
    for span in timeline.spans:
        if span.member == member:
            again = bool(spans) and spans[-1][0] == span.state
            start_ms = spans.pop()[1] if again else span.start_ms
            spans.append((span.state, start_ms, span.end_ms))
    return spans


def holders(timeline: Timeline, at_ms: int, hold: Hold = Hold.OWNED) -> dict[int, str | None]:
    """Who holds each partition of topic t at that time, in that way."""
    return {
        row.partition.partition: row.member
        for row in timeline.ownership
        if row.hold is hold and row.start_ms <= at_ms < row.end_ms
    }


def downtime(timeline: Timeline) -> dict[int, int]:
    """How long each partition of topic t was down."""
    return {down.partition.partition: down.down_ms for down in summarize(timeline).downtime}


def calls(timeline: Timeline, member: str) -> list[tuple[int, str, int]]:
    """When a member's listener was called, how, and with how many partitions."""
    return [(call.at_ms, call.name, len(call.partitions)) for call in timeline.callbacks if call.member == member]
