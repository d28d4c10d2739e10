"""The KIP-848 group coordinator of Kafka 4.3.1, as a state machine on the kernel's clock.

`messages` has the requests and replies, `coordinator` answers them, `records` has what survives a failover. Requests
identify partitions by topic id: `Topics` translates, and `ConsumerCoordinator.see` announces changes of the topics.

>>> from assignors.model import Topic
>>> from assignors.simulation.consumer.messages import Heartbeat
>>> from assignors.simulation.kernel import Kernel
>>> topics = Topics.of([Topic("orders", 2)])
>>> coordinator = ConsumerCoordinator(Kernel(), lambda: "m1", InstantLog(), topics)
>>> replies = []
>>> join = Heartbeat("m0", 0, rebalance_timeout_ms=300_000, topics=("orders",), owned=frozenset())
>>> coordinator.handle(join, replies.append)
>>> replies[0].epoch, [str(tp) for tp in sorted(topics.named(replies[0].assignment))]
(2, ['orders-0', 'orders-1'])
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
