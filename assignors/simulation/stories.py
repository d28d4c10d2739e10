"""The stories of the protocol lab: what happens to a group of three, as scenarios, and what each is to show."""

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    Event,
    Freeze,
    Join,
    Leave,
    Restart,
    Resume,
    Scenario,
)
from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.settings import Setting

TOPIC = "orders"
PARTITIONS = 6
NAMES = ("c1", "c2", "c3")
HAPPENS_MS = 10_000
"""When the first thing happens."""


@dataclass(frozen=True, slots=True)
class Story:
    """A preset: `name` for links, `plays` the rows of the checklist (protocol.md, section 1) that it shows.

    Its scenario has the title as its name and what it shows as its description.
    """

    name: str
    plays: str
    scenario: Scenario


def _group(static: bool = False) -> tuple[Member, ...]:
    """Three members with two partitions each, in a group that is Stable."""
    share = PARTITIONS // len(NAMES)
    return tuple(
        Member(
            name,
            instance_id=name if static else None,
            client_id=name,
            topics=(TOPIC,),
            owned=tuple(TopicPartition(TOPIC, number) for number in range(at * share, (at + 1) * share)),
            generation=1,
        )
        for at, name in enumerate(NAMES)
    )


def _story(
    name: str,
    plays: str,
    title: str,
    shows: str,
    events: Mapping[int, Action],
    settings: Mapping[str, Setting] | None = None,
    group: tuple[Member, ...] = _group(),
) -> Story:
    course = tuple(Event(at_ms, action) for at_ms, action in events.items())
    topics = {TOPIC: Topic(TOPIC, PARTITIONS)}
    told = Scenario(
        title, "cooperative-sticky", topics, group, course, protocol=dict(settings or {}), description=shows
    )
    return Story(name, plays, told)


_NEW = Member("c4", client_id="c4", topics=(TOPIC,))
_MINUTE: Mapping[str, Setting] = {"max.poll.interval.ms": 60_000}

STORIES: tuple[Story, ...] = (
    _story(
        "join",
        "1c: a member joins",
        "One member joins",
        "Eager members give up everything and wait for each other; cooperative ones keep what stays.",
        {HAPPENS_MS: Join(_NEW)},
    ),
    _story(
        "leave",
        "1c: a member leaves",
        "One member leaves",
        "close() says goodbye: the others hear of it with their next heartbeat.",
        {HAPPENS_MS: Leave("c3")},
    ),
    _story(
        "crash",
        "1c: a member crashes; session.timeout.ms",
        "One member crashes",
        "A dead process says nothing: its partitions wait for the rest of session.timeout.ms.",
        {HAPPENS_MS: Crash("c3")},
    ),
    _story(
        "slow",
        "1c: the slow consumer; max.poll.interval.ms",
        "Processing takes longer than max.poll.interval.ms",
        "The heartbeat thread goes on until max.poll.interval.ms and leaves then; the process goes on working.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + 90_000: Resume("c3")},
        _MINUTE,
    ),
    _story(
        "zombie",
        "1c: expired sessions; ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID",
        "A process freezes and comes back",
        "A long pause of the garbage collector: the group goes on, and the process wakes with partitions of others.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + 90_000: Resume("c3")},
        {"simulated.freeze": "process"},
    ),
    _story(
        "static",
        "1c: avoid rebalances; KIP-345",
        "A static member restarts within its session",
        "With group.instance.id nothing is reassigned: its own partitions wait for it, the others go on.",
        {HAPPENS_MS: Restart("c3")},
        group=_group(static=True),
    ),
    _story(
        "rolling",
        "1c: rebalance cost",
        "A rolling restart of all members",
        "Each restart is a leave and a join, and each of those a rebalance.",
        {HAPPENS_MS + 30_000 * at: Restart(name) for at, name in enumerate(NAMES)},
    ),
    _story(
        "partitions",
        "1c: triggers; the partition count grows",
        "The topic gets three more partitions",
        "Who plans learns of new partitions with its next metadata: a client after metadata.max.age.ms at the latest.",
        {HAPPENS_MS: AddPartitions(TOPIC, PARTITIONS + 3)},
        {"metadata.max.age.ms": 30_000},
    ),
    _story(
        "failover",
        "1c: the five steps of a coordinator that fails",
        "The coordinator fails, and one of another broker takes over",
        "Consuming goes on without a coordinator; only joins, leaves and commits wait.",
        {HAPPENS_MS: CoordinatorDown(), HAPPENS_MS + 9_000: CoordinatorUp()},
    ),
    _story(
        "stop-the-world",
        "1c: rebalance cost: all stop",
        "Stop the world for 40 s",
        "One member is in a batch of 44 s as another joins: eager members stop until it polls again.",
        {HAPPENS_MS: Freeze("c3"), HAPPENS_MS + 1_000: Join(_NEW), HAPPENS_MS + 44_000: Resume("c3")},
    ),
)
"""The first is where the lab opens."""
