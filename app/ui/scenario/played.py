"""A story played under one rebalance protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.model import AssignorError
from assignors.simulation.settings import read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.timeline.summary import Summary, summarize
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

NAMES = {
    RebalanceProtocol.EAGER: "eager",
    RebalanceProtocol.COOPERATIVE: "cooperative",
    RebalanceProtocol.CONSUMER: "KIP-848",
}
"""The display names of the protocols."""


@dataclass(frozen=True, slots=True)
class Played:
    """A story under one protocol."""

    protocol: RebalanceProtocol
    timeline: Timeline
    summary: Summary


def play(
    scenario: Scenario, seed: int, protocols: Sequence[RebalanceProtocol]
) -> Mapping[RebalanceProtocol, Played | str]:
    """The story under each protocol, or why it cannot be simulated there."""
    found = simulate_all(scenario, read(scenario.protocol), protocols, seed=seed)
    return {
        protocol: str(result) if isinstance(result, AssignorError) else Played(protocol, result, summarize(result))
        for protocol, result in found.items()
    }
