"""The generations of a scenario: by the simulated coordinator where its clock matters, else event by event."""

import random
from collections.abc import Sequence
from dataclasses import replace

from assignors.memory import collector_at_rest
from assignors.model import Assignor, AssignorError
from assignors.registry import BUILT_IN
from assignors.simulation.budget import check_budget
from assignors.simulation.run import Simulation
from assignors.simulation.settings import KNOWN, SettingsError, read
from assignors.simulation.timeline.generations import generations
from assignors.spelling import shown
from assignors.whatif.events import Action, Event, Join, Loads, Scenario, UseAssignor
from assignors.whatif.generations import Generation, in_turn
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of
from assignors.whatif.timing import overlaps, shared_instances

_WHY_SIMULATED = (
    "This one has to be simulated, because an event falls within a timeout or a rebalance of an earlier one: put more "
    "time between its events."
)


def fold(scenario: Scenario, assignor: str | Assignor | None = None) -> list[Generation]:
    """The generations of a scenario; `assignor` (a name, or your own) replaces the scenario's.

    Where every event has had its effect before the next one, as `in_turn` describes it. Where one falls within a
    timeout or a rebalance that an earlier one began, they are those of the simulation with seed 0: a member that
    resumes in time was never out of the group, and one that joins while the session of a crashed member lasts waits for
    its end. Then `at_ms` is the time at which a generation became Stable.

    Carried out in turn in any case: the events of share groups, of assignors that are not Kafka's, and those of a
    scenario whose members change to another assignor after its start. The first assignment of a KIP-848 group is one,
    as if all members had started at once; its epochs count from 1. Raises AssignorError with the event's number, time
    and title when it cannot happen or the assignor fails; also if the scenario has to be simulated, and is too large or
    never settles.
    """
    scenario.check_events()
    chosen = scenario.assignor if assignor is None else assignor
    at_start = [event for event in scenario.events[:1] if event.at_ms == 0 and isinstance(event.action, UseAssignor)]
    later = scenario.events[len(at_start) :]
    name = chosen if isinstance(chosen, str) else chosen.name
    if at_start:
        name = at_start[0].action.subject
    if not _is_simulated(name, later) or not overlaps(replace(scenario, events=later), name):
        _check_instances(scenario, name)
        return in_turn(scenario, chosen)
    made = in_turn(replace(scenario, events=tuple(at_start)), chosen)
    start = replace(scenario, assignor=name, events=later)
    if at_start or any(member.owned for member in scenario.members):
        _check_instances(replace(scenario, events=()), name)
    if at_start or (protocol_of(name) is RebalanceProtocol.CONSUMER and not shared_instances(scenario)):
        start = replace(start, members=made[-1].members, topics=made[-1].topics)
        if not any(member.owned for member in start.members):
            return in_turn(scenario, chosen)  # the simulation cannot continue a group that owns nothing
    found = _simulated(start, 1 + len(at_start))
    if any(member.owned for member in start.members):
        return [*made, *found[1:]]
    return found if start.members else [*made, *found]


def _check_instances(scenario: Scenario, assignor: str) -> None:
    """Raises AssignorError when members share an instance id, and no simulated coordinator decides between them."""
    if protocol_of(assignor) is RebalanceProtocol.SHARE or not (shared := shared_instances(scenario)):
        return
    raise AssignorError(
        f"Several members have the instance id {shown(shared[0])!r}. Which of them is in the group is simulated only "
        "under Kafka's own assignors, without a change of the assignor, and where none owns partitions at the start. "
        "Give each member its own instance id."
    )


def _is_simulated(assignor: str, events: Sequence[Event]) -> bool:
    """Whether all of it can be simulated."""
    changes = any(isinstance(event.action, UseAssignor) for event in events)
    return assignor in BUILT_IN and protocol_of(assignor) is not RebalanceProtocol.SHARE and not changes


def _simulated(scenario: Scenario, first_number: int) -> list[Generation]:
    known = {name: value for name, value in scenario.protocol.items() if name in KNOWN}
    try:
        settings = read(known)
    except SettingsError as error:
        raise AssignorError(f"Settings of the scenario: {error}") from error
    protocol = protocol_of(scenario.assignor)
    try:
        check_budget(scenario, settings, protocol)
    except AssignorError as error:
        raise AssignorError(f"{error} {_WHY_SIMULATED}") from error
    with collector_at_rest():
        simulation = Simulation(scenario, settings, protocol, random.Random(0), words=_sentence, first=first_number)
        simulation.run(None)
        timeline = simulation.timeline()
    if simulation.stopped_by is not None:
        raise AssignorError(f"The group does not settle: {simulation.stopped_by}.")
    return generations(timeline, _loads(scenario))


def _sentence(action: Action) -> str:
    return action.sentence()


def _loads(scenario: Scenario) -> Loads:
    """With the capacities of members that join."""
    joins = [event.action for event in scenario.events if isinstance(event.action, Join)]
    known = {its.subject: its.capacity_per_s for its in joins if its.capacity_per_s is not None}
    return replace(scenario.loads, capacity_per_s={**scenario.loads.capacity_per_s, **known})
