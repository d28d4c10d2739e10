"""A story played under one rebalance protocol."""

from dataclasses import dataclass

from assignors.simulation.timeline.summary import Summary
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.rebalance_protocol import RebalanceProtocol

NAMES = {
    RebalanceProtocol.EAGER: "eager",
    RebalanceProtocol.COOPERATIVE: "cooperative",
    RebalanceProtocol.CONSUMER: "KIP-848",
}
"""What people call the protocols."""


@dataclass(frozen=True, slots=True)
class Played:
    """A story under one protocol."""

    protocol: RebalanceProtocol
    timeline: Timeline
    summary: Summary
