"""The events of a file in order of time: each must find the members and topics that it is about.

Only what the file itself says counts: which member a coordinator has removed by then is the simulation's business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from assignors.scenario.collected import Findings
from assignors.scenario.problems import Path, nearest, shown
from assignors.scenario.schema import EventFile, JoinFile, ScenarioFile
from assignors.scenario.shared_checks import check_assignor, check_racks
from assignors.scenario.values import duration_text

_DEPARTURES = {"leave": "left", "crash": "crashed"}
_RETURNS = {"resume": "frozen. Let it freeze first", "heal": "split off. Split it off first"}


@dataclass(slots=True)
class World:
    """What exists between two events.

    `members` are those that are there, with their instance ids; `gone` says how and when the others went;
    `first_seen` when each joins. `still` says until when a process stands still. `partitions` are those of today's
    topics, `most` what each topic ever has.
    """

    members: dict[str, str | None]
    partitions: dict[str, int]
    most: dict[str, int]
    first_seen: dict[str, str]
    gone: dict[str, str] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)
    split: set[str] = field(default_factory=set)
    still: dict[str, int] = field(default_factory=dict)
    now_ms: int = 0
    coordinator_up: bool = True

    @classmethod
    def begin(cls, file: ScenarioFile) -> Self:
        """Before the first event; `first_seen` already knows of those who will join."""
        partitions = {topic.name: topic.partitions for topic in file.topics}
        joins = {event.join.id: duration_text(event.at) for event in reversed(in_order(file.events)) if event.join}
        members = {member.id: member.instance_id for member in file.members}
        return cls(members, partitions, dict(partitions), joins | dict.fromkeys(members, "0s"))


def in_order(events: Sequence[EventFile]) -> list[EventFile]:
    """By time; those of one moment stay in the order of the file."""
    return sorted(events, key=lambda event: event.at)


def run(events: Sequence[EventFile], world: World, found: Findings) -> None:
    """Let everything happen; what cannot is an error."""
    for number in sorted(range(len(events)), key=lambda number: events[number].at):
        event = events[number]
        _happen(event, world, ("events", number, event.action), found)


def _happen(event: EventFile, world: World, path: Path, found: Findings) -> None:
    world.now_ms = event.at
    match event.action:
        case "join":
            _join(event.join, world, path, found)
        case "leave" | "crash" | "freeze" | "resume" | "split" | "heal" | "restart":
            _to_member(event, world, path, found)
        case "gc_pause":
            if _present(event.gc_pause.id, world, (*path, "id"), found):
                world.still[event.gc_pause.id] = event.at + event.gc_pause.lasts
        case "subscribe" | "rack" | "slow":
            _present(getattr(event, event.action).id, world, (*path, "id"), found)
        case "add_partitions":
            for topic, count in event.add_partitions.items():
                _grow(topic, count, world, (*path, topic), found)
        case "create_topic" | "delete_topic":
            _to_topic(event, world, path, found)
        case "use_assignor":
            check_assignor(event.use_assignor, path, found)
        case "coordinator_down" | "coordinator_up":
            _coordinator(event.action == "coordinator_up", world, path, found)


def _join(member: JoinFile, world: World, path: Path, found: Findings) -> None:
    if member.id in world.members:
        found.error((*path, "id"), f"{shown(member.id)!r} is in the group already.")
    elif member.instance_id is not None and member.instance_id in world.members.values():
        told = "is the instance id of a member that is in the group. Let that one leave or crash first."
        found.error((*path, "instance_id"), f"{shown(member.instance_id)!r} {told}")
    world.members[member.id] = member.instance_id
    world.gone.pop(member.id, None)


def _to_member(event: EventFile, world: World, path: Path, found: Findings) -> None:
    member: str = getattr(event, event.action)
    if event.action in _RETURNS:
        _return(event.action, member, world, path, found)
    elif not _present(member, world, path, found):
        return
    elif event.action == "freeze":
        world.frozen.add(member)
    elif event.action == "split":
        world.split.add(member)
    elif event.action in _DEPARTURES:
        del world.members[member]
        world.gone[member] = f"has {_DEPARTURES[event.action]} at {duration_text(event.at)}"


def _return(action: str, member: str, world: World, path: Path, found: Findings) -> None:
    absent = world.frozen if action == "resume" else world.split
    if member in absent:
        absent.remove(member)
    elif _present(member, world, path, found):
        found.error(path, f"{shown(member)!r} is not {_RETURNS[action]}, or leave this event out.")


def _present(member: str, world: World, path: Path, found: Findings) -> bool:
    """Whether the member can do something: who is frozen or split off is out of the group until it is back."""
    until_ms = world.still.get(member, 0)
    if member in world.frozen:
        found.error(path, f"{shown(member)!r} is frozen. Let it resume first.")
    elif member in world.split:
        found.error(path, f"{shown(member)!r} is split off. Let it heal first.")
    elif until_ms > world.now_ms:
        found.error(path, f"{shown(member)!r} stands still until {duration_text(until_ms)}. Let it happen then.")
    elif member in world.gone:
        found.error(path, f"{shown(member)!r} {world.gone[member]}. Let it join again first.")
    elif member not in world.first_seen:
        found.error(path, f"No member is named {shown(member)!r}.{nearest(member, world.first_seen)}")
    elif member not in world.members:
        found.error(path, f"{shown(member)!r} joins only at {world.first_seen[member]}.")
    away = member in world.frozen or member in world.split or until_ms > world.now_ms
    return member in world.members and not away


def _to_topic(event: EventFile, world: World, path: Path, found: Findings) -> None:
    if event.action == "delete_topic":
        if _exists(event.delete_topic, world.partitions, path, found):
            del world.partitions[event.delete_topic]
        return
    topic = event.create_topic
    check_racks(topic, path, found)
    if topic.name in world.partitions:
        found.error((*path, "name"), f"The topic {topic.name} exists already.")
    _set(topic.name, topic.partitions, world)


def _grow(topic: str, count: int, world: World, path: Path, found: Findings) -> None:
    if not _exists(topic, world.partitions, path, found):
        return
    if count <= (now := world.partitions[topic]):
        told = f"{topic} has {now:,} partitions already, and Kafka never takes any away. Write the new total."
        found.error(path, told)
    _set(topic, count, world)


def _set(topic: str, count: int, world: World) -> None:
    world.partitions[topic] = count
    world.most[topic] = max(count, world.most.get(topic, 0))


def _exists(topic: str, partitions: Mapping[str, int], path: Path, found: Findings) -> bool:
    if topic not in partitions:
        found.error(path, f"There is no topic {shown(topic)!r} at this time.{nearest(topic, partitions)}")
    return topic in partitions


def _coordinator(up: bool, world: World, path: Path, found: Findings) -> None:
    if up == world.coordinator_up:
        found.error(path, f"The coordinator is {'up' if up else 'down'} already.")
    world.coordinator_up = up
