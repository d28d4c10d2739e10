"""The stories that are played by real consumers and by simulated ones, and the settings that both have.

A heartbeat every other second, sessions that end half-way between two of them. What happens first happens between
heartbeats, too: it is not for a few milliseconds to decide which heartbeat brings the news.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.model import Member
from assignors.simulation.settings import Setting
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    Freeze,
    Join,
    Leave,
    Restart,
    Resume,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol

HEARTBEAT_MS = 2_000
HALF_MS = HEARTBEAT_MS // 2
SESSION_MS = 4 * HEARTBEAT_MS + HALF_MS
MAX_POLL_MS = 3 * HEARTBEAT_MS
PARTITIONS = 6
NAMES = ("c1", "c2", "c3")
NEWCOMER = "c4"

ASSIGNORS = {
    RebalanceProtocol.EAGER: "range",
    RebalanceProtocol.COOPERATIVE: "cooperative-sticky",
    RebalanceProtocol.CONSUMER: "uniform",
}
BROKER: Mapping[str, Setting] = {
    "group.min.session.timeout.ms": 1_000,
    "group.consumer.min.session.timeout.ms": SESSION_MS,
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.min.heartbeat.interval.ms": HEARTBEAT_MS,
    "group.consumer.heartbeat.interval.ms": HEARTBEAT_MS,
}
BROKER_ALONE: Mapping[str, Setting] = {"broker.session.timeout.ms": 1_500, "broker.heartbeat.interval.ms": 300}
"""Between brokers: one that was killed may come back soon."""

CLIENT: Mapping[str, Setting] = {
    "session.timeout.ms": SESSION_MS,
    "heartbeat.interval.ms": HEARTBEAT_MS,
    "max.poll.interval.ms": 60_000,
}
PROMPT: Mapping[str, Setting] = {"fetch.max.wait.ms": 100}
"""Requests for metadata and for the coordinator share a connection with fetches, and wait until a fetch is answered."""

OTHER_BROKERS_REMAIN: Mapping[str, Setting] = {"metadata.recovery.strategy": "none"}
"""A client that sees no broker at all starts over (KIP-1102): its leader sees no topics then, and may join for that."""

KIP_848_REFUSES = ("session.timeout.ms", "heartbeat.interval.ms")
"""A client of that protocol has the broker's."""


@dataclass(frozen=True, slots=True)
class Story:
    """What happens to a Stable group of three: each action so many ms after the one before, the
    first in a pause between heartbeats; it is over `rest_ms` later.

    `settings` are the consumers' own, beside CLIENT.
    """

    name: str
    course: tuple[tuple[int, Action], ...]
    rest_ms: int
    settings: Mapping[str, Setting]
    static: bool

    @property
    def topic(self) -> str:
        """Its topic, which may grow in it."""
        return f"topic-{self.name}"

    @property
    def freezes_process(self) -> bool:
        """Whether it is SIGSTOP that freezes."""
        return self.settings.get("simulated.freeze") == "process"

    @property
    def is_for_all(self) -> bool:
        """Whether it begins with what happens to all groups that play it, at once."""
        return self.freezes_process or isinstance(self.actions[0], Crash | AddPartitions | CoordinatorDown)

    @property
    def actions(self) -> tuple[Action, ...]:
        """All that happens."""
        return tuple(action for _, action in self.course)


def _story(
    name: str,
    *course: tuple[int, Action],
    rest_ms: int = 4 * HEARTBEAT_MS,
    settings: Mapping[str, Setting] | None = None,
    static: bool = False,
) -> Story:
    return Story(name, course, rest_ms, settings or {}, static)


STORIES = {
    story.name: story
    for story in (
        _story("join", (0, Join(Member(NEWCOMER, client_id=NEWCOMER, topics=("topic-join",))))),
        _story("leave", (0, Leave("c3"))),
        _story("sigkill", (0, Crash("c3")), rest_ms=SESSION_MS + 4 * HEARTBEAT_MS),
        _story(
            "sigstop",
            (0, Freeze("c3")),
            (SESSION_MS + HALF_MS + 2 * HEARTBEAT_MS, Resume("c3")),
            settings={"simulated.freeze": "process", **PROMPT},
        ),
        _story(
            "slow-loop",
            (0, Freeze("c3")),
            (MAX_POLL_MS + 3 * HEARTBEAT_MS, Resume("c3")),
            settings={"max.poll.interval.ms": MAX_POLL_MS},
        ),
        _story(
            "add-partitions",
            (0, AddPartitions("topic-add-partitions", 9)),
            settings={"metadata.max.age.ms": 200, **PROMPT},
        ),
        _story("static-restart", (0, Restart("c3")), static=True),
        _story(
            "broker-restart",
            (0, CoordinatorDown()),
            (0, CoordinatorUp()),
            (4 * HEARTBEAT_MS, Leave("c3")),
            settings={**OTHER_BROKERS_REMAIN, **PROMPT},
        ),
    )
}
