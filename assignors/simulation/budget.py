"""How large a simulation may be. What exceeds a limit is refused before it starts."""

from assignors.model import AssignorError
from assignors.simulation.settings import Settings
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

MOST_MEMBERS = 2_000
"""Members that are in the group at the start or join later."""
MOST_PARTITIONS = 20_000
"""Partitions of all topics, each with the most that it ever has."""
MOST_DAYS = 7
"""Simulated days until the last event."""
MOST_HEARTBEATS = 500_000
"""Heartbeats of all members until the last event; each takes about three events of the kernel."""
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
    if last_ms > MOST_DAYS * _DAY_MS:
        raise AssignorError(
            f"The last event is after {last_ms / _DAY_MS:,.1f} days. A simulation lasts at most {MOST_DAYS} days."
        )
    _limit(members * last_ms // interval_ms, MOST_HEARTBEATS, "heartbeats until the last event")


def _limit(count: int, most: int, what: str) -> None:
    if count > most:
        raise AssignorError(f"The scenario has {count:,} {what}. A simulation has at most {most:,}.")
