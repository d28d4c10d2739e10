"""A member of a KIP-848 group (Kafka: ConsumerGroupMember). It never changes; `dataclasses.replace` makes the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from assignors.simulation.consumer.messages import Heartbeat, TopicIdPartition

Held = Mapping[TopicIdPartition, int]
"""Partitions, each with the member epoch in which it was assigned."""


class MemberState(StrEnum):
    """Where a member is on its way to the target (Kafka: MemberState)."""

    STABLE = "STABLE"
    UNREVOKED_PARTITIONS = "UNREVOKED_PARTITIONS"
    UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS"


_NOTHING = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Member:
    """What the coordinator knows of a member.

    `topics`: subscribed names; `listed`: the same in the order in which they were said. `assigned`: what it may own;
    `pending`: what it has been told to revoke and may still own.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    rebalance_timeout_ms: int = -1
    topics: frozenset[str] = frozenset()
    listed: tuple[str, ...] = field(default=(), compare=False)
    regex: str = ""
    assignor: str | None = None
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Held = field(default_factory=dict)
    pending: Held = field(default_factory=dict)

    def told(self, request: Heartbeat) -> "Member":
        """With all that a heartbeat says anew; most say nothing."""
        who = request.client_id == self.client_id and request.instance_id == self.instance_id
        if who and (request.rebalance_timeout_ms, request.topics, request.regex, request.assignor) == _NOTHING:
            return self
        said: dict[str, Any] = {
            "instance_id": request.instance_id,
            "client_id": request.client_id,
            "rebalance_timeout_ms": request.rebalance_timeout_ms,
            "topics": None if request.topics is None else frozenset(request.topics),
            "listed": request.topics,
            "regex": request.regex,
            "assignor": request.assignor,
        }
        changes = {name: new for name, new in said.items() if new is not None and new != getattr(self, name)}
        return replace(self, **changes) if changes else self

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has all that the target of that epoch gives it, and nothing else."""
        return self.state is MemberState.STABLE and self.epoch == target_epoch
