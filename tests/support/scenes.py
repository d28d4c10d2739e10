"""Small scenarios in few words."""

from typing import Any

from assignors.model import Member, Topic, TopicPartition
from assignors.whatif.events import Action, Event, Join, Scenario
from assignors.whatif.generations import Generation


def member(name: str, topics: str = "t", owned: str = "", generation: int | None = None, **more: Any) -> Member:
    pairs = (part.rsplit("-", 1) for part in owned.split())
    held = tuple(TopicPartition(topic, int(number)) for topic, number in pairs)
    return Member(name, topics=tuple(topics.split()), owned=held, generation=generation, **more)


def scenario(
    assignor: str, members: str | tuple[Member, ...], *actions: Action, topics: str = "t:6", every_ms: int = 600_000
) -> Scenario:
    """Events `every_ms` apart; ten minutes, so that each has its effect before the next one."""
    sizes = dict(part.split(":") for part in topics.split())
    there = tuple(map(member, members.split())) if isinstance(members, str) else members
    events = tuple(Event(every_ms * at, action) for at, action in enumerate(actions, 1))
    return Scenario("s", assignor, {name: Topic(name, int(size)) for name, size in sizes.items()}, there, events)


def plans(generations: list[Generation]) -> list[dict[str, str]]:
    return [{who: " ".join(map(str, held)) for who, held in made.after.by_member.items()} for made in generations]


def join(name: str, topics: str = "t", **more: Any) -> Join:
    return Join(member(name, topics, **more))
