"""Events in a scenario file: the registry of their keys, and how each is read and written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from assignors.durations import duration_text
from assignors.scenario.group_schema import (
    EITHER,
    JoinFile,
    StrictModel,
    TopicFile,
    written_member,
    written_topic,
)
from assignors.scenario.values import Duration, Length, PartitionCount, Pattern, Text, TopicName, wrong
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
    MemberAction,
    Restart,
    Resume,
    Slow,
    Split,
    Subscribe,
    UseAssignor,
)
from assignors.whatif.membership import KeyPath


def absent() -> Any:
    """A key that may be missing, but not null."""
    return Field(default_factory=lambda: None)


class SubscribeFile(StrictModel):
    """A member subscribes to these topics, or to those that match the pattern, and to no other."""

    id: Text
    topics: Annotated[list[TopicName], Field(fail_fast=True)] = absent()
    pattern: Pattern = absent()

    @model_validator(mode="after")
    def _one_subscription(self) -> "SubscribeFile":
        if len(self.model_fields_set & {"topics", "pattern"}) != 1:
            raise wrong(EITHER)
        return self


class GcPauseFile(StrictModel):
    """A member's process stops for this time."""

    id: Text
    lasts: Length


class SlowFile(StrictModel):
    """A member takes this time from one poll to the next."""

    id: Text
    processing: Length


class RackFile(StrictModel):
    """A member moves to a rack; null: an unknown one."""

    id: Text
    rack: Text | None


def _nothing(value: object) -> object:
    if value is not None and value is not True:
        raise wrong("This event has no value. Write true.")
    return True


Bare = Annotated[Literal[True], BeforeValidator(_nothing)]


@dataclass(frozen=True, slots=True)
class Format:
    """How the value of an event's key is read and written: `read` returns its actions, `write` the value of one."""

    action: type[Action]
    read: Callable[[Any], Iterable[Action]]
    write: Callable[[Any], Any]


def _by_name(action: type[MemberAction | DeleteTopic | UseAssignor]) -> Format:
    """The value is the name of a member, topic or assignor."""
    return Format(action, lambda name: [action(name)], lambda written: written.subject)


def _bare(action: type[Action]) -> Format:
    """The value is `true`."""
    return Format(action, lambda _: [action()], lambda _: True)


_JOIN = Format(
    Join,
    lambda file: [Join(file.member(), file.capacity)],
    lambda join: written_member(join.member, join.capacity_per_s),
)
_GC_PAUSE = Format(
    GcPause,
    lambda file: [GcPause(file.id, file.lasts)],
    lambda pause: {"id": pause.member_id, "lasts": duration_text(pause.lasts_ms)},
)
_SLOW = Format(
    Slow,
    lambda file: [Slow(file.id, file.processing)],
    lambda slow: {"id": slow.member_id, "processing": duration_text(slow.processing_ms)},
)
_SUBSCRIBE = Format(
    Subscribe,
    lambda file: [Subscribe(file.id, tuple(file.topics or ()), file.pattern)],
    lambda subscribe: (
        {"id": subscribe.member_id}
        | ({"topics": list(subscribe.topics)} if subscribe.pattern is None else {"pattern": subscribe.pattern})
    ),
)
_RACK = Format(
    ChangeRack,
    lambda file: [ChangeRack(file.id, file.rack)],
    lambda change: {"id": change.member_id, "rack": change.rack},
)
_ADD_PARTITIONS = Format(
    AddPartitions,
    lambda counts: [AddPartitions(topic, count) for topic, count in counts.items()],
    lambda growth: {growth.topic: growth.partitions},
)
_CREATE_TOPIC = Format(
    CreateTopic, lambda file: [CreateTopic(file.topic())], lambda created: written_topic(created.topic)
)


class EventFile(StrictModel):
    """An event and its time."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 2, "maxProperties": 2})

    at: Duration
    join: Annotated[JoinFile, _JOIN] = absent()
    leave: Annotated[Text, _by_name(Leave)] = absent()
    crash: Annotated[Text, _by_name(Crash)] = absent()
    freeze: Annotated[Text, _by_name(Freeze)] = absent()
    resume: Annotated[Text, _by_name(Resume)] = absent()
    gc_pause: Annotated[GcPauseFile, _GC_PAUSE] = absent()
    slow: Annotated[SlowFile, _SLOW] = absent()
    split: Annotated[Text, _by_name(Split)] = absent()
    heal: Annotated[Text, _by_name(Heal)] = absent()
    restart: Annotated[Text, _by_name(Restart)] = absent()
    subscribe: Annotated[SubscribeFile, _SUBSCRIBE] = absent()
    rack: Annotated[RackFile, _RACK] = absent()
    add_partitions: Annotated[dict[TopicName, PartitionCount], Field(min_length=1), _ADD_PARTITIONS] = absent()
    create_topic: Annotated[TopicFile, _CREATE_TOPIC] = absent()
    delete_topic: Annotated[TopicName, _by_name(DeleteTopic)] = absent()
    use_assignor: Annotated[Text, _by_name(UseAssignor)] = absent()
    coordinator_down: Annotated[Bare, _bare(CoordinatorDown)] = absent()
    coordinator_up: Annotated[Bare, _bare(CoordinatorUp)] = absent()

    @model_validator(mode="after")
    def _one_action(self) -> "EventFile":
        named = sorted(self.model_fields_set - {"at"})
        if len(named) != 1:
            keys = " and ".join(named) if named else "nothing"
            raise wrong(f"An event has one key besides 'at'; this one has {keys}. Write one of {', '.join(FORMATS)}.")
        return self

    @property
    def key(self) -> str:
        return next(iter(self.model_fields_set - {"at"}))

    def actions(self) -> Iterable[Action]:
        """What happens: one action, or one for each topic that grows."""
        return FORMATS[self.key].read(getattr(self, self.key))


FORMATS: Mapping[str, Format] = {
    key: entry for key, field in EventFile.model_fields.items() for entry in field.metadata if isinstance(entry, Format)
}
"""The formats by key. A new kind of event is a field of `EventFile` with its format."""
_KEYS = {entry.action: key for key, entry in FORMATS.items()}


def in_order(events: Sequence[EventFile]) -> Iterator[tuple[KeyPath, Event]]:
    """The events with their paths in the file, by time; those of one moment stay in the order of the file."""
    for number in sorted(range(len(events)), key=lambda number: events[number].at):
        event = events[number]
        for action in event.actions():
            yield ("events", number, event.key), Event(event.at, action)


def written_event(event: Event) -> dict[str, Any]:
    key = _KEYS[type(event.action)]
    return {"at": duration_text(event.at_ms), key: FORMATS[key].write(event.action)}


def with_capacity(action: Action, capacity_per_s: Mapping[str, float]) -> Action:
    """A member that joins without its own capacity gets the one in this mapping."""
    if isinstance(action, Join) and not action.capacity_per_s:
        return replace(action, capacity_per_s=capacity_per_s.get(action.subject))
    return action
