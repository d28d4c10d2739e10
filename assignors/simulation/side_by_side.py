"""One scenario under several protocols."""

import random
from collections.abc import Iterable, Mapping

from assignors.memory import collector_at_rest
from assignors.model import AssignorError
from assignors.simulation.run import Simulation
from assignors.simulation.settings import Settings
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol


def simulate_all(
    scenario: Scenario,
    settings: Settings,
    protocols: Iterable[RebalanceProtocol],
    *,
    seed: int = 0,
    most_messages: int | None = None,
) -> Mapping[RebalanceProtocol, Timeline | AssignorError]:
    """The timeline under each protocol, or why the scenario cannot be simulated under it.

    All continue until the last group has settled, so all timelines have the same length. Raises MessageLimitError as
    soon as one of them has more than `most_messages`.
    """
    with collector_at_rest():
        simulations = {protocol: _settled(scenario, settings, protocol, seed, most_messages) for protocol in protocols}
        end_ms = max(
            (found.kernel.now_ms for found in simulations.values() if isinstance(found, Simulation)), default=0
        )
        return {protocol: _until(end_ms, found) for protocol, found in simulations.items()}


def _settled(
    scenario: Scenario, settings: Settings, protocol: RebalanceProtocol, seed: int, most_messages: int | None
) -> Simulation | AssignorError:
    try:
        simulation = Simulation(scenario, settings, protocol, random.Random(seed), most_messages)
        simulation.run(None)
    except AssignorError as error:
        return error
    return simulation


def _until(end_ms: int, found: Simulation | AssignorError) -> Timeline | AssignorError:
    if isinstance(found, AssignorError):
        return found
    found.run(end_ms)
    return found.timeline()
