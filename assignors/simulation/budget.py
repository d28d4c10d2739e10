"""How large a simulation may be, and how it may start. What exceeds a limit is refused before it starts."""

from collections.abc import Iterable

from assignors.model import AssignorError, Member, TopicPartition
from assignors.simulation.settings import Settings
from assignors.spelling import shown
from assignors.whatif.events import Scenario, Subscribe
from assignors.whatif.rebalance_protocol import RebalanceProtocol

MOST_MEMBERS = 2_000
"""Members that are in the group at the start or join later."""
MOST_PARTITIONS = 20_000
"""Partitions of all topics, each with the most that it ever has."""
MOST_DAYS = 7
"""Simulated days until the last event."""
MOST_HEARTBEATS = 500_000
"""Heartbeats of all members until the last event; each takes about three events of the kernel."""
MOST_SUBSCRIPTIONS = 500_000
"""Topics in the subscriptions of all members and events; a pattern is matched against every topic."""
MOST_REBALANCES = 1_000
REBALANCES_PER_MEMBER = 4
"""Rebalances after one event, and more for each member: a group that has not settled by then never does."""
PARTITIONS_PER_EVENT = 5
"""A rebalance counts as one event of the kernel for this number of partitions and subscribed topics."""
_DAY_MS = 86_400_000


class MessageLimitError(Exception):
    """A simulation has sent more messages than its caller has room for, and was stopped."""


def check_budget(scenario: Scenario, settings: Settings, protocol: RebalanceProtocol) -> None:
    """Raises AssignorError, which names the limit, when the scenario is too large to simulate."""
    members = len(scenario.members_ever())
    last_ms = max((event.at_ms for event in scenario.events), default=0)
    is_consumer = protocol is RebalanceProtocol.CONSUMER
    interval_ms = (settings.kip848 if is_consumer else settings.client).heartbeat_interval_ms
    _limit(members, MOST_MEMBERS, "members")
    _limit(sum(scenario.partitions_ever().values()), MOST_PARTITIONS, "partitions")
    _limit(_subscriptions(scenario), MOST_SUBSCRIPTIONS, "subscriptions to topics")
    if last_ms > MOST_DAYS * _DAY_MS:
        raise AssignorError(
            f"The last event is after {last_ms / _DAY_MS:,.1f} days. A simulation lasts at most {MOST_DAYS} days."
        )
    _limit(members * last_ms // interval_ms, MOST_HEARTBEATS, "heartbeats until the last event")


def outdated_owners(members: Iterable[Member]) -> set[str]:
    """Members that own a partition which another one owns as of a later generation: the group has removed them."""
    latest: dict[TopicPartition, int] = {}
    claims = [(tp, _generation(member), member.member_id) for member in members for tp in member.owned]
    for tp, generation, _ in claims:
        latest[tp] = max(generation, latest.get(tp, generation))
    return {member_id for tp, generation, member_id in claims if generation < latest[tp]}


def _generation(member: Member) -> int:
    return -1 if member.generation is None else member.generation


def check_owners(members: Iterable[Member]) -> None:
    """Raises AssignorError when a partition has two owners, which Kafka's coordinator refuses (KIP-848).

    (`ConsumerGroup.addPartitionEpochs`: IllegalStateException.) Under the classic protocol a leader may assign a
    partition to two members, and nobody notices.
    """
    owners: dict[TopicPartition, str] = {}
    for member in members:
        for tp in member.owned:
            if (other := owners.setdefault(tp, member.member_id)) != member.member_id:
                both = f"{shown(other)!r} and {shown(member.member_id)!r}"
                raise AssignorError(
                    f"{tp.topic} {tp.partition} is owned by {both} at the start. Under the consumer protocol a "
                    "partition has one owner. Leave it to one, or give the other an earlier generation."
                )


def _subscriptions(scenario: Scenario) -> int:
    changes = [event.action for event in scenario.events if isinstance(event.action, Subscribe)]
    every: list[Member | Subscribe] = [*scenario.members_ever(), *changes]
    topics = len(scenario.partitions_ever())
    return sum(len(one.topics) if one.pattern is None else topics for one in every)


def _limit(count: int, most: int, what: str) -> None:
    if count > most:
        raise AssignorError(f"The scenario has {count:,} {what}. A simulation has at most {most:,}.")
