"""From a checked file to the scenario."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import repeat

from assignors.model import Member, TopicPartition
from assignors.patterns import resolved
from assignors.scenario.event_schema import in_order, with_capacity
from assignors.scenario.schema import ScenarioFile
from assignors.scenario.values import Amounts
from assignors.whatif.events import Action, Event, Join, Loads, Scenario, Subscribe


def build(file: ScenarioFile) -> Scenario:
    """The scenario. A load given for a whole topic holds for all partitions that it ever has."""
    topics = {topic.name: topic.topic() for topic in file.topics}
    capacities = file.capacity if isinstance(file.capacity, dict) else {}
    scenario = Scenario(
        name=file.name,
        assignor=file.assignor,
        topics=topics,
        members=tuple(resolved(_once(member.member()), topics) for member in file.members),
        events=tuple(
            Event(event.at_ms, with_capacity(_as_set(event.action), capacities)) for _, event in in_order(file.events)
        ),
        protocol=dict(file.protocol),
        description=file.description,
    )
    return replace(scenario, loads=_loads(file, scenario.partitions_ever()))


def _as_set(action: Action) -> Action:
    """A subscription is a set: KafkaConsumer.subscribe(Collection) puts the topics into one."""
    match action:
        case Join():
            return replace(action, member=_once(action.member))
        case Subscribe():
            return replace(action, topics=tuple(dict.fromkeys(action.topics)))
    return action


def _once(member: Member) -> Member:
    return replace(member, topics=tuple(dict.fromkeys(member.topics)))


def _loads(file: ScenarioFile, most: Mapping[str, int]) -> Loads:
    by_id = file.capacity if isinstance(file.capacity, dict) else {}
    own = {member.id: member.capacity or by_id.get(member.id) for member in file.members}
    return Loads(
        weights=_amounts(file.weights, most),
        lag_records=_amounts(file.lag, most),
        produced_per_s=_amounts(file.rates, most),
        capacity_per_s={member: capacity for member, capacity in own.items() if capacity is not None},
        default_capacity_per_s=None if isinstance(file.capacity, dict) else file.capacity,
    )


def _amounts(section: Mapping[str, Amounts], most: Mapping[str, int]) -> dict[TopicPartition, float]:
    return {
        TopicPartition(topic, partition): amount
        for topic, given in section.items()
        for partition, amount in _pairs(given, most[topic])
        if amount is not None
    }


def _pairs(given: Amounts, count: int) -> Iterable[tuple[int, float | None]]:
    if isinstance(given, dict):
        return given.items()
    return enumerate(given) if isinstance(given, list) else zip(range(count), repeat(given), strict=False)
