"""One scenario under several protocols, side by side."""

import random
from collections.abc import Iterable, Mapping

from assignors.memory import collector_at_rest
from assignors.model import AssignorError
from assignors.simulation.run import World
from assignors.simulation.settings import Settings
from assignors.simulation.timeline import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol


def play_all(
    scenario: Scenario, settings: Settings, protocols: Iterable[RebalanceProtocol], *, seed: int = 0
) -> Mapping[RebalanceProtocol, Timeline | AssignorError]:
    """The timeline under each protocol, or why the scenario cannot be played there.

    All go on until the last one has come to rest, so that all are looked at for as long.
    """
    with collector_at_rest():
        worlds = {protocol: _rested(scenario, settings, protocol, seed) for protocol in protocols}
        end_ms = max((its.kernel.now_ms for its in worlds.values() if isinstance(its, World)), default=0)
        return {protocol: _until(end_ms, its) for protocol, its in worlds.items()}


def _rested(scenario: Scenario, settings: Settings, protocol: RebalanceProtocol, seed: int) -> World | AssignorError:
    try:
        world = World(scenario, settings, protocol, random.Random(seed))
        world.run(None)
    except AssignorError as error:
        return error
    return world


def _until(end_ms: int, its: World | AssignorError) -> Timeline | AssignorError:
    if isinstance(its, AssignorError):
        return its
    its.run(end_ms)
    return its.timeline()
