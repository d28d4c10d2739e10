"""The stories of the protocol lab: scenarios of a group of three members."""

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.settings import Setting
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    Event,
    Freeze,
    GcPause,
    Heal,
    Join,
    Leave,
    Restart,
    Resume,
    Scenario,
    Split,
)

TOPIC = "orders"
PARTITIONS = 6
NAMES = ("c1", "c2", "c3")
HAPPENS_MS = 10_000
"""The time of the first event."""


@dataclass(frozen=True, slots=True)
class Story:
    """A preset; `name` is for links. Its scenario has the title as name, and what it shows as description."""

    name: str
    scenario: Scenario


def _group(static: bool = False, waits_for: str = "", pattern: str | None = None) -> tuple[Member, ...]:
    """Three members with two partitions each in a Stable group; they may also wait for another topic."""
    share = PARTITIONS // len(NAMES)
    return tuple(
        Member(
            name,
            instance_id=name if static else None,
            client_id=name,
            topics=(TOPIC, waits_for) if waits_for else (TOPIC,),
            pattern=pattern,
            owned=tuple(TopicPartition(TOPIC, number) for number in range(at * share, (at + 1) * share)),
            generation=1,
        )
        for at, name in enumerate(NAMES)
    )


def _story(
    name: str,
    title: str,
    shows: str,
    events: Mapping[int, Action],
    settings: Mapping[str, Setting] | None = None,
    group: tuple[Member, ...] = _group(),
) -> Story:
    course = tuple(Event(at_ms, action) for at_ms, action in events.items())
    topics = {TOPIC: Topic(TOPIC, PARTITIONS)}
    protocol = dict(settings or {})
    return Story(
        name, Scenario(title, "cooperative-sticky", topics, group, course, protocol=protocol, description=shows)
    )


_NEW = Member("c4", client_id="c4", topics=(TOPIC,))
_MINUTE: Mapping[str, Setting] = {"max.poll.interval.ms": 60_000}
_PAUSE_MS = 8_000
"""A GC pause."""
_JOB_MS = 120_000
"""The processing time of a batch."""

STORIES: tuple[Story, ...] = (
    _story(
        "join",
        "One member joins",
        "Eager members revoke everything and wait for each other; cooperative ones keep what does not move.",
        {HAPPENS_MS: Join(_NEW)},
    ),
    _story(
        "leave",
        "One member leaves",
        "close() leaves the group: the others learn of it with their next heartbeat.",
        {HAPPENS_MS: Leave("c3")},
    ),
    _story(
        "crash",
        "One member crashes",
        "A dead process sends nothing: its partitions wait for the rest of session.timeout.ms.",
        {HAPPENS_MS: Crash("c3")},
    ),
    _story(
        "slow",
        "Processing takes longer than max.poll.interval.ms",
        "The heartbeat thread leaves the group after max.poll.interval.ms, while the process continues to work.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + 90_000: Resume("c3")},
        _MINUTE,
    ),
    _story(
        "zombie",
        "A process freezes and comes back",
        "A long GC pause: the group continues without the process, which wakes up with partitions of others.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + 90_000: Resume("c3")},
        {"simulated.freeze": "process"},
    ),
    _story(
        "static",
        "A static member restarts within its session",
        "With group.instance.id nothing is reassigned: its partitions wait for it, the others continue.",
        {HAPPENS_MS: Restart("c3")},
        group=_group(static=True),
    ),
    _story(
        "rolling",
        "A rolling restart of all members",
        "Each restart is a leave and a join, and each of those a rebalance.",
        {HAPPENS_MS + 30_000 * at: Restart(name) for at, name in enumerate(NAMES)},
    ),
    _story(
        "partitions",
        "The topic gets three more partitions",
        "The leader sees new partitions in its next metadata, after metadata.max.age.ms at the latest.",
        {HAPPENS_MS: AddPartitions(TOPIC, PARTITIONS + 3)},
        {"metadata.max.age.ms": 30_000},
    ),
    _story(
        "failover",
        "The coordinator fails, and one of another broker takes over",
        "Consuming continues without a coordinator; only joins, leaves and commits wait.",
        {HAPPENS_MS: CoordinatorDown(), HAPPENS_MS + 9_000: CoordinatorUp()},
    ),
    _story(
        "new-topic",
        "A topic is created that members wait for",
        "All also subscribe to returns, which does not exist yet; the leader keeps asking for it.",
        {HAPPENS_MS: CreateTopic(Topic("returns", 3))},
        group=_group(waits_for="returns"),
    ),
    _story(
        "pattern",
        "A topic is created that a pattern matches",
        "Classic members match the pattern against their own metadata; under KIP-848 the broker matches it.",
        {HAPPENS_MS: CreateTopic(Topic("orders-eu", 3))},
        {"metadata.max.age.ms": 30_000},
        _group(pattern="orders.*"),
    ),
    _story(
        "split",
        "The network fails between one member and the coordinator",
        "It continues to consume, as other brokers answer; the group reassigns its partitions after the session.",
        {HAPPENS_MS: Split("c3"), HAPPENS_MS + 60_000: Heal("c3")},
    ),
    _story(
        "short-session",
        "A pause of 8 s, and a session of 6 s",
        "Classic members are removed before the pause ends; under KIP-848 the broker's session of 45 s counts.",
        {HAPPENS_MS: GcPause("c3", _PAUSE_MS)},
        {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 2_000},
    ),
    _story(
        "session-covers-a-pause",
        "The same pause, and a session of 45 s",
        "The group notices nothing; the partitions wait for the 8 s of the pause.",
        {HAPPENS_MS: GcPause("c3", _PAUSE_MS)},
    ),
    _story(
        "long-session",
        "One member crashes, and the session is 5 minutes",
        "A long session tolerates long pauses, but the partitions of a dead process wait as long.",
        {HAPPENS_MS: Crash("c3")},
        {"session.timeout.ms": 300_000},
    ),
    _story(
        "long-job",
        "A job of 2 minutes, and a max.poll.interval.ms just above",
        "Heartbeats continue, the next poll is in time, and there is no rebalance.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + _JOB_MS: Resume("c3")},
        {"max.poll.interval.ms": _JOB_MS + 5_000},
    ),
    _story(
        "stop-the-world",
        "Stop the world for 40 s",
        "One member processes a batch of 44 s when another joins: eager members stop until it polls again.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + 1_000: Join(_NEW), HAPPENS_MS + 44_000: Resume("c3")},
    ),
)
"""The first is where the lab opens."""
