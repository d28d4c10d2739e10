"""Who is in the group and which topics there are, from event to event of a scenario."""

from collections.abc import Iterator
from dataclasses import replace

from assignors.model import Member, Topic
from assignors.whatif.events import AddPartitions, Crash, CreateTopic, DeleteTopic, Join, Leave, Scenario, Subscribe


def course(scenario: Scenario) -> Iterator[tuple[dict[str, Member], dict[str, Topic]]]:
    """Members by id and topics by name, at the start and after each event; the same two dicts, as they change."""
    members, topics = {member.member_id: member for member in scenario.members}, dict(scenario.topics)
    yield members, topics
    for event in scenario.events:
        match event.action:
            case Join(member=member):
                members[member.member_id] = member
            case Leave(member_id=name) | Crash(member_id=name):
                members.pop(name, None)
            case Subscribe(member_id=name, topics=wanted, pattern=pattern) if name in members:
                members[name] = replace(members[name], topics=wanted, pattern=pattern)
            case AddPartitions(topic=name, partitions=size) if name in topics:
                topics[name] = replace(topics[name], partitions=size, racks=None)
            case CreateTopic(topic=topic):
                topics[topic.name] = topic
            case DeleteTopic(topic=name):
                topics.pop(name, None)
        yield members, topics
