"""From a checked file to the scenario that everyone else works with."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat

from assignors.model import Member, Topic, TopicPartition
from assignors.patterns import resolved
from assignors.scenario.event_checks import in_order
from assignors.scenario.schema import EventFile, JoinFile, MemberFile, ScenarioFile, TopicFile
from assignors.scenario.values import Amounts
from assignors.whatif.events import (
    Action,
    AddPartitions,
    ChangeRack,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    DeleteTopic,
    Event,
    Freeze,
    GcPause,
    Heal,
    Join,
    Leave,
    Loads,
    Restart,
    Resume,
    Scenario,
    Slow,
    Split,
    Subscribe,
    UseAssignor,
)


def build(file: ScenarioFile) -> Scenario:
    """The scenario. A load given for a whole topic holds for all partitions that it ever has."""
    topics = {topic.name: _topic(topic) for topic in file.topics}
    events = tuple(Event(event.at, action) for event in in_order(file.events) for action in _actions(event, file))
    return Scenario(
        name=file.name,
        assignor=file.assignor,
        topics=topics,
        members=tuple(resolved(_member(member), topics) for member in file.members),
        events=events,
        loads=_loads(file, most_partitions(topics.values(), events)),
        protocol=dict(file.protocol),
        description=file.description,
    )


def _topic(file: TopicFile) -> Topic:
    racks = None if file.racks is None else tuple(map(tuple, file.racks))
    return Topic(file.name, file.partitions, racks, file.id)


def _member(file: JoinFile) -> Member:
    owned: tuple[TopicPartition, ...] = ()
    generation = None
    if isinstance(file, MemberFile):
        owned = tuple(TopicPartition(topic, number) for topic, numbers in file.owned.items() for number in numbers)
        generation = file.generation
    return Member(
        member_id=file.id,
        instance_id=file.instance_id,
        client_id=file.client_id or "",
        host=file.host or "",
        rack=file.rack,
        topics=tuple(file.topics),
        owned=owned,
        generation=generation,
        pattern=file.pattern,
    )


def _actions(event: EventFile, file: ScenarioFile) -> Iterator[Action]:
    match event.action:
        case "join":
            capacities = file.capacity if isinstance(file.capacity, dict) else {}
            yield Join(_member(event.join), event.join.capacity or capacities.get(event.join.id))
        case "subscribe":
            yield Subscribe(event.subscribe.id, tuple(event.subscribe.topics or ()), event.subscribe.pattern)
        case "gc_pause":
            yield GcPause(event.gc_pause.id, event.gc_pause.lasts)
        case "slow":
            yield Slow(event.slow.id, event.slow.processing)
        case "rack":
            yield ChangeRack(event.rack.id, event.rack.rack)
        case "add_partitions":
            yield from (AddPartitions(topic, count) for topic, count in event.add_partitions.items())
        case "create_topic":
            yield CreateTopic(_topic(event.create_topic))
        case name if name in BARE:
            yield BARE[name]()
        case name:
            yield NAMED[name](getattr(event, name))


BARE: dict[str, type[CoordinatorDown | CoordinatorUp]] = {
    "coordinator_down": CoordinatorDown,
    "coordinator_up": CoordinatorUp,
}
NAMED: dict[str, type[Leave | Crash | Freeze | Resume | Split | Heal | Restart | DeleteTopic | UseAssignor]] = {
    "leave": Leave,
    "crash": Crash,
    "freeze": Freeze,
    "resume": Resume,
    "split": Split,
    "heal": Heal,
    "restart": Restart,
    "delete_topic": DeleteTopic,
    "use_assignor": UseAssignor,
}


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


def most_partitions(topics: Iterable[Topic], events: Iterable[Event]) -> dict[str, int]:
    """How many partitions each topic ever has."""
    most = {topic.name: topic.partitions for topic in topics}
    for action in (event.action for event in events):
        if isinstance(action, AddPartitions):
            most[action.topic] = max(action.partitions, most.get(action.topic, 0))
        elif isinstance(action, CreateTopic):
            most[action.topic.name] = max(action.topic.partitions, most.get(action.topic.name, 0))
    return most
