"""The KIP-848 group coordinator of Kafka 4.3.1, as a state machine on the kernel's clock.

`messages` has the requests and replies, `coordinator` answers them, `records` is what survives a failover.
"""

from assignors.simulation.consumer.coordinator import ConsumerCoordinator
from assignors.simulation.consumer.group import ConsumerGroup, GroupState
from assignors.simulation.consumer.members import Member, MemberState
from assignors.simulation.consumer.messages import TopicIdPartition
from assignors.simulation.consumer.records import InstantLog
from assignors.simulation.consumer.settings import Settings
from assignors.simulation.consumer.topics import Topics, topic_id

__all__ = [
    "ConsumerCoordinator",
    "ConsumerGroup",
    "GroupState",
    "InstantLog",
    "Member",
    "MemberState",
    "Settings",
    "TopicIdPartition",
    "Topics",
    "topic_id",
]
