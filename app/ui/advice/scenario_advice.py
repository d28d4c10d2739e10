"""Configuration advice on a scenario: its settings, members and events."""

from collections.abc import Iterator

from assignors.advice import Finding, Workload, advise_broker, advise_client, advise_group
from assignors.advice.config_table import CONSUMER, COORDINATOR
from assignors.model import Member
from assignors.patterns import resolved
from assignors.simulation.settings import read
from assignors.whatif.events import AddPartitions, Restart, Scenario, Slow

_STRATEGY, _INSTANCE = "partition.assignment.strategy", "group.instance.id"
_STRATEGIES = {
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
    "roundrobin": "RoundRobinAssignor",
}


def for_scenario(scenario: Scenario) -> list[Finding]:
    """Findings about the scenario's consumer and broker settings. Raises SettingsError."""
    settings = {name: str(value) for name, value in scenario.protocol.items()}
    broker = {name: value for name, value in settings.items() if name in COORDINATOR}
    client = {name: value for name, value in settings.items() if name in CONSUMER}
    strategy = _STRATEGIES.get(scenario.assignor, "RangeAssignor")
    is_static = any(member.instance_id is not None for member in scenario.members_ever())
    client |= {"group.id": "scenario", _STRATEGY: strategy} | ({_INSTANCE: "its-own"} if is_static else {})
    workload = _workload(scenario)
    members, partitions = max(_sizes(scenario), key=lambda size: len(size[0]) - size[1], default=([], 0))
    own = {member.member_id: {_INSTANCE: member.instance_id} if member.instance_id else {} for member in members}
    return [*advise_client(client, workload, broker), *advise_broker(broker, workload), *advise_group(own, partitions)]


def _workload(scenario: Scenario) -> Workload:
    """What the scenario says about the workload of its consumers."""
    assumed, actions = read(scenario.protocol).assumed, [event.action for event in scenario.events]
    members = scenario.members_ever()
    static = {member.member_id for member in members if member.instance_id is not None}
    restarts = any(isinstance(action, Restart) and action.member_id in static for action in actions)
    by_pattern = any(member.pattern is not None for member in members)
    return Workload(
        batch_ms=max([assumed.processing_ms, *(its.processing_ms for its in actions if isinstance(its, Slow))]),
        restart_ms=assumed.restart_ms if restarts else None,
        gc_pause_ms=max((its.pause_ms for its in actions), default=0) or None,
        grows=by_pattern or any(isinstance(action, AddPartitions) for action in actions),
        members=len(scenario.members),
    )


def _sizes(scenario: Scenario) -> Iterator[tuple[list[Member], int]]:
    """The members and the number of partitions they read, at the start and after each event; only with partitions."""
    for its in scenario.memberships():
        wanted = {name for member in its.members.values() for name in resolved(member, its.topics).topics}
        partitions = sum(topic.partitions for name, topic in its.topics.items() if name in wanted)
        if partitions:
            yield list(its.members.values()), partitions
