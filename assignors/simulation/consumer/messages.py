"""What members ask of the coordinator of a KIP-848 group, and what it answers.

Commits are those of classic groups; their `generation` is the member's epoch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from assignors.simulation.classic.messages import Commit, CommitReply
from assignors.simulation.errors import KafkaError

JOINING = 0
"""The epoch of a member that joins, for the first time or again."""

LEAVING = -1
"""The epoch of a member that leaves for good."""

LEAVING_FOR_A_WHILE = -2
"""The epoch of a static member that will be back: its partitions wait for it until its session ends."""


class TopicIdPartition(NamedTuple):
    """A partition by its topic's id (22 characters, as Kafka prints it): a topic made anew is another topic."""

    topic_id: str
    partition: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """ConsumerGroupHeartbeat. None: not said, as nothing has changed since the last one.

    `owned`: what the member owns now; a member that joins owns nothing and says so. `regex`: RE2 syntax, "" for none.
    Version 1 brings its own member id; to version 0, "" asks the coordinator for one.
    """

    member_id: str
    epoch: int
    instance_id: str | None = None
    rebalance_timeout_ms: int | None = None
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: frozenset[TopicIdPartition] | None = None
    client_id: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """`assignment`: all that the member shall own now, None when that has not changed.

    After `interval_ms` the next heartbeat is due. An error comes alone.
    """

    error: KafkaError
    member_id: str = ""
    epoch: int = 0
    interval_ms: int = 0
    assignment: frozenset[TopicIdPartition] | None = None


Request = Heartbeat | Commit
Reply = HeartbeatReply | CommitReply
Answer = Callable[[Reply], None]


def refusal(request: Request, error: KafkaError) -> Reply:
    """The reply of that request's kind with nothing but an error."""
    return HeartbeatReply(error) if isinstance(request, Heartbeat) else CommitReply(error)
