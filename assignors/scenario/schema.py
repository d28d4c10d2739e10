"""The shape of a scenario file, schema version 1. What it means is checked in `assignors.scenario.checks`."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from assignors.model import AssignorError, Topic
from assignors.scenario.values import (
    Amounts,
    Capacities,
    Capacity,
    Duration,
    Length,
    PartitionCount,
    PartitionNumber,
    Pattern,
    Prose,
    Setting,
    Text,
    TopicName,
    wrong,
)
from assignors.topic_ids import topic_uuid

MOST_MEMBERS = 10_000
MOST_TOPICS = 10_000
MOST_EVENTS = 1_000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def _topic_id(text: str) -> str:
    try:
        topic_uuid(Topic("", 1, topic_id=text))
    except AssignorError:
        raise wrong("This is no topic id. Give the 22 characters that Kafka prints, or a UUID.") from None
    return text


def absent() -> Any:
    """A key that may be missing, but not null."""
    return Field(default_factory=lambda: None)


class TopicFile(_Strict):
    """A topic. `racks` lists, for each partition, the racks of its replicas; `id` is the topic's UUID."""

    name: TopicName
    partitions: PartitionCount
    racks: Annotated[list[list[Text]], Field(fail_fast=True)] | None = None
    id: Annotated[Text, AfterValidator(_topic_id)] | None = None


class JoinFile(_Strict):
    """A member that joins. `capacity`: how many records a second it can process."""

    id: Text
    topics: list[TopicName] = Field(default_factory=list)
    pattern: Pattern | None = None
    instance_id: Text | None = None
    client_id: Text | None = None
    host: Text | None = None
    rack: Text | None = None
    capacity: Capacity | None = None

    @model_validator(mode="after")
    def _one_subscription(self) -> "JoinFile":
        if self.topics and self.pattern is not None:
            raise wrong(_EITHER)
        return self


_EITHER = "Give topics or a pattern: Kafka's consumer takes the one or the other (IllegalStateException)."


class MemberFile(JoinFile):
    """A member that is there from the beginning, and what it owns, as of which generation."""

    owned: dict[TopicName, Annotated[list[PartitionNumber], Field(fail_fast=True)]] = Field(default_factory=dict)
    generation: Annotated[int, Field(ge=0, lt=2**31)] | None = None


class SubscribeFile(_Strict):
    """A member subscribes to these topics, or to those that match the pattern, and to no other."""

    id: Text
    topics: list[TopicName] = absent()
    pattern: Pattern = absent()

    @model_validator(mode="after")
    def _one_subscription(self) -> "SubscribeFile":
        if len(self.model_fields_set & {"topics", "pattern"}) != 1:
            raise wrong(_EITHER)
        return self


class GcPauseFile(_Strict):
    """A member's process stands still for so long."""

    id: Text
    lasts: Length


class SlowFile(_Strict):
    """A member takes so long from one poll to the next."""

    id: Text
    processing: Length


class RackFile(_Strict):
    """A member moves to a rack; null: to an unknown one."""

    id: Text
    rack: Text | None


def _nothing(value: object) -> object:
    if value is not None and value is not True:
        raise wrong("This event says nothing more. Write true.")
    return True


Bare = Annotated[Literal[True], BeforeValidator(_nothing)]


class EventFile(_Strict):
    """When something happens, and the one thing that does."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 2, "maxProperties": 2})

    at: Duration
    join: JoinFile = absent()
    leave: Text = absent()
    crash: Text = absent()
    freeze: Text = absent()
    resume: Text = absent()
    gc_pause: GcPauseFile = absent()
    slow: SlowFile = absent()
    split: Text = absent()
    heal: Text = absent()
    restart: Text = absent()
    subscribe: SubscribeFile = absent()
    rack: RackFile = absent()
    add_partitions: Annotated[dict[TopicName, PartitionCount], Field(min_length=1)] = absent()
    create_topic: TopicFile = absent()
    delete_topic: TopicName = absent()
    use_assignor: Text = absent()
    coordinator_down: Bare = absent()
    coordinator_up: Bare = absent()

    @model_validator(mode="after")
    def _one_action(self) -> "EventFile":
        named = sorted(self.model_fields_set - {"at"})
        if len(named) != 1:
            told = " and ".join(named) if named else "nothing"
            raise wrong(f"An event is one thing that happens; this one says {told}. Write one of {', '.join(ACTIONS)}.")
        return self

    @property
    def action(self) -> str:
        """The key of what happens."""
        return next(iter(self.model_fields_set - {"at"}))


ACTIONS = tuple(name for name in EventFile.model_fields if name != "at")


class ScenarioFile(_Strict):
    """A consumer group, what is known of its load, and what happens to it."""

    model_config = ConfigDict(title="groupscope scenario")

    schema_version: Literal[1]
    name: Prose
    description: Prose = ""
    assignor: Text
    topics: Annotated[list[TopicFile], Field(max_length=MOST_TOPICS)] = Field(default_factory=list)
    members: Annotated[list[MemberFile], Field(max_length=MOST_MEMBERS)] = Field(default_factory=list)
    weights: dict[TopicName, Amounts] = Field(default_factory=dict)
    lag: dict[TopicName, Amounts] = Field(default_factory=dict)
    rates: dict[TopicName, Amounts] = Field(default_factory=dict)
    capacity: Capacities | None = None
    events: Annotated[list[EventFile], Field(max_length=MOST_EVENTS)] = Field(default_factory=list)
    protocol: dict[Text, Setting] = Field(default_factory=dict)


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ScenarioFile.model_json_schema()}
