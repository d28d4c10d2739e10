"""An immutable member of a KIP-848 group (Kafka: ConsumerGroupMember)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from assignors.simulation.consumer.messages import Heartbeat, TopicIdPartition

Held = Mapping[TopicIdPartition, int]
"""The member epoch in which each partition was assigned."""


class MemberState(StrEnum):
    """The progress of a member towards its target (Kafka: MemberState)."""

    STABLE = "STABLE"
    UNREVOKED_PARTITIONS = "UNREVOKED_PARTITIONS"
    UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS"


_NOTHING = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Member:
    """A member as the coordinator knows it.

    `topics`: subscribed names; `listed`: the same in the order of the request. `assigned`: partitions that it may own;
    `pending`: partitions that it must revoke and may still own (Kafka: partitionsPendingRevocation).
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

    def updated(self, request: Heartbeat) -> "Member":
        """The member with the changes in a heartbeat; most have none."""
        is_same = request.client_id == self.client_id and request.instance_id == self.instance_id
        if is_same and (request.rebalance_timeout_ms, request.topics, request.regex, request.assignor) == _NOTHING:
            return self
        given: dict[str, Any] = {
            "instance_id": request.instance_id,
            "client_id": request.client_id,
            "rebalance_timeout_ms": request.rebalance_timeout_ms,
            "topics": None if request.topics is None else frozenset(request.topics),
            "listed": request.topics,
            "regex": request.regex,
            "assignor": request.assignor,
        }
        changes = {name: new for name, new in given.items() if new is not None and new != getattr(self, name)}
        return replace(self, **changes) if changes else self

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has exactly its target of that epoch."""
        return self.state is MemberState.STABLE and self.epoch == target_epoch
