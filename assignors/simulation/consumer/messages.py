"""Requests of the consumer protocol (KIP-848) and their replies.

Commits are those of classic groups; their `generation` is the member's epoch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from assignors.simulation.classic.messages import Commit, CommitReply
from assignors.simulation.errors import KafkaError

JOINING = 0
"""The epoch of a member that joins or rejoins."""

LEAVING = -1
"""The epoch of a member that leaves for good."""

LEAVING_FOR_A_WHILE = -2
"""The epoch of a static member that leaves temporarily: its partitions wait until its session ends."""


class TopicIdPartition(NamedTuple):
    """A partition by topic id (22 characters, as Kafka prints it): a topic that is created again has another id."""

    topic_id: str
    partition: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """ConsumerGroupHeartbeat. None: unchanged since the last one.

    `owned`: the present partitions, empty in a join. `regex`: RE2 syntax, "" = none. Members of version 1 generate
    their member id; in version 0, "" asks the coordinator for one.
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
    """`assignment`: the target of the member, None if it has not changed.

    After `interval_ms` the next heartbeat is due. With an error all other fields are unset.
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
    """A reply to that request with only an error."""
    return HeartbeatReply(error) if isinstance(request, Heartbeat) else CommitReply(error)
