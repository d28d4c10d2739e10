"""Checks beyond the schema: names exist, numbers are in range, nothing is listed twice."""

from collections.abc import Collection, Iterable, Mapping

from assignors.counts import plural
from assignors.scenario.event_schema import in_order
from assignors.scenario.problems import Path
from assignors.scenario.schema import LOADS, ScenarioFile
from assignors.scenario.values import MOST_PARTITIONS
from assignors.spelling import shown, suggestion
from assignors.whatif.events.scenario import Event, Scenario, first_join_ms
from assignors.whatif.events.subscribe import doubtful_subscriptions
from assignors.whatif.events.topics import check_racks
from assignors.whatif.events.use_assignor import check_assignor
from assignors.whatif.membership import Membership, Remarks


def errors(file: ScenarioFile) -> Remarks:
    """What makes no sense, with the paths in the file."""
    yield from _below(("assignor",), check_assignor(file.assignor))
    yield from _check_topics(file)
    yield from _check_members(file, {topic.name: topic.partitions for topic in file.topics})
    events = list(in_order(file.events))
    members, topics = (member.member() for member in file.members), (topic.topic() for topic in file.topics)
    membership = Membership.at_start(members, topics, first_join_ms(event for _, event in events))
    yield from _check_events(events, membership)
    yield from _check_total(file, membership.partitions_ever)
    yield from _check_loads(file, membership.partitions_ever)
    yield from _check_capacity(file, membership.member_ids_ever())


def warnings(file: ScenarioFile, scenario: Scenario) -> Remarks:
    """What Kafka allows but may not be intended; the file has no errors."""
    yield from _check_claims(file)
    yield from _check_instances(file)
    *_, membership = scenario.memberships()
    for number, member in enumerate(file.members):
        doubtful = doubtful_subscriptions(member.topics, member.pattern, membership.partitions_ever)
        yield from _below(("members", number), doubtful)
    for path, event in in_order(file.events):
        yield from _below(path, event.action.warn(membership))


def _below(path: Path, remarks: Remarks) -> Remarks:
    return (((*path, *below), sentence) for below, sentence in remarks)


def _check_events(events: Iterable[tuple[Path, Event]], membership: Membership) -> Remarks:
    """Each event must find the members and topics that it concerns.

    Only the file itself counts: which member a coordinator has removed by then is the simulation's business.
    """
    for path, event in events:
        membership.now_ms = event.at_ms
        yield from _below(path, event.action.check(membership))
        event.action.change(membership)


def _check_topics(file: ScenarioFile) -> Remarks:
    yield from _check_once([topic.name for topic in file.topics], "topics", "name")
    yield from _check_once([topic.id for topic in file.topics], "topics", "id")
    for number, topic in enumerate(file.topics):
        yield from _below(("topics", number), check_racks(topic.topic()))


def _check_once(values: Iterable[str | None], section: str, key: str) -> Remarks:
    first: dict[str, int] = {}
    for number, value in enumerate(values):
        if value is not None and first.setdefault(value, number) != number:
            yield (section, number, key), f"{shown(value)!r} is already {section}[{first[value]}]."


def _check_total(file: ScenarioFile, most: Mapping[str, int]) -> Remarks:
    if (total := sum(most.values())) > MOST_PARTITIONS:
        where = "topics" if sum(topic.partitions for topic in file.topics) > MOST_PARTITIONS else "events"
        yield (where,), f"The topics have {total:,} partitions. A scenario has at most {MOST_PARTITIONS:,}."


def _check_members(file: ScenarioFile, partitions: Mapping[str, int]) -> Remarks:
    yield from _check_once([member.id for member in file.members], "members", "id")
    for number, member in enumerate(file.members):
        for topic, owned in member.owned.items():
            yield from _check_partitions(owned, ("members", number, "owned", topic), topic, partitions)


def _check_partitions(numbers: Iterable[int], path: Path, topic: str, partitions: Mapping[str, int]) -> Remarks:
    """The topic must exist with these partitions, and each is listed once."""
    if topic not in partitions:
        yield path, f"No topic is named {shown(topic)!r}.{suggestion(topic, partitions)}"
        return
    seen: set[int] = set()
    for position, partition in enumerate(numbers):
        if partition >= partitions[topic]:
            yield (*path, position), _out_of_range(topic, partition, partitions[topic])
        if partition in seen:
            yield (*path, position), f"Partition {partition} is listed twice. Keep one."
        seen.add(partition)


def _out_of_range(topic: str, partition: int, count: int) -> str:
    return f"{topic} has no partition {partition:,}: it has {count:,}, numbered from 0."


def _check_instances(file: ScenarioFile) -> Remarks:
    """Kafka has an answer for two members with one instance id: one of them is not in the group."""
    first: dict[str, str] = {}
    for number, member in enumerate(file.members):
        if member.instance_id is not None and first.setdefault(member.instance_id, member.id) != member.id:
            other, shared = shown(first[member.instance_id]), shown(member.instance_id)
            sentence = (
                f"{other!r} has the instance id {shared!r} too. Under the classic protocol the later one takes its "
                "place, and under KIP-848 it is refused."
            )
            yield ("members", number, "instance_id"), sentence


def _check_claims(file: ScenarioFile) -> Remarks:
    """Kafka handles partitions with two owners, as after a missed rebalance."""
    claims: dict[tuple[str, int], str] = {}
    for number, member in enumerate(file.members):
        for topic, owned in member.owned.items():
            for position, partition in enumerate(owned):
                other = claims.setdefault((topic, partition), member.id)
                if other != member.id:
                    path = ("members", number, "owned", topic, position)
                    yield path, f"{shown(other)!r} owns {topic} {partition} as well."


def _check_loads(file: ScenarioFile, most: Mapping[str, int]) -> Remarks:
    """Loads may refer to partitions that are created later."""
    for section in LOADS:
        for topic, amounts in getattr(file, section).items():
            path = (section, topic)
            if topic not in most:
                yield path, f"No topic is named {shown(topic)!r}.{suggestion(topic, most)}"
            elif isinstance(amounts, list) and len(amounts) > most[topic]:
                yield path, f"There are {len(amounts):,} numbers, but {topic} has {plural(most[topic], 'partition')}."
            elif isinstance(amounts, dict):
                for partition in filter(most[topic].__le__, amounts):
                    yield (*path, partition), _out_of_range(topic, partition, most[topic])


def _check_capacity(file: ScenarioFile, ever: Collection[str]) -> Remarks:
    if not isinstance(file.capacity, dict):
        return
    own = {member.id for member in file.members if member.capacity is not None}
    for member in file.capacity:
        if member not in ever:
            yield ("capacity", member), f"No member is named {shown(member)!r}.{suggestion(member, ever)}"
        elif member in own:
            yield ("capacity", member), f"{shown(member)!r} already has a capacity. Keep one."
