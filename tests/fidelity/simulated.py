"""A story played by simulated consumers, from where the real ones stood as it began."""

import random
from collections.abc import Iterator
from dataclasses import replace

from assignors.simulation.run import Simulation
from assignors.simulation.settings import Settings, read
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from lag.embedded.java import find_java
from tests.fidelity.performance import Beginning, Performance, by_member, rebalances
from tests.fidelity.stories import ASSIGNORS, BROKER, CLIENT, Story

NO_COORDINATOR = "no coordinator"


class Measured(random.Random):
    """What is chance in a simulation, as it was in reality: how long until each member's next heartbeat."""

    def __init__(self, beats_ms: Iterator[int]) -> None:
        super().__init__(0)
        self._beats_ms = beats_ms

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Until the next heartbeat of the next member."""
        return next(self._beats_ms)


class RealIds(Simulation):
    """A world in which members get the ids that Kafka gave them, on which plans depend."""

    def __init__(
        self, beginning: Beginning, scenario: Scenario, settings: Settings, protocol: RebalanceProtocol
    ) -> None:
        self._names = {member.member_id: member.client_id for member in beginning.members}
        chooses = protocol is RebalanceProtocol.CONSUMER  # a client chooses an id as it is made
        self._ids = {
            name: iter(ids if chooses or name not in self._names.values() else ids[1:])
            for name, ids in beginning.ids.items()
        }
        super().__init__(scenario, settings, protocol, Measured(iter(beginning.beats_ms)))

    def _new_id(self, prefix: str) -> str:
        return next(self._ids[self._names.get(prefix, prefix)])


def simulate(story: Story, protocol: RebalanceProtocol, beginning: Beginning) -> Performance:
    """How the simulator has it."""
    scenario = Scenario(
        story.name,
        ASSIGNORS[protocol],
        {beginning.topic.name: beginning.topic},
        beginning.members,
        beginning.events,
    )
    world = RealIds(beginning, scenario, settings(story, beginning), protocol)
    world.run(beginning.end_ms)
    return performance(world.timeline(), beginning, protocol)


def settings(story: Story, beginning: Beginning) -> Settings:
    """Those of the real consumers and their broker."""
    measured = {"simulated.restart.ms": beginning.restart_ms, "simulated.load.ms": 0}
    aligned = {"simulated.heartbeat.spread.ms": 0}  # a rebalance a minute ago: real heartbeats have not drifted apart
    read_in = read({**BROKER, **CLIENT, **story.settings, **measured, **aligned})
    return replace(read_in, kip848=replace(read_in.kip848, jdk=find_java().version))


def performance(timeline: Timeline, beginning: Beginning, protocol: RebalanceProtocol) -> Performance:
    """The same under the members' names in the story."""
    names = {member.member_id: member.client_id for member in beginning.members}
    return Performance(
        {
            plan.generation: {names.get(member, member): sorted(part) for member, part in plan.by_member.items()}
            for plan in timeline.plans
        },
        rebalances(span for span in timeline.group if span.state != NO_COORDINATOR),
        by_member((replace(call, member=names.get(call.member, call.member)) for call in timeline.callbacks), protocol),
    )
